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
    """Reverse each text of a batch: its last word comes first, and its first word last.

    A row of ``tokens`` is a text, padded on the right with ``pad``, which does not occur in any text. The
    padding stays where it is, and the shape stays [batch time]. With pad 0, the rows [7, 8, 9] and [5, 6, 0]
    become [9, 8, 7] and [6, 5, 0].
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


def attention_context(
    state: Float[Tensor, "batch width"], memory: Float[Tensor, "batch time width"], real: Bool[Tensor, "batch time"],
) -> Float[Tensor, "batch width"]:
    """The context vector of one decoder state: attention over the encoder states.

    memory[i, t] is the encoder state at position t of text i. real[i, t] is True if there is a word at that position;
    elsewhere is padding, which may hold any values and must be ignored. The score of a position is the inner product
    of the decoder state and the encoder state, sᵀh (Luong et al. 2015, eq. 8: not divided by √width). A softmax of
    the scores over the real positions of a text gives the attention weights. The context is the mean of the encoder
    states with these weights. For the state [1, 0] and two real positions [0, 4] and [1.1, 0], the scores are 0 and
    1.1, the weights 1/4 and 3/4, and the context is [0.82, 1]. The result must be correct for scores in the hundreds.
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
        "as many texts as positions and dimensions": drawn(4, 4, range(3), range(4), range(1), range(2)),
        "padding before the text": drawn(3, 6, range(2, 6), range(6)),
        "texts of one position": drawn(5, 1, range(1), range(1)),
        "scores in the hundreds": drawn(6, 4, range(4), range(3), range(2), scale=200.0),
        "large negative scores": (8 + state.abs(), -8 - memory.abs(), real),
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
    """Additive attention scores vᵀ tanh(W s + U h) of decoder state s and source positions h (Bahdanau et al. 2015).

    Row i of ``state`` belongs to the positions memory[i, 0], memory[i, 1], … of its own text. State and positions
    may have different widths; W and U project both to a common width, and v reduces the result to a scalar. Return
    the scores, before any softmax; there is no padding here. With width 1 everywhere, W = U = 1 and v = 2, the state
    1 has the scores 2 · tanh(1 + 2) = 1.99 and 2 · tanh(1 − 1) = 0 for positions 2 and −1.
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
        "all widths 1": (one, torch.tensor([[[2.0], [-1.0]]]), one, one, torch.tensor([2.0])),
        "two texts, three positions": drawn(2, 3, 4, 5, 6),
        "all widths equal": drawn(3, 5, 4, 4, 4),
        "as many texts as positions": drawn(4, 4, 3, 2, 5),
        "texts of one position": drawn(3, 1, 2, 4, 3),
        "values in the hundreds": drawn(2, 4, 3, 6, 2, scale=100.0),
    }


def scheduled_inputs(
    inputs: Int[Tensor, "batch time"], guesses: Int[Tensor, "batch time"], draws: Float[Tensor, "batch time"],
    epsilon: float, pad: int,
) -> Int[Tensor, "batch time"]:
    """Decoder inputs in training with scheduled sampling: some are the model's own predictions (Bengio et al. 2015).

    A row of ``inputs`` is the teacher-forced input: [START], word 1, word 2, …, then ``pad`` up to the end.
    guesses[i, t] is the model's prediction at position t of text i, after reading that position: its prediction of the
    input of position t + 1. Return inputs in which each position has the correct word or the prediction of the previous
    position. draws[i, t] decides for position t: below ε, ``epsilon``, the correct word stays, otherwise it is replaced
    by the prediction. The first position and the padding are unchanged. For inputs [5, 7, 8], guesses [7, 9, 6], draws
    [0.9, 0.2, 0.8] and ε = 0.5, the result is [5, 7, 9].
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
        "mostly correct words": drawn(8, 0.8, 0, 8, 6, 7),
        "ε = 0, and a draw of 0": (inputs, guesses, draws, 0.0, 0),
        "ε = 1": drawn(4, 1.0, 0, 4, 2),
        "only the first position": drawn(1, 0.2, 0, 1, 1),
    }


EXERCISES = (
    Exercise(
        "04.1", "the reversed source", reverse_sources, draw_sources,
        mistakes={
            "whole rows are reversed, so that padding comes first; keep it on the right":
                edit(".gather(1, words_first)", ""),
            "the order of the texts is reversed, .flip(0); reverse the words in each text":
                edit(".flip(1)", ".flip(0)", ".gather(1, words_first)", ""),
            "the words of all texts are reversed as one sequence, so that they move between texts":
                edit("flipped.gather(1, words_first)",
                     "tokens.masked_scatter(tokens != pad, tokens[tokens != pad].flip(0))"),
            "each row is reversed up to the length of the longest text, including padding":
                edit("return flipped.gather(1, words_first)", "n = int((tokens != pad).sum(1).max())\n"
                     "    return torch.cat([tokens[:, :n].flip(1), tokens[:, n:]], 1)"),
            "whole rows are reversed before slicing: slice first, row[:n].flip(0)":
                edit("gather(1, words_first)", "where(tokens != pad, tokens)"),
            "the last word of each text is not moved: text[:n] has n words":
                lambda tokens, pad: turned(tokens, (tokens != pad).sum(1) - 1),
            "one position too many is reversed, so that a padding token comes first: text[:n] has n words":
                lambda tokens, pad: turned(tokens, (tokens != pad).sum(1) + 1),
            "0 is used as the padding id; use `pad`":
                lambda tokens, pad: turned(tokens, tokens.count_nonzero(1)),
            "the rows are padded with 0; pad them with `pad`":
                edit("1, words_first)", "1, words_first).masked_fill(tokens == pad, 0)"),
            "the result is transposed and padded with 0: pad_sequence needs batch_first=True and padding_value=pad":
                edit("flipped.gather(1, words_first)",
                     "torch.nn.utils.rnn.pad_sequence([row[row != pad].flip(0) for row in tokens])"),
        },
        properties={
            "padding is not at its original positions": lambda out, tokens, pad: torch.equal(out == pad, tokens == pad),
            "a text does not have its original words":
                lambda out, tokens, pad: torch.equal(out.sort(1).values, tokens.sort(1).values),
        },
        hints=(
            "The row [5, 6, 0], padded with 0, has two words. What is the result of reversing the whole row? What "
            "should it be?",
            "Row by row: count the words, reverse them and append the rest of the row. Or for all rows at once: "
            "reverse the whole rows, then move the padding back to the end.",
            "(row != pad).sum() counts the words of a row. .flip(0) reverses a row, .flip(1) all rows of a batch; "
            "row[::-1] works for lists only. torch.cat concatenates, torch.stack makes a batch of rows. "
            ".argsort(dim=1, stable=True) puts False before True and keeps the order of equal ones.",
        ),
    ),
    Exercise(
        "04.2", "the context vector", attention_context, draw_memories,
        mistakes={
            "the scores are divided by √width, as in the Transformer; here they are not scaled":
                edit("state, memory)", "state, memory) / state.shape[1] ** 0.5"),
            "the softmax is over the texts (dim 0), not over the positions": edit("softmax(-1)", "softmax(0)"),
            "the softmax is over an axis of size 1, so that each weight is 1: apply it over the positions":
                edit(".softmax(-1)", "[..., None].softmax(-1)[..., 0]"),
            "padding has the score 0 before the softmax, which is not a small score: it needs −∞":
                edit('scores.masked_fill(~real, float("-inf"))', "(scores * real)"),
            "the encoder states are set to 0 at padding, but the weights are not; padding needs the score −∞":
                edit("scores = torch", "memory = memory * real[..., None]\n    scores = torch",
                     '.masked_fill(~real, float("-inf"))', ""),
            "the weights are set to 0 at padding after the softmax: the others no longer sum to 1":
                edit('.masked_fill(~real, float("-inf")).softmax(-1)', ".softmax(-1) * real"),
            "padding is not masked: `real` is not used": edit('.masked_fill(~real, float("-inf"))', ""),
            "the mask is inverted: masked_fill writes where it is True, so pass ~real": edit("~real", "real"),
            "exp of a large score overflows to ∞, and of large negative scores it underflows to 0: .softmax subtracts "
            "the maximum first":
                edit("weights = scores", "seen = scores", ".softmax(-1)", "\n    weights = by_exp(seen)"),
            "a maximum that starts at 0 stays 0 if all scores are negative: start at −∞, or use .softmax":
                edit("weights = scores", "seen = scores", ".softmax(-1)",
                     "\n    weights = by_exp(seen - largest_from_zero(seen))"),
        },
        properties={
            "an entry of the context is below or above that of all words in the text, which is impossible for a mean":
                lambda out, state, memory, real: within_the_words(out, memory, real),
        },
        hints=(
            "If a padding position has the score 0 and the words have scores of −5 and −7, which one gets almost "
            "all of the weight? Which score always gives the weight 0?",
            "Scores [batch time], then weights [batch time], then the context [batch width]. The first step sums over "
            "the entries of a vector, the last one over the positions. Mask padding between scores and softmax.",
            "state[:, None] is [batch 1 width] and broadcasts to the memory; (a * b).sum(-1) is an inner product, and "
            'so is torch.einsum. .masked_fill(mask, float("-inf")) writes where the mask is True, and ~mask inverts '
            "it. weights[..., None] is [batch time 1].",
        ),
    ),
    Exercise(
        "04.3", "additive attention scores", additive_scores, draw_states,
        mistakes={
            "the tanh is missing: this is vᵀ(W s + U h)": edit("torch.tanh", ""),
            "the tanh is applied after v; apply it before": edit("tanh(", "tanh((", " @ v", " @ v)"),
            "the tanh is applied to W s and U h separately; apply it to their sum":
                edit("torch.tanh((state @ W.T)", "((state @ W.T).tanh()", "memory @ U.T", "(memory @ U.T).tanh()"),
            "this is the inner product of W s and U h; add them, apply tanh, and multiply by v":
                edit("torch.tanh(", "(", "+ memory @ U.T) @ v", "* (memory @ U.T)).sum(-1)"),
            "the vector v is left out: the entries are summed": edit(" @ v", ".sum(-1)"),
            "a sigmoid is used instead of tanh": edit("tanh", "sigmoid"),
            "tanh by its formula is ∞/∞ for large inputs; use torch.tanh":
                edit("return torch.tanh", "x = ", " @ v",
                     "\n    return (x.exp() - (-x).exp()) / (x.exp() + (-x).exp()) @ v"),
            "the states are broadcast along the wrong axis; (state @ W.T)[:, None] adds an axis for the positions":
                edit("[:, None]", ""),
            "W and U need to be transposed: for a batch of rows, W s is state @ W.T": edit("W.T", "W", "U.T", "U"),
            ".squeeze() removes every axis of size 1, including a batch of one text or a single position: .squeeze(-1)":
                edit(" @ v", " @ v[:, None]", "return torch", "scores = torch", "v[:, None]",
                     "v[:, None]\n    return scores.squeeze()"),
        },
        properties={
            "the absolute value of a score is above the sum of |v|; no tanh is larger than 1":
                lambda out, state, memory, W, U, v: bool((out.abs() <= v.abs().sum() + 1e-3).all()),
        },
        hints=(
            "W s is one vector per text, and U h is one per position. What are their shapes for a whole batch, and "
            "what is needed before they can be added?",
            "Four steps: project the states to the common width, project all positions to it, add the first to each "
            "position of the second, apply tanh and take the inner product of each with v.",
            "For one vector W s is W @ s; for a batch of rows it is state @ W.T. [:, None] inserts an axis of size 1 "
            "for the positions. A tensor [batch time width] @ v is [batch time].",
        ),
    ),
    *exercises_alignment.EXERCISES,
    Exercise(
        "04.6", "scheduled sampling", scheduled_inputs, draw_guesses,
        mistakes={
            "a position reads its own prediction, which depends on that input; use the prediction of the previous "
            "position": edit("guesses[:, :-1]", "guesses[:, 1:]"),
            "a position reads its own prediction, and the first word is replaced too; shift the guesses, and keep the "
            "first position": edit("torch.cat([inputs[:, :1], guesses[:, :-1]], 1)", "guesses"),
            "the last guess wraps around to the first position, as with .roll(1, 1); the first position is unchanged":
                edit("torch.cat([inputs[:, :1], guesses[:, :-1]], 1)", "guesses.roll(1, 1)"),
            "guesses move between texts: .roll(1) without dims rolls the flattened batch":
                edit("torch.cat([inputs[:, :1], guesses[:, :-1]], 1)", "guesses.roll(1)"),
            "the condition is inverted: a draw below ε keeps the correct word": edit("< eps", ">= eps"),
            "the correct word and the guess are swapped in torch.where, so that padding is replaced too":
                edit("inputs, before)", "before, inputs)"),
            "draws are compared with 1 − ε: the correct word stays with probability ε": edit("< eps", "< 1 - eps"),
            "a draw equal to ε keeps the correct word, so that with ε = 0 some stay: use <, not <=":
                edit("< eps", "<= eps"),
            "padding is replaced by guesses; keep it": edit(" | (inputs == pad)", ""),
            "0 is used as the padding id; use `pad`": edit("== pad", "== 0"),
        },
        properties={
            "the first position is changed":
                lambda out, inputs, *_: torch.equal(out[:, 0], inputs[:, 0]),
            "padding is not at its original positions":
                lambda out, inputs, guesses, draws, epsilon, pad: bool((out[inputs == pad] == pad).all()),
            "a position reads neither the correct word nor the guess of the previous position":
                lambda out, inputs, guesses, *_: bool(
                    ((out == inputs)[:, 1:] | (out[:, 1:] == guesses[:, :-1])).all()),
        },
        hints=(
            "Position 0 reads [START] and predicts word 1. Which position reads word 1? What would a position learn "
            "if it read its own prediction, made from the correct words before it?",
            "Three tensors [batch time]: the correct inputs; the guesses, shifted one position to the right; and True "
            "where the correct word stays. There are two conditions for that. What goes into the first position of "
            "the shifted guesses, so that it never matters?",
            "guesses[:, :-1] are all but the last of each row, inputs[:, :1] is the first as a column, and "
            "torch.cat([…, …], 1) concatenates them along the row. torch.where(condition, this, that) takes `this` "
            'where the condition is True. | is "or" for tensors; put each side of it in parentheses.',
        ),
    ),
)
