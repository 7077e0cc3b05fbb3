"""Wrong answers to the exercises 01.1, 01.2 and 01.5, the cells and what they show, under the names of their mistakes,
and what holds of any right one."""

from collections.abc import Callable

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

def lstm(
    order: str = "ifgo", gate: Bound = torch.sigmoid, candidate: Bound = torch.tanh,
    memory: Callable[..., Tensor] = lambda i, f, g, c: f * c + i * g,
    show: Callable[..., Tensor] = lambda o, new, old: o * new.tanh(), plus: float = 0.0,
) -> Callable[..., tuple[Tensor, Tensor]]:
    """The exercise's function with something in it otherwise; ``plus`` is added in the forget gate."""
    def step(x: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        named = dict(zip(order, (x @ W.T + h @ U.T + b).chunk(4, -1), strict=True))
        i, f, o = gate(named["i"]), gate(named["f"] + plus), gate(named["o"])
        new = memory(i, f, candidate(named["g"]), c)
        return show(o, new, c), new
    return step


LSTM: Mistakes = {
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
    recall: Callable[..., Tensor] = lambda r, h, U, b: (r * h) @ U.T + b,
    mix: Callable[..., Tensor] = lambda z, h, n, r: (1 - z) * h + z * n,
) -> Callable[..., Tensor]:
    """The exercise's function with something in it otherwise; ``recall`` is what the candidate sees of the state."""
    def step(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Tensor:
        rows = {name: slice(at * h.shape[1], (at + 1) * h.shape[1]) for at, name in enumerate(order)}
        r, z = (gate(x @ W[rows[name]].T + h @ U[rows[name]].T + b[rows[name]]) for name in "rz")
        n = candidate(x @ W[rows["n"]].T + recall(r, h, U[rows["n"]], b[rows["n"]]))
        return mix(z, h, n, r)
    return step


def gates_without_the_state(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Tensor:
    """The gates read x alone."""
    blind = U.clone()
    blind[:2 * h.shape[1]] = 0
    return gru()(x, h, W, blind, b)


GRU: Mistakes = {
    "the reset gate comes after the matrix, as PyTorch has it; here it is applied to the state, before U":
        gru(recall=lambda r, h, U, b: r * (h @ U.T) + b),
    "the reset gate comes after the matrix and its bias, as PyTorch has it; here it is applied to the state, before U":
        gru(recall=lambda r, h, U, b: r * (h @ U.T + b)),
    "nothing is reset: the candidate sees the whole state": gru(recall=lambda r, h, U, b: h @ U.T + b),
    "the candidate sees 1 − r of the state; r is the share that it sees":
        gru(recall=lambda r, h, U, b: ((1 - r) * h) @ U.T + b),
    "the candidate does not see the state: U (r∘h) is missing": gru(recall=lambda r, h, U, b: b),
    "the shares have changed places: z is that of the candidate, 1 − z that of the old state":
        gru(mix=lambda z, h, n, r: z * h + (1 - z) * n),
    "what the reset gate has left of the state is mixed in; the mixture takes the state itself":
        gru(mix=lambda z, h, n, r: (1 - z) * r * h + z * n),
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
        gru(recall=lambda r, h, U, b: (r @ h) @ U.T + b, mix=lambda z, h, n, r: (1 - z) @ h + z @ n),
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


def pooled(shown: Tensor, lengths: Tensor) -> Tensor:
    """The states of the words added up, [batch hidden]."""
    return (shown * words(shown, lengths)[..., None]).sum(1)


LAST: Mistakes = {
    "the last slot is taken; behind a short text it holds padding": lambda shown, lengths: shown[:, -1],
    "every text is read at the slot where the longest ends; each has a length of its own":
        lambda shown, lengths: shown[:, lengths.max() - 1],
    "it is one slot too far: slots count from 0, so a text of three words has its last in slot 2":
        lambda shown, lengths: shown[torch.arange(len(shown)), lengths],
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
        lambda shown, lengths: shown.flatten(0, 1)[lengths.cumsum(0) - 1],
    "only the first unit is gathered: .gather gives as many units as its index has, so expand that to all of them":
        lambda shown, lengths: shown.gather(1, (lengths - 1)[:, None, None])[:, 0],
    "the time axis is still there, of length 1": lambda shown, lengths:
        shown[torch.arange(len(shown)), lengths - 1][:, None],
    "this is the mean over all slots, padding too; asked is one slot": lambda shown, lengths: shown.mean(1),
    "this is the mean over the words; asked is the state after the last one":
        lambda shown, lengths: pooled(shown, lengths) / lengths[:, None],
    "this is the sum of all slots, padding too, by the number of words; asked is one slot":
        lambda shown, lengths: shown.sum(1) / lengths[:, None],
    "this is the largest number of each unit; asked is the state after the last word":
        lambda shown, lengths: shown.amax(1),
}

OF_LAST_STATES: Properties = {
    "what is given for a text is none of its words' states": lambda out, shown, lengths: bool(
        (((shown - out[:, None]).abs().amax(-1) < 1e-4) & words(shown, lengths)).any(1).all()),
}
