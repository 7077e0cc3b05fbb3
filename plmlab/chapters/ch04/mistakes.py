"""Wrong answers to the exercises 04.1, 04.2 and 04.3, what an encoder reads and where a decoder looks, under the names
of their mistakes, and what holds of any right one."""

from collections.abc import Callable
from math import inf

import torch
from torch import Tensor

from plmlab.exercises.mistakes import Mistakes, Properties, by_exp, largest_from_zero

# 04.1, a source turned round

Lengths = Callable[[Tensor], Tensor]


def words_of(tokens: Tensor, pad: int) -> Tensor:
    """How many words each text has, [batch]."""
    return (tokens != pad).sum(1)


def turned(tokens: Tensor, lengths: Tensor, kept: int = 0) -> Tensor:
    """Each text with its first ``lengths`` slots turned round, but for the first ``kept`` of them."""
    pairs = zip(tokens, lengths.tolist(), strict=True)
    return torch.stack([torch.cat([row[:kept], row[kept:n].flip(0), row[n:]]) for row, n in pairs])


def with_lengths(lengths: Lengths) -> Callable[[Tensor, int], Tensor]:
    """The exercise's function with so many slots turned round, of the numbers of words."""
    return lambda tokens, pad: turned(tokens, lengths(words_of(tokens, pad)))


def given(make: Callable[[Tensor, int], Tensor]) -> Callable[[Tensor, int], Tensor]:
    """The right answer, and then something made of it and of ``pad``."""
    return lambda tokens, pad: make(turned(tokens, words_of(tokens, pad)), pad)


def filled(tokens: Tensor, pad: int) -> Tensor:
    """0 for padding."""
    return tokens.masked_fill(tokens == pad, 0)


def cropped(tokens: Tensor, pad: int) -> Tensor:
    """No more slots than the longest text has words."""
    return tokens[:, : int(words_of(tokens, pad).max())]


def as_one_row(tokens: Tensor, pad: int) -> Tensor:
    """All words of the batch in one row, turned round, and laid back."""
    return tokens.masked_scatter(tokens != pad, tokens[tokens != pad].flip(0))


def cut_too_late(tokens: Tensor, pad: int) -> Tensor:
    """Whole rows turned round, of which as many slots are taken as there are words."""
    pairs = zip(tokens, words_of(tokens, pad).tolist(), strict=True)
    return torch.stack([torch.cat([row.flip(0)[:n], row[n:]]) for row, n in pairs])


def rolled(tokens: Tensor, pad: int) -> Tensor:
    """Whole rows turned round, and then moved on to the right by as many slots as there is padding."""
    empty = (tokens == pad).sum(1).tolist()
    return torch.stack([row.roll(n) for row, n in zip(tokens.flip(1), empty, strict=True)])


REVERSE: Mistakes = {
    "whole rows are turned round, so that padding comes first; it stays on the right": lambda tokens, pad:
        tokens.flip(1),
    "the texts change places, .flip(0); it is the words in each text that do": lambda tokens, pad: tokens.flip(0),
    "texts and slots are turned round both, and padding too": lambda tokens, pad: tokens.flip((0, 1)),
    "the words of all texts are turned round as one row, so that they go from text to text": as_one_row,
    "nothing is turned round": lambda tokens, pad: tokens.clone(),
    "the words are sorted by their ids; they are turned round, whatever they are": lambda tokens, pad: torch.where(
        tokens == pad, tokens, tokens.masked_fill(tokens == pad, -1).sort(1, descending=True).values),
    "as many slots are turned round in each text as the longest has, padding with them": with_lengths(
        lambda words: words.max().expand(len(words))),
    "as many slots are turned round in each text as the first has; each has its own length": with_lengths(
        lambda words: words[:1].expand(len(words))),
    "as many slots are turned round in each text as the shortest has; each has its own length": with_lengths(
        lambda words: words.min().expand(len(words))),
    "the last word of each text stays at its end: text[:n] has n words": with_lengths(lambda words: words - 1),
    "the first word of each text stays where it is; all words change places": lambda tokens, pad:
        turned(tokens, words_of(tokens, pad), kept=1),
    "one slot too many is turned round, so that one padding comes first: text[:n] has n words":
        with_lengths(lambda words: words + 1),
    "whole rows are turned round, and then rolled to the wrong side: padding moves to the right if the words move to "
    "the left": rolled,
    "whole rows are turned round before they are cut: cut first, row[:n].flip(0)": cut_too_late,
    "0 is taken for padding; `pad` says what padding is": lambda tokens, pad: turned(tokens, words_of(tokens, 0)),
    "the rows are filled up with 0; `pad` says what padding is": given(filled),
    "slots that are padding in all texts are gone; the shape stays [batch time]": given(cropped),
    "the rows are filled up with 0, and slots that are padding in all texts are gone": given(
        lambda tokens, pad: filled(cropped(tokens, pad), pad)),
    "the answer lies on its side: pad_sequence wants batch_first=True": given(
        lambda tokens, pad: cropped(tokens, pad).T),
    "the answer lies on its side, filled up with 0: pad_sequence wants batch_first=True and padding_value=pad": given(
        lambda tokens, pad: filled(cropped(tokens, pad), pad).T),
}

OF_REVERSED: Properties = {
    "padding does not stand where it stood": lambda out, tokens, pad: torch.equal(out == pad, tokens == pad),
    "a text does not have the words that it had": lambda out, tokens, pad: torch.equal(
        out.sort(1).values, tokens.sort(1).values),
}


# 04.2, a context

Weights = Callable[[Tensor, Tensor], Tensor]
Looking = Callable[[Tensor, Tensor, Tensor], Tensor]


def dot(state: Tensor, memory: Tensor) -> Tensor:
    """sᵀh of each slot, [batch time]."""
    return (state[:, None] * memory).sum(-1)


def hidden(scores: Tensor, real: Tensor) -> Tensor:
    """The scores, −∞ at padding."""
    return scores.masked_fill(~real, -inf)


def over_words(scores: Tensor, real: Tensor) -> Tensor:
    """The softmax over the real slots."""
    return hidden(scores, real).softmax(-1)


def mean(weights: Tensor, memory: Tensor) -> Tensor:
    """The weighted mean of the slots, [batch width]."""
    return (weights[..., None] * memory).sum(1)


def looking(score: Callable[[Tensor, Tensor], Tensor] = dot, weigh: Weights = over_words,
            give: Callable[[Tensor, Tensor], Tensor] = mean) -> Looking:
    """The exercise's function with other scores, other weights of (scores, real), or something else to give of
    (weights, memory)."""
    return lambda state, memory, real: give(weigh(score(state, memory), real), memory)


def padding_emptied(state: Tensor, memory: Tensor, real: Tensor) -> Tensor:
    """Padding is 0 in the memory, and gets the weight of a score of 0."""
    emptied = memory * real[..., None]
    return mean(dot(state, emptied).softmax(-1), emptied)


def slot_alone(scores: Tensor, real: Tensor) -> Tensor:
    """The softmax of each slot by itself: 1 for a word, NaN for padding."""
    return hidden(scores, real)[..., None].softmax(-1)[..., 0]


def with_largest_from_zero(scores: Tensor, real: Tensor) -> Tensor:
    """The softmax by a maximum that starts at 0."""
    return by_exp(hidden(scores, real) - largest_from_zero(hidden(scores, real)))


def from_the_left(scores: Tensor, real: Tensor) -> Tensor:
    """The softmax over as many slots as there are words, counted from the first slot."""
    return over_words(scores, torch.arange(real.shape[1]) < real.sum(1, keepdim=True))


CONTEXT: Mistakes = {
    "the scores are divided by √width, as the Transformer does; here they are not": looking(
        lambda state, memory: dot(state, memory) / state.shape[1] ** 0.5),
    "the score is the mean of the products; an inner product is their sum": looking(
        lambda state, memory: dot(state, memory) / state.shape[1]),
    "the vectors are scaled to the length 1 before the product (a cosine); sᵀh takes them as they are": looking(
        lambda state, memory: torch.cosine_similarity(state[:, None], memory, -1)),
    "the states lie along the slots; state[:, None] gives each text its own": looking(
        lambda state, memory: (state * memory).sum(-1)),
    "the scores of all texts are added up: \"bw, btw -> t\" has lost its b": looking(
        lambda state, memory: dot(state, memory).sum(0, keepdim=True).expand(memory.shape[:2])),
    "the softmax runs over the texts (dim 0), not over the slots": looking(
        weigh=lambda scores, real: hidden(scores, real).softmax(0)),
    "the softmax runs over an axis of size 1, so that each word has the weight 1: it runs over the slots": looking(
        weigh=slot_alone),
    "the softmax is missing: the scores themselves are the weights": looking(
        weigh=lambda scores, real: scores * real),
    "the softmax is missing, and the scores are divided by their sum": looking(
        weigh=lambda scores, real: scores * real / (scores * real).sum(-1, keepdim=True)),
    "padding gets the score 0 before the softmax, which is no small score: it needs −∞": looking(
        weigh=lambda scores, real: (scores * real).softmax(-1)),
    "the memory is set to 0 at padding, but its weight is not; padding needs the score −∞": padding_emptied,
    "the weights are set to 0 at padding after the softmax: the others no longer add up to 1": looking(
        weigh=lambda scores, real: scores.softmax(-1) * real),
    "padding counts: `real` is not used": looking(weigh=lambda scores, real: scores.softmax(-1)),
    "the mask is the wrong way round: masked_fill writes where it is True, so give it ~real": looking(
        weigh=lambda scores, real: over_words(scores, ~real)),
    "True and False are added to the scores as 1 and 0; padding needs −∞": looking(
        weigh=lambda scores, real: (scores + real.float()).softmax(-1)),
    "the first slots of a text are taken for its words; `real` says where they stand": looking(weigh=from_the_left),
    "all words have the same weight: the scores are not used": looking(
        weigh=lambda scores, real: over_words(torch.zeros_like(scores), real)),
    "only the best slot is taken; a context is the weighted mean of all": looking(
        weigh=lambda scores, real: torch.eye(scores.shape[1])[hidden(scores, real).argmax(-1)]),
    "the logarithm of the weights is taken: .softmax, not .log_softmax": looking(
        weigh=lambda scores, real: hidden(scores, real).log_softmax(-1)),
    "exp of a large score is infinite, and of scores far below 0 it is 0: .softmax takes the largest away first":
        looking(weigh=lambda scores, real: by_exp(hidden(scores, real))),
    "a maximum that starts at 0 stays 0 where all scores are negative: start at −∞, or take .softmax":
        looking(weigh=with_largest_from_zero),
    "the sum is divided by the number of slots: the weights add up to 1 already": looking(
        give=lambda weights, memory: mean(weights, memory) / memory.shape[1]),
    "the slots are added up over the texts, not over the slots": looking(
        give=lambda weights, memory: (weights[..., None] * memory).sum(0)),
    "the slots are not added up: this is each slot times its weight": looking(
        give=lambda weights, memory: weights[..., None] * memory),
    "these are the weights; the context is the mean of the memory with them": looking(
        give=lambda weights, memory: weights),
    "an axis of size 1 is left: the context is [batch width]": looking(
        give=lambda weights, memory: mean(weights, memory)[:, None]),
    "the weights are multiplied with the state; the memory is what is looked at": lambda state, memory, real: mean(
        over_words(dot(state, memory), real), state[:, None].expand_as(memory)),
}


def within_the_words(out: Tensor, memory: Tensor, real: Tensor) -> bool:
    """Whether each number of a context lies between the least and the largest of its text's words."""
    low, high = (memory.masked_fill(~real[..., None], far) for far in (inf, -inf))
    return bool(((out >= low.amin(1) - 1e-3) & (out <= high.amax(1) + 1e-3)).all())


OF_A_CONTEXT: Properties = {
    "a number of the context lies below or above that of all words in the text, which no mean does":
        lambda out, state, memory, real: within_the_words(out, memory, real),
}


# 04.3, a score by a small network

Score = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]


def joined(make: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Score:
    """Something made of W s [batch 1 width], U h [batch time width] and v."""
    return lambda state, memory, W, U, v: make((state @ W.T)[:, None], memory @ U.T, v)


def scored(state: Tensor, memory: Tensor, W: Tensor, U: Tensor, v: Tensor) -> Tensor:
    """The exercise's function."""
    return joined(lambda ours, theirs, v: (ours + theirs).tanh() @ v)(state, memory, W, U, v)


def then(make: Callable[[Tensor], Tensor]) -> Score:
    """Something made of the right scores."""
    return lambda *args: make(scored(*args))


def tanh_by_exp(x: Tensor) -> Tensor:
    """tanh as its formula says it: NaN where exp is infinite."""
    return (x.exp() - (-x).exp()) / (x.exp() + (-x).exp())


ADDITIVE: Mistakes = {
    "the tanh is missing: this is vᵀ(W s + U h)": joined(lambda ours, theirs, v: (ours + theirs) @ v),
    "the tanh comes after v; it comes before": joined(lambda ours, theirs, v: ((ours + theirs) @ v).tanh()),
    "the tanh is taken of W s and of U h, each by itself; it is taken of their sum":
        joined(lambda ours, theirs, v: (ours.tanh() + theirs.tanh()) @ v),
    "the tanh is taken of U h only; it is taken of the sum": joined(lambda ours, theirs, v: (ours + theirs.tanh()) @ v),
    "the tanh is taken of W s only; it is taken of the sum": joined(lambda ours, theirs, v: (ours.tanh() + theirs) @ v),
    "the tanh is taken twice, before v and after it": then(torch.tanh),
    "W s and U h are multiplied; they are added": joined(lambda ours, theirs, v: (ours * theirs).tanh() @ v),
    "this is the inner product of W s and U h; they are added, and v makes a number of the tanh":
        joined(lambda ours, theirs, v: (ours * theirs).sum(-1)),
    "U h is taken away from W s; they are added": joined(lambda ours, theirs, v: (ours - theirs).tanh() @ v),
    "the state is left out: W s is missing": joined(lambda ours, theirs, v: theirs.tanh() @ v),
    "the source is left out: U h is missing, so that all slots have the same score":
        joined(lambda ours, theirs, v: ours.expand_as(theirs).tanh() @ v),
    "the vector v is left out: the numbers are added up": joined(
        lambda ours, theirs, v: (ours + theirs).tanh().sum(-1)),
    "the vector v is left out: the mean of the numbers is taken": joined(
        lambda ours, theirs, v: (ours + theirs).tanh().mean(-1)),
    "the vector v stands inside the tanh; the tanh comes first": joined(
        lambda ours, theirs, v: ((ours + theirs) * v).tanh().sum(-1)),
    "the products with v are not added up: vᵀx is an inner product": joined(
        lambda ours, theirs, v: (ours + theirs).tanh() * v),
    "the mean of the products with v is taken: vᵀx is their sum": joined(
        lambda ours, theirs, v: ((ours + theirs).tanh() * v).mean(-1)),
    "a sigmoid stands in the place of tanh": joined(lambda ours, theirs, v: (ours + theirs).sigmoid() @ v),
    "a ReLU stands in the place of tanh": joined(lambda ours, theirs, v: (ours + theirs).relu() @ v),
    "tanh by the formula is ∞/∞ for large numbers; take torch.tanh": joined(
        lambda ours, theirs, v: tanh_by_exp(ours + theirs) @ v),
    "the states lie along the slots; (state @ W.T)[:, None] gives each text its own": lambda state, memory, W, U, v:
        (state @ W.T + memory @ U.T).tanh() @ v,
    "W lies on its side: for rows of a batch, W s is state @ W.T": lambda state, memory, W, U, v:
        scored(state, memory, W.T, U, v),
    "U lies on its side: for rows of a batch, U h is memory @ U.T": lambda state, memory, W, U, v:
        scored(state, memory, W, U.T, v),
    "W and U lie on their sides: for rows of a batch, W s is state @ W.T": lambda state, memory, W, U, v:
        scored(state, memory, W.T, U.T, v),
    "W and U have changed places: W is for the state, U for the source": lambda state, memory, W, U, v:
        scored(state, memory, U, W, v),
    "the softmax is taken already; asked are the scores": then(lambda scores: scores.softmax(-1)),
    "the scores are divided by √width; that belongs to another score": lambda state, memory, W, U, v:
        scored(state, memory, W, U, v) / len(v) ** 0.5,
    "the sign is wrong": then(torch.neg),
    ".squeeze() takes away every axis of size 1, that of one text or of one slot too: .squeeze(-1)":
        then(torch.squeeze),
    "the answer lies on its side: [batch time] is asked": then(lambda scores: scores.T),
}

OF_ADDITIVE: Properties = {
    "a score lies beyond the sum of |v|; no tanh is larger than 1": lambda out, state, memory, W, U, v: bool(
        (out.abs() <= v.abs().sum() + 1e-3).all()),
}
