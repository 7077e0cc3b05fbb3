"""Wrong answers to the exercises 06.4 and 06.5, the order of tokens and the decoder's shift, under the names of their
mistakes, and what holds of any right one."""

import torch
from torch import Tensor

from plmlab.example import IGNORE
from plmlab.exercises.mistakes import Mistakes, Properties

# 06.4, positions

def positions(time: int) -> Tensor:
    """The positions 0 … time − 1 as a column, [time 1]."""
    return torch.arange(time)[:, None]


def angles(time: int, exponent: Tensor) -> Tensor:
    """Position / 10000^exponent for the positions 0 … time − 1, [time exponent]."""
    return positions(time) / 10_000**exponent


def taking_turns(one: Tensor, other: Tensor) -> Tensor:
    """The columns of two tables by turns: the first of one, the first of the other, the second of one …"""
    return torch.stack([one, other], dim=-1).flatten(1)


def waves(angle: Tensor) -> Tensor:
    """Sine and cosine of each angle by turns, [time model]."""
    return taking_turns(angle.sin(), angle.cos())


def even(model: int) -> Tensor:
    """The even numbers below ``model``, the 2i of the formula."""
    return torch.arange(0, model, 2)


POSITIONS: Mistakes = {
    "all sines stand before all cosines; they must take turns: sine, cosine, sine, cosine":
        lambda time, model: torch.cat([(a := angles(time, even(model) / model)).sin(), a.cos()], dim=-1),
    "the exponent is i/d, not 2i/d: the longest waves are too short":
        lambda time, model: waves(angles(time, even(model) / 2 / model)),
    "the cosine comes first; position 0 is 0, 1, 0, 1 …":
        lambda time, model: taking_turns((a := angles(time, even(model) / model)).cos(), a.sin()),
    "each cosine has an exponent of its own, (2i + 1)/d; it shares its sine's, 2i/d":
        lambda time, model: taking_turns(angles(time, even(model) / model).sin(),
                                         angles(time, (even(model) + 1) / model).cos()),
    "2i is doubled: torch.arange(0, d, 2) counts in steps of 2, and its numbers are the 2i already":
        lambda time, model: waves(angles(time, 2 * even(model) / model)),
    "the exponent 2i/d needs brackets: ** binds tighter than /":
        lambda time, model: waves(positions(time) / 10_000 ** even(model) / model),
    "the exponent 2i/d needs brackets of its own: ** binds tighter than /, so it is 10000^2i that is divided by d":
        lambda time, model: waves(positions(time) / (10_000 ** even(model) / model)),
    "the exponent 2i/d needs brackets: 10000 ** 2 * i is 10000², times i":
        lambda time, model: waves(positions(time) / 10_000 ** 2 * (even(model) / 2) / model),
    "the exponent 2i/d needs brackets of its own: 10000 ** 2 * i is 10000², times i":
        lambda time, model: waves(positions(time) / (10_000 ** 2 * (even(model) / 2) / model)),
    "2i/d is multiplied; it is an exponent, and * is not **":
        lambda time, model: waves(positions(time) / 10_000 * (even(model) / model)),
    "10000 is multiplied by 2i/d; that is its exponent, and * is not **":
        lambda time, model: waves(positions(time) / (10_000 * (even(model) / model))),
    "2i // d is 0, so that all waves are alike: // cuts to whole numbers, / divides":
        lambda time, model: waves(angles(time, torch.zeros(model // 2))),
    "the angles are cut to whole numbers: // is not /":
        lambda time, model: waves(angles(time, even(model) / model).floor()),
    "the position is multiplied by 10000^(2i/d); that divides it":
        lambda time, model: waves(positions(time) * 10_000 ** (even(model) / model)),
    "the sine stands in the cosine's place too": lambda time, model:
        taking_turns((a := angles(time, even(model) / model)).sin(), a.sin()),
    "the angles are taken for degrees": lambda time, model: waves(angles(time, even(model) / model).deg2rad()),
    "positions count from 1, not from 0": lambda time, model: waves(angles(time + 1, even(model) / model)[1:]),
}

OF_WAVES: Properties = {
    "a number is not between −1 and 1, as sines and cosines are": lambda out, *_: bool((out.abs() <= 1.0001).all()),
}


# 06.5, the decoder's shift

Rows = list[list[int]]


def filled(rows: Rows, fill: int) -> Tensor:
    """The rows, as long as the longest, with ``fill`` on the right."""
    longest = max(map(len, rows))
    return torch.tensor([row + [fill] * (longest - len(row)) for row in rows])


def filled_before(rows: Rows, fill: int) -> Tensor:
    """The rows, as long as the longest, with ``fill`` on the left."""
    return filled([row[::-1] for row in rows], fill).flip(1)


def with_start(rows: Rows, start: int) -> Rows:
    """The rows, ``start`` before each."""
    return [[start, *row] for row in rows]


def with_end(rows: Rows, end: int) -> Rows:
    """The rows, ``end`` after each."""
    return [[*row, end] for row in rows]


def right(rows: Rows, start: int, end: int, pad: int) -> tuple[Tensor, Tensor]:
    """What is read, and the targets, as the exercise wants them."""
    return filled(with_start(rows, start), pad), filled(with_end(rows, end), IGNORE)


def cut_last(rows: Rows, start: int, end: int, pad: int) -> tuple[Tensor, Tensor]:
    """Start, sentence and end filled up with pad, and only then cut: the last slot off, and the first slot off."""
    whole = filled(with_start(with_end(rows, end), start), pad)
    return whole[:, :-1], whole[:, 1:]


def behind(first: int, table: Tensor) -> Tensor:
    """The rows of a table, each moved by one slot to the right: ``first`` comes in, the last number falls out."""
    return torch.cat([torch.full_like(table[:, :1], first), table[:, :-1]], dim=1)


SHIFT: Mistakes = {
    "the padded row is shifted: a short row then reads its end too. Shift each sentence first, then fill it up":
        lambda rows, start, end, pad: (cut_last(rows, start, end, pad)[0], filled(with_end(rows, end), IGNORE)),
    "the padded row is shifted, so that a short row reads its end, and the targets are filled up with pad":
        cut_last,
    "the padded targets are shifted: a short row then reads its end, and −100, which is no token":
        lambda rows, start, end, pad: (behind(start, filled(with_end(rows, end), IGNORE)),
                                       filled(with_end(rows, end), IGNORE)),
    "the padded row is shifted, and end is missing: the model never learns to stop":
        lambda rows, start, end, pad: (behind(start, filled(rows, pad)), filled(rows, IGNORE)),
    "the padded row is shifted, end is missing, and the targets are filled up with pad":
        lambda rows, start, end, pad: (behind(start, filled(rows, pad)), filled(rows, pad)),
    "the rows have different lengths, and torch.tensor wants a table: fill short ones up first":
        lambda rows, start, end, pad: (torch.tensor(with_start(rows, start)), torch.tensor(with_end(rows, end))),
    "what is read is filled up with −100; that is no token, and pad is":
        lambda rows, start, end, pad: (filled(with_start(rows, start), IGNORE), filled(with_end(rows, end), IGNORE)),
    "pad and −100 have changed places: pad fills up what is read, −100 the targets":
        lambda rows, start, end, pad: (filled(with_start(rows, start), IGNORE), filled(with_end(rows, end), pad)),
    "what is read is filled up with 0, not with `pad`; pad_sequence does so unless told padding_value":
        lambda rows, start, end, pad: right(rows, start, end, 0),
    "both are filled up with 0; pad_sequence does so unless told padding_value":
        lambda rows, start, end, pad: (filled(with_start(rows, start), 0), filled(with_end(rows, end), 0)),
    "the ids of the docstring's example are written in: take `start`, `end` and `pad`":
        lambda rows, start, end, pad: right(rows, 5, 6, 0),
    "time stands before batch: one row a sentence is asked for (pad_sequence needs batch_first=True)":
        lambda *args: (right(*args)[0].T, right(*args)[1].T),
    "the targets come first; give what is read, then the targets": lambda *args: right(*args)[::-1],
    "end is read as well, and so what is read is one longer than the targets":
        lambda rows, start, end, pad: (filled(with_start(with_end(rows, end), start), pad),
                                       filled(with_end(rows, end), IGNORE)),
    "nothing is shifted: each slot reads the very token that it must say, and learns to copy":
        lambda rows, start, end, pad: (filled(with_end(rows, end), pad), filled(with_end(rows, end), IGNORE)),
    "it is shifted the wrong way: each slot reads the next token and must say the one before":
        lambda rows, start, end, pad: (filled(with_end(rows, end), pad), filled(with_start(rows, start), IGNORE)),
    "start is kept in the targets: nobody has to say it, and so nothing is shifted":
        lambda rows, start, end, pad: (filled(with_start(rows, start), pad), filled(with_start(rows, start), IGNORE)),
    "end is missing from the targets: the model never learns to stop":
        lambda rows, start, end, pad: (filled(with_start(rows, start), pad), filled(with_end(rows, IGNORE), IGNORE)),
    "end is missing, and with it the last step: the model never learns to stop":
        lambda rows, start, end, pad: (filled(with_start([r[:-1] for r in rows], start), pad), filled(rows, IGNORE)),
    "end is read as well: nothing comes after it, so nobody needs to read it":
        lambda rows, start, end, pad: (filled(with_start(with_end(rows, end), start), pad),
                                       filled(with_end(with_end(rows, end), IGNORE), IGNORE)),
    "the targets are filled up with pad: the model is trained to say padding":
        lambda rows, start, end, pad: (filled(with_start(rows, start), pad), filled(with_end(rows, end), pad)),
    "end stands behind the padding, not behind the last token":
        lambda rows, start, end, pad: (filled(with_start(rows, start), pad),
                                       torch.tensor(with_end(filled(rows, IGNORE).tolist(), end))),
    "end stands behind the padding, and the padding before it is a target":
        lambda rows, start, end, pad: (filled(with_start(rows, start), pad),
                                       torch.tensor(with_end(filled(rows, pad).tolist(), end))),
    "short rows are filled up on the left":
        lambda rows, start, end, pad: (filled_before(with_start(rows, start), pad),
                                       filled_before(with_end(rows, end), IGNORE)),
}

OF_A_SHIFT: Properties = {
    "a slot that reads padding has something to say":
        lambda out, rows, start, end, pad: bool((out[1][out[0] == pad] == IGNORE).all()),
}
