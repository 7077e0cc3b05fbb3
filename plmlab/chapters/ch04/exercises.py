"""Exercises of chapter 04: sequence to sequence and attention, from the order of the source to who reads what."""

from math import log

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor, rand, randint, randn

from plmlab.chapters.ch04 import mistakes, mistakes_links
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
    """Inputs for 04.1: name → (tokens [batch time], the id of padding)."""
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
        "as many texts as slots": drawn(4, 0, 4, 2, 3, 4),
        "padding is 3, and 0 is a word": (zero, pad),
        "more slots than any text needs": drawn(7, 1, 4, 2, 5),
        "a text of one word": drawn(1, 0, 1),
    }


def context_of(
    state: Float[Tensor, "batch width"], memory: Float[Tensor, "batch time width"], real: Bool[Tensor, "batch time"],
) -> Float[Tensor, "batch width"]:
    """What one state of the decoder gets by looking at the source: its context.

    memory[i, t] is what the encoder shows at slot t of text i, and real[i, t] is True if a word stands
    there; elsewhere is padding, which may hold any numbers and must not count. The score of a slot is the
    inner product of the state and the slot's vector, sᵀh (Luong et al. 2015, eq. 8: not divided by √width).
    A softmax over the real slots of a text makes weights of the scores. The context is the mean of the
    slots' vectors with these weights. For the state [1, 0] and two real slots [0, 4] and [1.1, 0], the scores
    are 0 and 1.1, the weights 1/4 and 3/4, and the context is [0.82, 1]. Scores in the hundreds must do no harm.
    """
    scores = torch.einsum("bw, btw -> bt", state, memory)
    weights = scores.masked_fill(~real, float("-inf")).softmax(-1)
    return torch.einsum("bt, btw -> bw", weights, memory)


def draw_memories(rng: Generator) -> Probes:
    """Inputs for 04.2: name → (state [batch width], memory [batch time width], where words stand [batch time])."""
    def drawn(width: int, time: int, *words: range, scale: float = 1.0) -> tuple[Tensor, Tensor, Tensor]:
        real = torch.tensor([[slot in slots for slot in range(time)] for slots in words])
        state = scale * randn(len(words), width, generator=rng)
        return state, (1.0 + (~real)[..., None]) * randn(len(words), time, width, generator=rng), real

    state, memory, real = drawn(3, 5, range(5), range(3), range(4))
    return {
        "two slots": (torch.tensor([[1.0, 0.0]]), torch.tensor([[[0.0, 4.0], [log(3), 0.0]]]),
                      torch.tensor([[True, True]])),
        "three texts, padding is not 0": drawn(4, 5, range(5), range(2), range(3)),
        "as many texts as slots and numbers": drawn(4, 4, range(3), range(4), range(1), range(2)),
        "padding before the text": drawn(3, 6, range(2, 6), range(6)),
        "texts of one slot": drawn(5, 1, range(1), range(1)),
        "scores in the hundreds": drawn(6, 4, range(4), range(3), range(2), scale=200.0),
        "all scores far below 0": (8 + state.abs(), -8 - memory.abs(), real),
    }


def additive_scores(
    state: Float[Tensor, "batch model"], memory: Float[Tensor, "batch time key"],
    W: Float[Tensor, "width model"], U: Float[Tensor, "width key"], v: Float[Tensor, "width"],
) -> Float[Tensor, "batch time"]:
    """How well a decoder's state s fits each slot h of the source: vᵀ tanh(W s + U h) (Bahdanau et al. 2015).

    Row i of ``state`` belongs to the slots memory[i, 0], memory[i, 1], … of its own text. State and slot may
    have different widths; W and U bring both to one width, and v makes a single number of that. Asked
    are the scores, before any softmax; there is no padding here. With the width 1 everywhere, W = U = 1
    and v = 2, the state 1 has the scores 2 · tanh(1 + 2) = 1.99 and 2 · tanh(1 − 1) = 0 for slots 2 and −1.
    """
    return torch.tanh((state @ W.T)[:, None] + memory @ U.T) @ v


def draw_states(rng: Generator) -> Probes:
    """Inputs for 04.3: name → (state [batch model], memory [batch time key], W, U, v)."""
    def drawn(batch: int, time: int, model: int, key: int, width: int, scale: float = 1.0) -> tuple[Tensor, ...]:
        shapes = (batch, model), (batch, time, key), (width, model), (width, key), (width,)
        state, memory, *weights = (randn(shape, generator=rng) for shape in shapes)
        return scale * state, scale * memory, *weights

    one = torch.ones(1, 1)
    return {
        "a number each": (one, torch.tensor([[[2.0], [-1.0]]]), one, one, torch.tensor([2.0])),
        "two texts, three slots": drawn(2, 3, 4, 5, 6),
        "all widths equal": drawn(3, 5, 4, 4, 4),
        "as many texts as slots": drawn(4, 4, 3, 2, 5),
        "texts of one slot": drawn(3, 1, 2, 4, 3),
        "numbers in the hundreds": drawn(2, 4, 3, 6, 2, scale=100.0),
    }


def alignment_error_rate(
    links: set[tuple[int, int]], sure: set[tuple[int, int]], possible: set[tuple[int, int]],
) -> float:
    """How wrong some links between the words of a sentence and its translation are (Och and Ney 2003).

    A link is a pair (slot in the target, slot in the source). ``links`` is the set A that a model gives.
    People have marked two sets: S, ``sure``, which should be found, and P, ``possible``, which may be found. Each
    sure link is possible too. The alignment error rate is 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|), where |…|
    is the number of links and ∩ keeps those in both sets. If neither A nor S has a link, nothing is wrong: 0.
    For A = {(0, 0), (1, 1), (2, 1)}, S = {(0, 0), (1, 2)} and P = {(0, 0), (1, 2), (1, 1)} it is
    1 − (1 + 2) / (3 + 2) = 0.4.
    """
    if not links and not sure:
        return 0.0
    return 1 - (len(links & sure) + len(links & possible)) / (len(links) + len(sure))


def draw_links(rng: Generator) -> Probes:
    """Inputs for 04.4: name → (links, sure, possible)."""
    def drawn(targets: int, sources: int) -> tuple[set[tuple[int, int]], ...]:
        score = rand(targets, sources, generator=rng)
        sure = {(i, j) for i, j in (score > 0.85).nonzero().tolist()}
        possible = {(i, j) for i, j in (score > 0.6).nonzero().tolist()}
        noisy = score + 0.25 * randn(targets, sources, generator=rng)
        return {(i, j) for i, j in (noisy > 0.7).nonzero().tolist()}, sure, possible

    return {
        "three links": ({(0, 0), (1, 1), (2, 1)}, {(0, 0), (1, 2)}, {(0, 0), (1, 2), (1, 1)}),
        "all are right, all sure ones are found":
            ({(0, 1), (1, 0), (2, 2)}, {(0, 1), (1, 0)}, {(0, 1), (1, 0), (2, 2)}),
        "what is possible is sure":
            ({(0, 0), (1, 2), (2, 1), (3, 3)}, {(0, 0), (1, 1), (2, 1)}, {(0, 0), (1, 1), (2, 1)}),
        "a longer text": drawn(6, 8),
        "the model gives no link": (set(), {(0, 0), (1, 1)}, {(0, 0), (1, 1), (1, 0)}),
        "no link is sure": ({(0, 0), (1, 1), (2, 0)}, set(), {(1, 1), (0, 1)}),
        "no link at all": (set(), set(), {(0, 1)}),
    }


def ibm1_round(
    sources: list[list[int]], targets: list[list[int]], t: Float[Tensor, "target source"],
) -> Float[Tensor, "target source"]:
    """One round of expectation–maximisation for IBM model 1 (Brown et al. 1993): a better table of translations.

    sources[k] and targets[k] are a sentence and its translation, as ids. t[f, e] is the chance that source
    word e becomes target word f, so that each column adds up to 1. Each target word f of a sentence comes from
    one of the words of that sentence's source. Share its count of 1 out among them: e gets t[f, e], divided by the
    sum of t[f, …] over all words of that source. Add up what each pair (f, e) gets in all sentences. A word that
    stands twice counts twice, in source and target. Then divide each column by its sum. The column of a source word
    in no sentence stays as it was. NULL, the empty word, is a source word like others: whoever wants it has put it
    into each source. For sources [[0, 1], [0]], targets [[0, 1], [0]] and all chances 1/2, word 0 of the source
    gets 1/2 + 1 and 1/2, and its column is [0.75, 0.25]; the other column is [0.5, 0.5].
    """
    counts = torch.zeros_like(t)
    for source, target in zip(sources, targets, strict=True):
        for f in target:
            for e in source:
                counts[f, e] += t[f, e] / t[f, source].sum()
    total = counts.sum(0)
    return torch.where(total > 0, counts / total, t)


def draw_sentences(rng: Generator) -> Probes:
    """Inputs for 04.5: name → (sources, targets, t [target source])."""
    def table(targets: int, sources: int) -> Tensor:
        return randn(targets, sources, generator=rng).softmax(0)

    certain = table(4, 3)
    certain[0, 1] = certain[2, 0] = certain[1, 2] = 0
    half = torch.full((2, 2), 0.5)
    return {
        "two words, and one of them alone": ([[0, 1], [0]], [[0, 1], [0]], half),
        "three sentences": ([[0, 1, 2], [1, 3], [2, 0]], [[4, 0], [1, 2, 3], [0, 3, 1, 4]], table(5, 4)),
        "as many words in both languages": ([[0, 1], [2, 1, 3], [3, 0]], [[2, 0, 1], [3, 1], [0, 3]], table(4, 4)),
        "words that stand twice": ([[0, 1, 0, 2], [2, 3, 0], [1, 3]], [[3, 1, 3], [0, 2], [2, 4, 2, 1]], table(5, 4)),
        "words in no sentence": ([[1, 4], [4, 2]], [[0, 3, 5], [3]], table(6, 5)),
        "chances of 0": ([[0, 1, 2], [2, 1]], [[3, 2, 1], [0, 3]], certain / certain.sum(0)),
        "one word each": ([[1]], [[2]], table(3, 2)),
    }


def scheduled_inputs(
    inputs: Int[Tensor, "batch time"], guesses: Int[Tensor, "batch time"], draws: Float[Tensor, "batch time"],
    epsilon: float, pad: int,
) -> Int[Tensor, "batch time"]:
    """What a decoder reads in training, if some words are its own guesses (scheduled sampling, Bengio et al. 2015).

    A row of ``inputs`` is what it reads when all is right: [START], word 1, word 2, …, then ``pad`` up to the end.
    guesses[i, t] is what the model says in slot t of text i, after it has read that slot: its guess at the
    word that slot t + 1 reads. Give inputs in which each slot reads either its right word or the guess of the slot
    before. draws[i, t] decides for slot t: below ε, ``epsilon``, the right word stays, else it is the guess.
    The first slot and the padding stay as they are. For inputs [5, 7, 8], guesses [7, 9, 6], draws
    [0.9, 0.2, 0.8] and ε = 0.5, it is [5, 7, 9].
    """
    before = torch.cat([inputs[:, :1], guesses[:, :-1]], 1)
    stays = (draws < epsilon) | (inputs == pad)
    return torch.where(stays, inputs, before)


def draw_guesses(rng: Generator) -> Probes:
    """Inputs for 04.6: name → (inputs, guesses, draws, ε, the id of padding)."""
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
        "as many texts as slots": drawn(5, 0.6, 0, 5, 5, 4, 1, 3),
        "padding is 2, and 0 is a word": zero,
        "mostly right words": drawn(8, 0.8, 0, 8, 6, 7),
        "ε = 0, and a draw of 0": (inputs, guesses, draws, 0.0, 0),
        "ε = 1": drawn(4, 1.0, 0, 4, 2),
        "only the first slot": drawn(1, 0.2, 0, 1, 1),
    }


EXERCISES = (
    Exercise(
        "04.1", "a source turned round", reverse_sources, draw_sources,
        mistakes=mistakes.REVERSE, properties=mistakes.OF_REVERSED,
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
        mistakes=mistakes.CONTEXT, properties=mistakes.OF_A_CONTEXT,
        hints=(
            "If a padding slot gets the score 0 and the words have scores of −5 and −7, who gets almost all of the "
            "weight? Which score gives the weight 0 for certain?",
            "Scores [batch time], then weights [batch time], then the context [batch width]. The first step sums over "
            "the numbers of a vector, the last one over the slots. Padding is dealt with between scores and softmax.",
            "state[:, None] is [batch 1 width] and fits to the memory; (a * b).sum(-1) is an inner product, and so "
            "is torch.einsum. .masked_fill(mask, float(\"-inf\")) writes where the mask is True, and ~mask turns True "
            "and False round. weights[..., None] is [batch time 1].",
        ),
    ),
    Exercise(
        "04.3", "a score by a small network", additive_scores, draw_states,
        mistakes=mistakes.ADDITIVE, properties=mistakes.OF_ADDITIVE,
        hints=(
            "W s is one vector for a text, and U h is one for each slot of it. What shapes have the two for a whole "
            "batch, and what must happen before they can be added?",
            "Four steps: bring the states to the common width, bring all slots to it, add the first to each slot of "
            "the second, take tanh and then the inner product of each with v.",
            "For one vector W s is W @ s; for a batch of rows it is state @ W.T. [:, None] puts an axis of size 1 in "
            "the place of the slots. A tensor [batch time width] @ v is [batch time].",
        ),
    ),
    Exercise(
        "04.4", "the alignment error rate", alignment_error_rate, draw_links,
        mistakes=mistakes_links.ERROR_RATE,
        hints=(
            "A model gives one link, and it is possible but not sure. Two links are sure. Which of the four numbers "
            "|A ∩ S|, |A ∩ P|, |A| and |S| are not 0?",
            "Count four times, and put the counts into the formula, with parentheses round the sum above and round the "
            "sum below. Look first whether one would divide by 0.",
            "one & other is the set of what is in both sets, | of what is in any. len(…) counts. An empty set is False "
            "where a condition is expected.",
        ),
    ),
    Exercise(
        "04.5", "a round of IBM model 1", ibm1_round, draw_sentences,
        mistakes=mistakes_links.IBM1, properties=mistakes_links.OF_A_TABLE,
        hints=(
            "Word f stands in the target, and the source is [0, 1]. t[f, 0] is 0.6 and t[f, 1] is 0.2. How is a count "
            "of 1 shared out among 0 and 1? And if the source is [0, 1, 1]?",
            "Begin with a table of zeros, as large as t. Three loops: over sentences, over words of the target, over "
            "words of the source; the innermost adds one share to one place. Divide only after all loops, and "
            "look at the columns that are still 0.",
            "torch.zeros_like(t) is the table; t[f, source] are the chances of f for a list of ids; an id that stands "
            "twice comes twice. table.sum(0) adds up each column. torch.where(total > 0, a, b) takes b where a would "
            "be 0 / 0.",
        ),
    ),
    Exercise(
        "04.6", "scheduled sampling", scheduled_inputs, draw_guesses,
        mistakes=mistakes_links.SCHEDULED, properties=mistakes_links.OF_INPUTS,
        hints=(
            "Slot 0 reads [START] and guesses word 1. Which slot reads word 1? What would a slot learn if it read its "
            "own guess, made with the right words before it?",
            "Three tensors [batch time]: the right inputs; the guesses, moved one slot to the right; and True where "
            "the right word stays. It stays for two reasons. What goes into the first slot of the moved guesses, so "
            "that it never matters?",
            "guesses[:, :-1] are all but the last of each row, inputs[:, :1] is the first as a column, and "
            "torch.cat([…, …], 1) lays two of them side by side. torch.where(condition, this, that) takes `this` where "
            "the condition is True. | is \"or\" for tensors; each side of it stands in parentheses.",
        ),
    ),
)
