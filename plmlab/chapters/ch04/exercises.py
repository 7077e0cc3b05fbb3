"""Exercises of chapter 04: sequence to sequence and attention, from source reversal to scheduled sampling.
Word alignment, 04.4 and 04.5, is in `exercises_alignment`."""

from math import inf, log

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor, rand, randint, randn

from plmlab.chapters.ch04 import exercises_alignment
from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def reverse_sources(tokens: Int[Tensor, "batch time"], pad: int) -> Int[Tensor, "batch time"]:
    """Turn each text of a batch round: its last word comes first, and its first word last.

    A row of ``tokens`` is a text, filled up on the right with ``pad``, which stands in no text itself.
    The padding stays where it is, and the shape stays [batch time]. With pad 0, the rows [7, 8, 9] and
    [5, 6, 0] become [9, 8, 7] and [6, 5, 0].
    """
    flipped = tokens.flip(1)
    words_first = (flipped == pad).int().argsort(dim=1, stable=True)
    return flipped.gather(1, words_first)


def draw_sources(rng: Generator) -> Probes:
    """Inputs for 04.1: name → (tokens `[batch time]`, the padding id)."""
    def drawn(time: int, pad: int, *lengths: int) -> tuple[Tensor, int]:
        tokens = torch.full((len(lengths), time), pad)
        for row, length in zip(tokens, lengths, strict=True):
            row[:length] = randint(7, 40, (length,), generator=rng)
        return tokens, pad

    zero, pad = drawn(6, 3, 6, 4, 2)
    zero[0, 2], zero[1, 3] = 0, 0
    return {
        "two texts": (torch.tensor([[7, 8, 9], [5, 6, 0]]), 0),
        "four texts of different lengths": drawn(6, 0, 3, 6, 1, 5),
        "as many texts as positions": drawn(4, 0, 4, 2, 3, 4),
        "padding is 3, and 0 is a word": (zero, pad),
        "more positions than any text needs": drawn(7, 1, 4, 2, 5),
        "a text of one word": drawn(1, 0, 1),
    }


def turned(tokens: Int[Tensor, "batch time"], lengths: Int[Tensor, "batch"]) -> Int[Tensor, "batch time"]:
    """Reverse the first ``lengths`` tokens of each text."""
    pairs = zip(tokens, lengths.tolist(), strict=True)
    return torch.stack([torch.cat([row[:n].flip(0), row[n:]]) for row, n in pairs])


def context_of(
    state: Float[Tensor, "batch width"], memory: Float[Tensor, "batch time width"], real: Bool[Tensor, "batch time"],
) -> Float[Tensor, "batch width"]:
    """What one state of the decoder gets by looking at the source: its context.

    memory[i, t] is what the encoder shows at position t of text i, and real[i, t] is True if a word stands
    there; elsewhere is padding, which may hold any numbers and must not count. The score of a position is the
    inner product of the state and the position's vector, sᵀh (Luong et al. 2015, eq. 8: not divided by √width).
    A softmax over the real positions of a text makes weights of the scores. The context is the mean of the
    positions' vectors with these weights. For the state [1, 0] and two real positions [0, 4] and [1.1, 0], the scores
    are 0 and 1.1, the weights 1/4 and 3/4, and the context is [0.82, 1]. Scores in the hundreds must do no harm.
    """
    scores = torch.einsum("bw, btw -> bt", state, memory)
    weights = scores.masked_fill(~real, float("-inf")).softmax(-1)
    return torch.einsum("bt, btw -> bw", weights, memory)


def draw_memories(rng: Generator) -> Probes:
    """Inputs for 04.2: name → (state `[batch width]`, memory `[batch time width]`, word mask `[batch time]`)."""
    def drawn(width: int, time: int, *words: range, scale: float = 1.0) -> tuple[Tensor, Tensor, Tensor]:
        real = torch.tensor([[position in positions for position in range(time)] for positions in words])
        state = scale * randn(len(words), width, generator=rng)
        return state, (1.0 + (~real)[..., None]) * randn(len(words), time, width, generator=rng), real

    state, memory, real = drawn(3, 5, range(5), range(3), range(4))
    return {
        "two positions": (torch.tensor([[1.0, 0.0]]), torch.tensor([[[0.0, 4.0], [log(3), 0.0]]]),
                          torch.tensor([[True, True]])),
        "three texts, padding is not 0": drawn(4, 5, range(5), range(2), range(3)),
        "as many texts as positions and numbers": drawn(4, 4, range(3), range(4), range(1), range(2)),
        "padding before the text": drawn(3, 6, range(2, 6), range(6)),
        "texts of one position": drawn(5, 1, range(1), range(1)),
        "scores in the hundreds": drawn(6, 4, range(4), range(3), range(2), scale=200.0),
        "all scores far below 0": (8 + state.abs(), -8 - memory.abs(), real),
    }


def within_the_words(
    out: Float[Tensor, "batch width"], memory: Float[Tensor, "batch time width"], real: Bool[Tensor, "batch time"],
) -> bool:
    """Whether each component of a context vector lies within the range of that component over the source words."""
    low, high = (memory.masked_fill(~real[..., None], far) for far in (inf, -inf))
    return bool(((out >= low.amin(1) - 1e-3) & (out <= high.amax(1) + 1e-3)).all())


def additive_scores(
    state: Float[Tensor, "batch model"], memory: Float[Tensor, "batch time key"],
    W: Float[Tensor, "width model"], U: Float[Tensor, "width key"], v: Float[Tensor, "width"],
) -> Float[Tensor, "batch time"]:
    """How well a decoder's state s fits each position h of the source: vᵀ tanh(W s + U h) (Bahdanau et al. 2015).

    Row i of ``state`` belongs to the positions memory[i, 0], memory[i, 1], … of its own text. State and position may
    have different widths; W and U bring both to one width, and v makes a single number of that. Asked
    are the scores, before any softmax; there is no padding here. With the width 1 everywhere, W = U = 1
    and v = 2, the state 1 has the scores 2 · tanh(1 + 2) = 1.99 and 2 · tanh(1 − 1) = 0 for positions 2 and −1.
    """
    return torch.tanh((state @ W.T)[:, None] + memory @ U.T) @ v


def draw_states(rng: Generator) -> Probes:
    """Inputs for 04.3: name → (state `[batch model]`, memory `[batch time key]`, W, U, v)."""
    def drawn(batch: int, time: int, model: int, key: int, width: int, scale: float = 1.0) -> tuple[Tensor, ...]:
        shapes = (batch, model), (batch, time, key), (width, model), (width, key), (width,)
        state, memory, *weights = (randn(shape, generator=rng) for shape in shapes)
        return scale * state, scale * memory, *weights

    one = torch.ones(1, 1)
    return {
        "a number each": (one, torch.tensor([[[2.0], [-1.0]]]), one, one, torch.tensor([2.0])),
        "two texts, three positions": drawn(2, 3, 4, 5, 6),
        "all widths equal": drawn(3, 5, 4, 4, 4),
        "as many texts as positions": drawn(4, 4, 3, 2, 5),
        "texts of one position": drawn(3, 1, 2, 4, 3),
        "numbers in the hundreds": drawn(2, 4, 3, 6, 2, scale=100.0),
    }


def scheduled_inputs(
    inputs: Int[Tensor, "batch time"], guesses: Int[Tensor, "batch time"], draws: Float[Tensor, "batch time"],
    epsilon: float, pad: int,
) -> Int[Tensor, "batch time"]:
    """What a decoder reads in training, if some words are its own guesses (scheduled sampling, Bengio et al. 2015).

    A row of ``inputs`` is what it reads when all is right: [START], word 1, word 2, …, then ``pad`` up to the end.
    guesses[i, t] is what the model says in position t of text i, after it has read that position: its guess at the
    word that position t + 1 reads. Give inputs in which each position reads its right word or the guess of the position
    before. draws[i, t] decides for position t: below ε, ``epsilon``, the right word stays, else it is the guess.
    The first position and the padding stay as they are. For inputs [5, 7, 8], guesses [7, 9, 6], draws
    [0.9, 0.2, 0.8] and ε = 0.5, it is [5, 7, 9].
    """
    before = torch.cat([inputs[:, :1], guesses[:, :-1]], 1)
    stays = (draws < epsilon) | (inputs == pad)
    return torch.where(stays, inputs, before)


def draw_guesses(rng: Generator) -> Probes:
    """Inputs for 04.6: name → (inputs, guesses, draws, ε, the padding id)."""
    def drawn(time: int, epsilon: float, pad: int, *lengths: int) -> tuple[Tensor, Tensor, Tensor, float, int]:
        shape = (len(lengths), time)
        inputs, guesses = randint(7, 40, shape, generator=rng), randint(7, 40, shape, generator=rng)
        for row, length in zip(inputs, lengths, strict=True):
            row[length:] = pad
        inputs[:, 0] = 5
        return inputs, guesses, rand(shape, generator=rng), epsilon, pad

    inputs, guesses, draws, _, _ = drawn(4, 0.0, 0, 4, 3)
    draws[0, 2] = 0
    zero = drawn(6, 0.4, 2, 6, 4, 3)
    zero[0][0, 1:4] = 0
    return {
        "one text": (torch.tensor([[5, 7, 8]]), torch.tensor([[7, 9, 6]]), torch.tensor([[0.9, 0.2, 0.8]]), 0.5, 0),
        "four texts of different lengths": drawn(7, 0.3, 0, 5, 7, 2, 6),
        "as many texts as positions": drawn(5, 0.6, 0, 5, 5, 4, 1, 3),
        "padding is 2, and 0 is a word": zero,
        "mostly right words": drawn(8, 0.8, 0, 8, 6, 7),
        "ε = 0, and a draw of 0": (inputs, guesses, draws, 0.0, 0),
        "ε = 1": drawn(4, 1.0, 0, 4, 2),
        "only the first position": drawn(1, 0.2, 0, 1, 1),
    }


EXERCISES = (
    Exercise(
        "04.1", "a source turned round", reverse_sources, draw_sources,
        mistakes={
            "whole rows are turned round, so that padding comes first; it stays on the right":
                edit(".gather(1, words_first)", ""),
            "the texts change places, .flip(0); it is the words in each text that do":
                edit(".flip(1)", ".flip(0)", ".gather(1, words_first)", ""),
            "the words of all texts are turned round as one row, so that they go from text to text":
                edit("flipped.gather(1, words_first)",
                     "tokens.masked_scatter(tokens != pad, tokens[tokens != pad].flip(0))"),
            "as many positions are turned round in each text as the longest has, padding with them":
                edit("return flipped.gather(1, words_first)", "n = int((tokens != pad).sum(1).max())\n"
                     "    return torch.cat([tokens[:, :n].flip(1), tokens[:, n:]], 1)"),
            "whole rows are turned round before they are cut: cut first, row[:n].flip(0)":
                edit("gather(1, words_first)", "where(tokens != pad, tokens)"),
            "the last word of each text stays at its end: text[:n] has n words":
                lambda tokens, pad: turned(tokens, (tokens != pad).sum(1) - 1),
            "one position too many is turned round, so that one padding comes first: text[:n] has n words":
                lambda tokens, pad: turned(tokens, (tokens != pad).sum(1) + 1),
            "0 is taken for padding; `pad` says what padding is":
                lambda tokens, pad: turned(tokens, tokens.count_nonzero(1)),
            "the rows are filled up with 0; `pad` says what padding is":
                edit("1, words_first)", "1, words_first).masked_fill(tokens == pad, 0)"),
            "the answer lies on its side, filled up with 0: pad_sequence wants batch_first=True and padding_value=pad":
                edit("flipped.gather(1, words_first)",
                     "torch.nn.utils.rnn.pad_sequence([row[row != pad].flip(0) for row in tokens])"),
        },
        properties={
            "padding does not stand where it stood": lambda out, tokens, pad: torch.equal(out == pad, tokens == pad),
            "a text does not have the words that it had":
                lambda out, tokens, pad: torch.equal(out.sort(1).values, tokens.sort(1).values),
        },
        hints=(
            "The row [5, 6, 0], with 0 for padding, has two words. What comes out if the whole row is turned round? "
            "What should come out?",
            "Row by row: how many words are there, turn these round, and put the rest of the row behind them. Or for "
            "all rows at once: turn the whole rows round, and then move the padding from the left to the right.",
            "(row != pad).sum() counts the words of a row. .flip(0) turns a row round, .flip(1) all rows of a batch; "
            "row[::-1] works for lists only. torch.cat lays pieces end to end, torch.stack makes a batch of rows. "
            ".argsort(dim=1, stable=True) puts False before True and leaves equal ones as they stood.",
        ),
    ),
    Exercise(
        "04.2", "a context", context_of, draw_memories,
        mistakes={
            "the scores are divided by √width, as the Transformer does; here they are not":
                edit("state, memory)", "state, memory) / state.shape[1] ** 0.5"),
            "the softmax runs over the texts (dim 0), not over the positions": edit("softmax(-1)", "softmax(0)"),
            "the softmax runs over an axis of size 1, so that each word has the weight 1: it runs over the positions":
                edit(".softmax(-1)", "[..., None].softmax(-1)[..., 0]"),
            "padding gets the score 0 before the softmax, which is no small score: it needs −∞":
                edit('scores.masked_fill(~real, float("-inf"))', "(scores * real)"),
            "the memory is set to 0 at padding, but its weight is not; padding needs the score −∞":
                edit("scores = torch", "memory = memory * real[..., None]\n    scores = torch",
                     '.masked_fill(~real, float("-inf"))', ""),
            "the weights are set to 0 at padding after the softmax: the others no longer add up to 1":
                edit('.masked_fill(~real, float("-inf")).softmax(-1)', ".softmax(-1) * real"),
            "padding counts: `real` is not used": edit('.masked_fill(~real, float("-inf"))', ""),
            "the mask is the wrong way round: masked_fill writes where it is True, so give it ~real":
                edit("~real", "real"),
            "exp of a large score is infinite, and of scores far below 0 it is 0: .softmax takes the largest away "
            "first": edit("weights = scores", "seen = scores", ".softmax(-1)", "\n    weights = by_exp(seen)"),
            "a maximum that starts at 0 stays 0 where all scores are negative: start at −∞, or take .softmax":
                edit("weights = scores", "seen = scores", ".softmax(-1)",
                     "\n    weights = by_exp(seen - largest_from_zero(seen))"),
        },
        properties={
            "a number of the context lies below or above that of all words in the text, which no mean does":
                lambda out, state, memory, real: within_the_words(out, memory, real),
        },
        hints=(
            "If a padding position gets the score 0 and the words have scores of −5 and −7, who gets almost all of the "
            "weight? Which score gives the weight 0 for certain?",
            "Scores [batch time], then weights [batch time], then the context [batch width]. The first step sums over "
            "the numbers of a vector, the last one over the positions. Padding is dealt with between scores and "
            "softmax.",
            "state[:, None] is [batch 1 width] and fits to the memory; (a * b).sum(-1) is an inner product, and so "
            "is torch.einsum. .masked_fill(mask, float(\"-inf\")) writes where the mask is True, and ~mask turns True "
            "and False round. weights[..., None] is [batch time 1].",
        ),
    ),
    Exercise(
        "04.3", "a score by a small network", additive_scores, draw_states,
        mistakes={
            "the tanh is missing: this is vᵀ(W s + U h)": edit("torch.tanh", ""),
            "the tanh comes after v; it comes before": edit("tanh(", "tanh((", " @ v", " @ v)"),
            "the tanh is taken of W s and of U h, each by itself; it is taken of their sum":
                edit("torch.tanh((state @ W.T)", "((state @ W.T).tanh()", "memory @ U.T", "(memory @ U.T).tanh()"),
            "this is the inner product of W s and U h; they are added, and v makes a number of the tanh":
                edit("torch.tanh(", "(", "+ memory @ U.T) @ v", "* (memory @ U.T)).sum(-1)"),
            "the vector v is left out: the numbers are added up": edit(" @ v", ".sum(-1)"),
            "a sigmoid stands in the place of tanh": edit("tanh", "sigmoid"),
            "tanh by the formula is ∞/∞ for large numbers; take torch.tanh":
                edit("return torch.tanh", "x = ", " @ v",
                     "\n    return (x.exp() - (-x).exp()) / (x.exp() + (-x).exp()) @ v"),
            "the states lie along the positions; (state @ W.T)[:, None] gives each text its own": edit("[:, None]", ""),
            "W and U lie on their sides: for rows of a batch, W s is state @ W.T": edit("W.T", "W", "U.T", "U"),
            ".squeeze() takes away every axis of size 1, that of one text or of one position too: .squeeze(-1)":
                edit(" @ v", " @ v[:, None]", "return torch", "scores = torch", "v[:, None]",
                     "v[:, None]\n    return scores.squeeze()"),
        },
        properties={
            "a score lies beyond the sum of |v|; no tanh is larger than 1":
                lambda out, state, memory, W, U, v: bool((out.abs() <= v.abs().sum() + 1e-3).all()),
        },
        hints=(
            "W s is one vector for a text, and U h is one for each position of it. What shapes have the two for a "
            "whole "
            "batch, and what must happen before they can be added?",
            "Four steps: bring the states to the common width, bring all positions to it, add the first to each "
            "position of "
            "the second, take tanh and then the inner product of each with v.",
            "For one vector W s is W @ s; for a batch of rows it is state @ W.T. [:, None] puts an axis of size 1 in "
            "the place of the positions. A tensor [batch time width] @ v is [batch time].",
        ),
    ),
    *exercises_alignment.EXERCISES,
    Exercise(
        "04.6", "scheduled sampling", scheduled_inputs, draw_guesses,
        mistakes={
            "a position reads its own guess, which is made after it has read; it reads the guess of the position "
            "before":
                edit("guesses[:, :-1]", "guesses[:, 1:]"),
            "a position reads its own guess, and the first word is replaced too; shift the guesses, and keep the first "
            "position": edit("torch.cat([inputs[:, :1], guesses[:, :-1]], 1)", "guesses"),
            "a guess goes round the end into the first position: .roll(1, 1) does that, and the first position stays":
                edit("torch.cat([inputs[:, :1], guesses[:, :-1]], 1)", "guesses.roll(1, 1)"),
            "guesses go from text to text: .roll(1) without a dim rolls all texts as one row":
                edit("torch.cat([inputs[:, :1], guesses[:, :-1]], 1)", "guesses.roll(1)"),
            "the draws are read the wrong way round: a draw below ε keeps the right word": edit("< eps", ">= eps"),
            "the right word and the guess have changed places in torch.where, so that padding is replaced too":
                edit("inputs, before)", "before, inputs)"),
            "draws are compared with 1 − ε: the right word stays with the chance ε": edit("< eps", "< 1 - eps"),
            "a draw that is just ε keeps the right word, so that with ε = 0 some stay: < is not <=":
                edit("< eps", "<= eps"),
            "padding is replaced by guesses; it stays": edit(" | (inputs == pad)", ""),
            "0 is taken for padding; `pad` says what padding is": edit("== pad", "== 0"),
        },
        properties={
            "the first position does not read what it read":
                lambda out, inputs, *_: torch.equal(out[:, 0], inputs[:, 0]),
            "padding does not stand where it stood":
                lambda out, inputs, guesses, draws, epsilon, pad: bool((out[inputs == pad] == pad).all()),
            "a position reads neither its right word nor the guess of the position before":
                lambda out, inputs, guesses, *_: bool(
                    ((out == inputs)[:, 1:] | (out[:, 1:] == guesses[:, :-1])).all()),
        },
        hints=(
            "Position 0 reads [START] and guesses word 1. Which position reads word 1? What would a position learn if "
            "it read its "
            "own guess, made with the right words before it?",
            "Three tensors [batch time]: the right inputs; the guesses, moved one position to the right; and True "
            "where "
            "the right word stays. It stays for two reasons. What goes into the first position of the moved guesses, "
            "so "
            "that it never matters?",
            "guesses[:, :-1] are all but the last of each row, inputs[:, :1] is the first as a column, and "
            "torch.cat([…, …], 1) lays two of them side by side. torch.where(condition, this, that) takes `this` where "
            "the condition is True. | is \"or\" for tensors; each side of it stands in parentheses.",
        ),
    ),
)
