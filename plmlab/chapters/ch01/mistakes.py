"""Wrong answers to the exercises 01.1, 01.2 and 01.5, the cells and what they show, under the names of their mistakes,
and what holds of any right one."""

from collections.abc import Callable, Iterable
from math import inf

import torch
from torch import Tensor

from plmlab.exercises.mistakes import Mistakes, Properties

Bound = Callable[[Tensor], Tensor]


def softmax(x: Tensor) -> Tensor:
    """A softmax over the units."""
    return x.softmax(-1)


def unbounded(x: Tensor) -> Tensor:
    """The numbers as they are."""
    return x


def one_after_the_other(x: Tensor) -> Tensor:
    """The sigmoid, then the tanh of it."""
    return x.sigmoid().tanh()


# 01.1, a step of an LSTM

def rows(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Tensor:
    """All blocks side by side, [batch rows]."""
    return x @ W.T + h @ U.T + b


def block_by_block(times: Callable[[Tensor, Tensor], Tensor], number: int = 4) -> Callable[..., list[Tensor]]:
    """So many blocks, each made by itself; ``times(x, W)`` is taken for W x."""
    return lambda x, h, W, U, b: [times(x, Wk) + times(h, Uk) + bk for Wk, Uk, bk in zip(
        W.chunk(number), U.chunk(number), b.chunk(number), strict=True)]


def lstm(
    order: str = "ifgo", blocks: Callable[..., Iterable[Tensor]] = lambda *args: rows(*args).chunk(4, -1),
    gate: Bound = torch.sigmoid, candidate: Bound = torch.tanh,
    memory: Callable[..., Tensor] = lambda i, f, g, c: f * c + i * g,
    show: Callable[..., Tensor] = lambda o, new, old: o * new.tanh(), plus: float = 0.0,
) -> Callable[..., tuple[Tensor, Tensor]]:
    """The exercise's function with something in it otherwise; ``plus`` is added in the forget gate."""
    def step(x: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        named = dict(zip(order, blocks(x, h, W, U, b), strict=True))
        i, f, o = gate(named["i"]), gate(named["f"] + plus), gate(named["o"])
        new = memory(i, f, candidate(named["g"]), c)
        return show(o, new, c), new
    return step


LSTM: Mistakes = {
    "W @ x is for a single vector; x holds a text in each row: that is x @ W.T, and .chunk(4, -1) cuts its last axis":
        lstm(blocks=lambda x, h, W, U, b: (W @ x + U @ h + b).chunk(4)),
    "W @ x is for a single vector; x holds a text in each row, and that is x @ W.T":
        lstm(blocks=lambda x, h, W, U, b: (W @ x + U @ h + b).chunk(4, -1)),
    "W @ x is for a single vector; x holds a text in each row: with each block's W, that is x @ W.T":
        lstm(blocks=block_by_block(lambda x, W: W @ x)),
    "W @ x.T has the texts in its columns; the gates, as h and c, have them in their rows: x @ W.T":
        lstm(blocks=lambda x, h, W, U, b: (W @ x.T + U @ h.T + b[:, None]).chunk(4)),
    "the .T is missing: with each block's W, W x of all texts is x @ W.T": lstm(blocks=block_by_block(torch.matmul)),
    "* multiplies number by number; W x is a product of a matrix, and of all texts it is x @ W.T":
        lstm(blocks=lambda x, h, W, U, b: (W * x + U * h + b).chunk(4, -1)),
    ".chunk(4) cuts the first axis, which holds the texts; the blocks lie in the last: .chunk(4, -1)":
        lstm(blocks=lambda *args: rows(*args).chunk(4)),
    "a view to [… 4] takes every fourth number; a block is `hidden` numbers side by side, as .chunk(4, -1) cuts them":
        lstm(blocks=lambda *args: rows(*args).unflatten(-1, (-1, 4)).unbind(-1)),
    "a view to [4 …] cuts across texts; each text's row has four blocks, which .chunk(4, -1) cuts":
        lstm(blocks=lambda *args: rows(*args).reshape(4, -1).unflatten(-1, (len(args[0]), -1))),
    "the blocks are in another order: they are i, f, g, o, and g and o have changed places": lstm("ifog"),
    "the blocks are in another order: they are i, f, g, o, and i and f have changed places": lstm("figo"),
    "the blocks are in another order: they are i, f, g, o, and you read f, i, o, g": lstm("fiog"),
    "the blocks are in another order: they are i, f, g, o, and f and g have changed places": lstm("igfo"),
    "the candidate is bounded by a sigmoid; tanh lets the memory fall as well as rise": lstm(candidate=torch.sigmoid),
    "the candidate gets a sigmoid, and then its tanh; the sigmoid is for the three gates":
        lstm(candidate=one_after_the_other),
    "the candidate is not bounded: its tanh is missing": lstm(candidate=unbounded),
    "the gates are bounded by tanh; a gate lies between 0 and 1": lstm(gate=torch.tanh),
    "the gates' sigmoid is missing": lstm(gate=unbounded),
    "the gates are a softmax, where one opens as others close; each unit has a gate of its own, a sigmoid":
        lstm(gate=softmax),
    "1 is added in the forget gate; some libraries do so, here the bias b says all": lstm(plus=1.0),
    "nothing is forgotten: the forget gate is missing": lstm(memory=lambda i, f, g, c: c + i * g),
    "1 − f of the old memory is kept; f is the share that stays, though it is called the forget gate":
        lstm(memory=lambda i, f, g, c: (1 - f) * c + i * g),
    "the input gate is missing": lstm(memory=lambda i, f, g, c: f * c + g),
    "the old memory is missing: the new one is i∘g alone": lstm(memory=lambda i, f, g, c: i * g),
    "the forget gate is taken for 1 − i; here it has weights of its own":
        lstm(memory=lambda i, f, g, c: (1 - i) * c + i * g),
    "the input gate is taken for 1 − f; here it has weights of its own":
        lstm(memory=lambda i, f, g, c: f * c + (1 - f) * g),
    "the forget gate weakens what comes in too; it is for the old memory alone":
        lstm(memory=lambda i, f, g, c: f * (c + i * g)),
    "@ multiplies matrices; ∘ is number by number, *":
        lstm(memory=lambda i, f, g, c: f @ c + i @ g, show=lambda o, new, old: o @ new.tanh()),
    "the new memory is shown without its tanh": lstm(show=lambda o, new, old: o * new),
    "the memory is shown through a sigmoid; it is its tanh": lstm(show=lambda o, new, old: o * new.sigmoid()),
    "the tanh is of the product, o∘c; it is of the memory alone": lstm(show=lambda o, new, old: (o * new).tanh()),
    "the output gate is missing: the whole memory is shown": lstm(show=lambda o, new, old: new.tanh()),
    "this is the output gate, not the state: it has still to meet the memory": lstm(show=lambda o, new, old: o),
    "the state shows the old memory; it shows the new one": lstm(show=lambda o, new, old: o * old.tanh()),
    "the memory comes first; give (h, c)": lambda *args: lstm()(*args)[::-1],
    "the state before is left out: U h is missing": lambda x, h, c, W, U, b: lstm()(x, 0 * h, c, W, U, b),
    "the input is left out: W x is missing": lambda x, h, c, W, U, b: lstm()(0 * x, h, c, W, U, b),
    "the bias is missing": lambda x, h, c, W, U, b: lstm()(x, h, c, W, U, 0 * b),
    "the bias is added twice": lambda x, h, c, W, U, b: lstm()(x, h, c, W, U, 2 * b),
}

OF_AN_LSTM: Properties = {
    "a number of the state lies beyond −1 and 1: a gate and a tanh cannot make that":
        lambda out, *_: bool((out[0].abs() <= 1 + 1e-4).all()),
    "the memory has grown by more than 1: a gate times a tanh cannot make that":
        lambda out, x, h, c, *_: bool((out[1].abs() <= c.abs() + 1 + 1e-4).all()),
}


# 01.2, a step of a GRU

def gru(
    order: str = "rzn", gate: Bound = torch.sigmoid, candidate: Bound = torch.tanh,
    seen: Callable[..., Tensor] = lambda r, x, h, W, U, b: x @ W.T + (r * h) @ U.T + b,
    mix: Callable[..., Tensor] = lambda z, h, n, r: (1 - z) * h + z * n,
    times: Callable[[Tensor, Tensor], Tensor] = lambda x, W: x @ W.T,
) -> Callable[..., Tensor]:
    """The exercise's function with something in it otherwise; ``seen`` is the candidate before its tanh, of r, x, h and
    its own block, and ``times(x, W)`` is taken for W x in the gates."""
    def step(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Tensor:
        own = dict(zip(order, zip(W.chunk(3), U.chunk(3), b.chunk(3), strict=True), strict=True))
        r, z = (gate(times(x, Wk) + times(h, Uk) + bk) for Wk, Uk, bk in (own["r"], own["z"]))
        return mix(z, h, candidate(seen(r, x, h, *own["n"])), r)
    return step


def recalled(recall: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The exercise's function with ``recall(r, h, U, b)`` for what the candidate sees of the state, its bias in it."""
    return gru(seen=lambda r, x, h, W, U, b: x @ W.T + recall(r, h, U, b))


def kept_by_z(z: Tensor, h: Tensor, n: Tensor, _: Tensor) -> Tensor:
    """The mixture with its shares swapped."""
    return z * h + (1 - z) * n


def gates_without_the_state(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Tensor:
    """The gates read x alone."""
    blind = U.clone()
    blind[:2 * h.shape[1]] = 0
    return gru()(x, h, W, blind, b)


GRU: Mistakes = {
    "W @ x is for a single vector; x holds a text in each row: with each block's W, that is x @ W.T":
        gru(times=lambda x, W: W @ x, seen=lambda r, x, h, W, U, b: W @ x + U @ (r * h) + b),
    "the .T is missing: with each block's W, W x of all texts is x @ W.T":
        gru(times=torch.matmul, seen=lambda r, x, h, W, U, b: x @ W + (r * h) @ U + b),
    "this is PyTorch's GRU, which is another one: there r comes after the matrix, and z is the share of the old state":
        gru(seen=lambda r, x, h, W, U, b: x @ W.T + r * (h @ U.T) + b, mix=kept_by_z),
    "this is PyTorch's GRU, which is another one: there r comes after the matrix and its bias, and z is the share of "
    "the old state": gru(seen=lambda r, x, h, W, U, b: x @ W.T + r * (h @ U.T + b), mix=kept_by_z),
    "the reset gate resets the input, W x; it resets the state, and the input is always read in full":
        gru(seen=lambda r, x, h, W, U, b: r * (x @ W.T) + h @ U.T + b),
    "the reset gate resets the input, W x + b; it resets the state, and the input is always read in full":
        gru(seen=lambda r, x, h, W, U, b: r * (x @ W.T + b) + h @ U.T),
    "the reset gate resets the input, r∘x; it resets the state, and the input is always read in full":
        gru(seen=lambda r, x, h, W, U, b: (r * x) @ W.T + h @ U.T + b),
    "the reset gate resets the input as well as the state; the input is always read in full":
        gru(seen=lambda r, x, h, W, U, b: r * (x @ W.T) + (r * h) @ U.T + b),
    "the reset gate meets all that the candidate is made of, W x + U h + b; it meets the state alone, before U":
        gru(seen=lambda r, x, h, W, U, b: r * (x @ W.T + h @ U.T + b)),
    "the reset gate meets W x + U h; it meets the state alone, before U":
        gru(seen=lambda r, x, h, W, U, b: r * (x @ W.T + h @ U.T) + b),
    "the reset gate meets the candidate; it meets the state that the candidate sees, before U":
        gru(seen=lambda r, x, h, W, U, b: x @ W.T + h @ U.T + b, mix=lambda z, h, n, r: (1 - z) * h + z * r * n),
    "the reset gate comes after the matrix, as PyTorch has it; here it is applied to the state, before U":
        recalled(lambda r, h, U, b: r * (h @ U.T) + b),
    "the reset gate comes after the matrix and its bias, as PyTorch has it; here it is applied to the state, before U":
        recalled(lambda r, h, U, b: r * (h @ U.T + b)),
    "nothing is reset: the candidate sees the whole state": recalled(lambda r, h, U, b: h @ U.T + b),
    "the candidate sees 1 − r of the state; r is the share that it sees":
        recalled(lambda r, h, U, b: ((1 - r) * h) @ U.T + b),
    "the candidate does not see the state: U (r∘h) is missing": recalled(lambda r, h, U, b: b),
    "the shares have changed places: z is that of the candidate, 1 − z that of the old state":
        gru(mix=kept_by_z),
    "what the reset gate has left of the state is mixed in; the mixture takes the state itself":
        gru(mix=lambda z, h, n, r: (1 - z) * r * h + z * n),
    "1 − z needs its brackets: 1 - z * h takes z∘h away from 1": gru(mix=lambda z, h, n, r: 1 - z * h + z * n),
    "the old state is kept whole, and the candidate comes on top": gru(mix=lambda z, h, n, r: h + z * n),
    "the candidate is added whole; its share is z": gru(mix=lambda z, h, n, r: (1 - z) * h + n),
    "this is the candidate; it has still to be mixed with the old state": gru(mix=lambda z, h, n, r: n),
    "the gates have changed places: r, the first block, resets, and z mixes": gru("zrn"),
    "the gates' sigmoid is missing": gru(gate=unbounded),
    "the gates are bounded by tanh; a gate lies between 0 and 1": gru(gate=torch.tanh),
    "the gates are a softmax, where one opens as others close; each unit has a gate of its own, a sigmoid":
        gru(gate=softmax),
    "the candidate is bounded by a sigmoid; tanh lets the state fall as well as rise": gru(candidate=torch.sigmoid),
    "the candidate is not bounded: its tanh is missing": gru(candidate=unbounded),
    "the gates do not see the state: U h is missing there": gates_without_the_state,
    "@ multiplies matrices; ∘ is number by number, *":
        gru(seen=lambda r, x, h, W, U, b: x @ W.T + (r @ h) @ U.T + b, mix=lambda z, h, n, r: (1 - z) @ h + z @ n),
    "the bias is missing": lambda x, h, W, U, b: gru()(x, h, W, U, 0 * b),
    "the bias is added twice": lambda x, h, W, U, b: gru()(x, h, W, U, 2 * b),
}

OF_A_GRU: Properties = {
    "a number is farther from 0 than the old state and than 1: a mixture lies between what it mixes":
        lambda out, x, h, *_: bool((out.abs() <= h.abs().clamp(min=1) + 1e-4).all()),
}


# 01.5, the state after the last word

def words(shown: Tensor, lengths: Tensor) -> Tensor:
    """Whether a slot holds a word, [batch time]."""
    return torch.arange(shown.shape[1]) < lengths[:, None]


def filled(shown: Tensor, lengths: Tensor, value: float) -> Tensor:
    """The states with a number in the place of the padding, [batch time hidden]."""
    return shown.masked_fill(~words(shown, lengths)[..., None], value)


def end_to_end(shown: Tensor, slots: Tensor) -> Tensor:
    """The states at some slots, counted through the whole batch, [batch hidden]."""
    return shown.flatten(0, 1)[slots]


def last_not_zero(shown: Tensor, _: Tensor) -> Tensor:
    """The last state of each text that is not all zeros."""
    return shown[torch.arange(len(shown)), (shown != 0).any(-1).cumsum(1).argmax(1)]


def pooled(shown: Tensor, lengths: Tensor) -> Tensor:
    """The states of the words added up, [batch hidden]."""
    return filled(shown, lengths, 0.0).sum(1)


LAST: Mistakes = {
    "the last slot is taken; behind a short text it holds padding": lambda shown, lengths: shown[:, -1],
    "every text is read at the slot where the longest ends; each has a length of its own":
        lambda shown, lengths: shown[:, lengths.max() - 1],
    "every text is read at the slot where the shortest ends; each has a length of its own":
        lambda shown, lengths: shown[:, lengths.min() - 1],
    "the last state that is not zero is taken; padding need not be zeros, and a state may be: `lengths` says where to "
    "look": last_not_zero,
    "it is one slot too far: slots count from 0, so a text of three words has its last in slot 2":
        lambda shown, lengths: shown[torch.arange(len(shown)), lengths],
    "it is one slot too far where there is padding, and right only where there is none: the last word is in slot "
    "lengths − 1": lambda shown, lengths: shown[torch.arange(len(shown)), lengths.clamp(max=shown.shape[1] - 1)],
    "it is one slot too far, which comes round to the first slot where there is no padding: the last word is in slot "
    "lengths − 1": lambda shown, lengths: shown[torch.arange(len(shown)), lengths % shown.shape[1]],
    "it is one slot too early: slot −1 of a text of one word is its padding":
        lambda shown, lengths: shown[torch.arange(len(shown)), lengths - 2],
    "the first slot is taken": lambda shown, lengths: shown[:, 0],
    "the last text is taken, at all its slots: here the batch comes first, then time": lambda shown, lengths: shown[-1],
    "slots are counted from the end of the padding, not from the start of the text":
        lambda shown, lengths: shown[torch.arange(len(shown)), -lengths],
    "every text is read at every text's slot: shown[:, lengths − 1] is [batch batch hidden]; each text has one slot":
        lambda shown, lengths: shown[:, lengths - 1],
    "texts are picked, not slots: the first axis is the batch, and lengths − 1 belongs to the second":
        lambda shown, lengths: shown[lengths - 1],
    "text and slot have changed places: the first axis is the batch":
        lambda shown, lengths: shown[lengths - 1, torch.arange(len(shown))],
    "texts are counted as if they lay end to end, without padding between them":
        lambda shown, lengths: end_to_end(shown, lengths.cumsum(0) - 1),
    "rows are counted as if they ended with the longest text; each has shown.shape[1] slots": lambda shown, lengths:
        end_to_end(shown, torch.arange(len(shown)) * lengths.max() + lengths - 1),
    "only the first unit is gathered: .gather gives as many units as its index has, so expand that to all of them":
        lambda shown, lengths: shown.gather(1, (lengths - 1)[:, None, None])[:, 0],
    "the time axis is still there, of length 1": lambda shown, lengths:
        shown[torch.arange(len(shown)), lengths - 1][:, None],
    "this is the mean over all slots, padding too; asked is one slot": lambda shown, lengths: shown.mean(1),
    "this is the mean over the words; asked is the state after the last one":
        lambda shown, lengths: pooled(shown, lengths) / lengths[:, None],
    "this is the sum over the words; asked is the state after the last one": pooled,
    "this is the sum of all slots, padding too; asked is one slot": lambda shown, lengths: shown.sum(1),
    "this is the sum of all slots, padding too, by the number of words; asked is one slot":
        lambda shown, lengths: shown.sum(1) / lengths[:, None],
    "this is the largest number of each unit over the words; asked is the state after the last one":
        lambda shown, lengths: filled(shown, lengths, -inf).amax(1),
    "this is the largest number of each unit over the words, or 0; asked is the state after the last one":
        lambda shown, lengths: filled(shown, lengths, 0.0).amax(1),
    "this is the largest number of each unit, padding too; asked is the state after the last word":
        lambda shown, lengths: shown.amax(1),
}

OF_LAST_STATES: Properties = {
    "what is given for a text is none of its words' states": lambda out, shown, lengths: bool(
        (((shown - out[:, None]).abs().amax(-1) < 1e-4) & words(shown, lengths)).any(1).all()),
}
