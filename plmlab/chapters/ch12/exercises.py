"""Exercises of chapter 12: UniLM (Dong et al. 2019), its masks, its predictions and its training targets; GLM's are in
`exercises_blanks`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor, randint, randn

from plmlab.chapters.ch12 import exercises_blanks
from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def source_to_target(source: int, target: int) -> Bool[Tensor, "query key"]:
    """UniLM's sequence-to-sequence attention mask for a source followed by a target.

    The first ``source`` positions are the source, the next ``target`` positions the target. A source
    position attends to the whole source, bidirectionally, and to nothing of the target. A target position
    attends to the whole source, to the target positions before it, and to itself. Row i is the
    query at position i (True = can attend).
    """
    place = torch.arange(source + target)
    return (place < source) | (place <= place[:, None])


def draw_sides(_: Generator) -> Probes:
    """Inputs for 12.1: name → (length of the source, length of the target)."""
    return {
        "two positions and one": (2, 1),
        "three positions and two": (3, 2),
        "two positions and four": (2, 4),
        "the same number of positions in both": (3, 3),
        "a single position and three": (1, 3),
        "five positions and six": (5, 6),
        "a source alone": (4, 0),
    }


def four_masks(segments: Int[Tensor, "batch time"]) -> Bool[Tensor, "batch query key"]:
    """UniLM's attention masks for a batch of texts, determined by the segment ids alone.

    Segments 0 and 1 are the two sentences of a bidirectional text: each position attends to all
    positions of both. In a text of segment 2 (left-to-right), a position attends to itself and the positions before
    it; in a text of segment 3 (right-to-left), to itself and the positions after it. Segment 4 is a source
    and segment 5 the target after it: the source attends to itself, and a target position to the source,
    to itself and to the target positions before it. Every text is of one of these four kinds. Segment −1
    is padding, before or after a text: it attends to nothing, and no position attends to it (True = can attend).
    """
    key, place = segments[:, None], torch.arange(segments.shape[1])
    by_all, later = torch.isin(key, torch.tensor([0, 1, 4])), torch.isin(key, torch.tensor([2, 5]))
    before = place <= place[:, None]
    return (by_all | later & before | (key == 3) & before.T) & (segments[:, :, None] >= 0)


def draw_segments(_: Generator) -> Probes:
    """Inputs for 12.2: name → (segments [batch time],)."""
    return {
        "a source of one position, a target of two": (torch.tensor([[4, 5, 5]]),),
        "left-to-right, and right-to-left": (torch.tensor([[2, 2, 2, 2], [3, 3, 3, 3]]),),
        "a pair in both directions, and a source with its target": (torch.tensor([[0, 0, 0, 1, 1], [4, 4, 4, 5, 5]]),),
        "all four kinds, the same number of texts and positions":
            (torch.tensor([[2] * 4, [0, 0, 1, 1], [3] * 4, [4, 4, 5, 5]]),),
        "texts of different lengths, padded": (torch.tensor([
            [4, 4, 5, 5, 5, 5], [3, 3, 3, 3, -1, -1], [0, 0, 1, -1, -1, -1], [2, 2, 2, 2, 2, -1],
            [4, 4, 4, 5, 5, -1]]),),
        "padding before the texts": (torch.tensor([
            [-1, 3, 3, 3, 3], [-1, -1, 2, 2, 2], [-1, 4, 4, 5, 5], [-1, 0, 0, 1, 1]]),),
        "a source alone": (torch.tensor([[4, 4, 4]]),),
    }


def by_first_position(segments: Tensor) -> Tensor:
    """12.2 as in the chapter's function for one text, which does not handle padding: the segment of the first token
    determines the mask."""
    kind, key, place = segments[:, :1, None], segments[:, None], torch.arange(segments.shape[1])
    before = place <= place[:, None]
    seen = ((kind == 2) & before | (kind == 3) & before.T | (kind == 4) & ((key == 4) | before) |
            ~torch.isin(kind, torch.tensor([2, 3, 4])))
    return seen & real(segments)


def real(segments: Tensor) -> Tensor:
    """Mask of the pairs in which neither query nor key is padding, [batch query key]."""
    return (segments[:, :, None] >= 0) & (segments[:, None] >= 0)


def log_probability(
    logits: "Callable[[list[int], list[int]], Tensor]", source: list[int], target: list[int],
) -> float:
    """The log-probability, in nats, that a UniLM assigns to a target given a source.

    The model reads [CLS] source [SEP] target [SEP], with segment 4 up to the first [SEP] and segment
    5 after it. But it predicts a token only at a [MASK]. To predict the next token of the target, it
    reads [CLS] source [SEP], the target tokens before it, and one [MASK] at its position. The last
    prediction is the final [SEP]. Return the sum of log p over all predictions, the tokens of
    ``target`` and this [SEP].

    [CLS] is token id 2, [SEP] is 3, [MASK] is 4. ``logits(tokens, segments)`` takes one text, two lists of
    equal length, and applies the mask of its segments. It returns a tensor [time, vocab]: row t has
    the logits of the token *at* position t.
    """
    read, words, total = [2, *source, 3], [*target, 3], 0.0
    for t, word in enumerate(words):
        table = logits([*read, *words[:t], 4], [4] * len(read) + [5] * (t + 1))
        total += float(table[-1].log_softmax(0)[word])
    return total


@dataclass(frozen=True)
class LittleUniLM:
    """The model in 12.3: one attention layer over tokens, segments and positions, under the mask of `four_masks`. The
    weights depend only on ``seed``; ``scale`` multiplies the logits and ``shift`` is added. Raises ValueError if the
    input is not one text."""

    vocab: int
    seed: int
    scale: float = 1.0
    shift: float = 0.0

    def __call__(self, tokens: Sequence[int] | Tensor, segments: Sequence[int] | Tensor) -> Float[Tensor, "time vocab"]:
        """Logits of the token at each position."""
        ids, sides = torch.as_tensor(tokens), torch.as_tensor(segments)
        if ids.ndim != 1 or ids.shape != sides.shape:
            raise ValueError("logits(tokens, segments) takes one text: a list of tokens, and a segment for each. "
                             f"Their shapes are {list(ids.shape)} and {list(sides.shape)}")
        rng = Generator().manual_seed(self.seed)
        word, segment, place, out = (randn(rows, 8, generator=rng) for rows in (self.vocab, 6, 20, self.vocab))
        x = word[ids] + segment[sides] + place[:len(ids)]
        scores = (x @ x.T / 8 ** 0.5).masked_fill(~four_masks(sides[None])[0], float("-inf"))
        return self.scale * (x + 3 * scores.softmax(1) @ x).tanh() @ out.T + self.shift


def draw_targets(rng: Generator) -> Probes:
    """Inputs for 12.3: name → (logits, source, target)."""
    def drawn(vocab: int, source: int, target: int, seed: int, *far: float) -> tuple[object, ...]:
        words = randint(7, vocab, (source + target,), generator=rng).tolist()
        return LittleUniLM(vocab, seed, *far), words[:source], words[source:]

    return {
        "a source of one word, a target of one": drawn(9, 1, 1, 1),
        "a source of three words, a target of two": drawn(12, 3, 2, 2),
        "a source of two words, a target of five": drawn(10, 2, 5, 3),
        "one word three times": (LittleUniLM(11, 4), [8, 7], [9, 9, 9]),
        "only the [SEP] is predicted": drawn(10, 4, 0, 5),
        "logits of hundreds, positive and negative": drawn(12, 2, 3, 6, 80.0),
        "all logits above 100": drawn(11, 3, 3, 7, 1.0, 150.0),
        "all logits below −100": drawn(13, 1, 2, 8, 1.0, -150.0),
    }


def masked_and_never_masked(positions: int, rate: float, epochs: int) -> tuple[float, float]:
    """Coverage of the target tokens by masked fine-tuning: per epoch, and over all epochs.

    A target has ``positions`` positions, including its [SEP]. A causal loss would predict all of them in
    every epoch. Here only round(rate · positions) of them, at least one, are masked and predicted. They
    are drawn anew in each epoch, without replacement, all with the same probability. Return two
    numbers: the fraction of the positions that are predicted in one epoch; and the expected number of
    positions that are predicted in none of ``epochs`` epochs.
    """
    share = max(1, round(rate * positions)) / positions
    return share, positions * (1 - share) ** epochs


def draw_amounts(_: Generator) -> Probes:
    """Inputs for 12.4: name → (number of positions, rate, epochs)."""
    return {
        "four positions, one per epoch, two epochs": (4, 0.25, 2),
        "nine positions and the authors' rate": (9, 0.7, 3),
        "six positions: the number is rounded up": (6, 0.6, 2),
        "three positions: at least one": (3, 0.15, 5),
        "ten positions: the number is rounded down": (10, 0.33, 4),
        "no epoch at all": (7, 0.4, 0),
        "every position each time": (5, 1.0, 3),
    }


EXERCISES = (
    Exercise(
        "12.1", "the sequence-to-sequence mask", source_to_target, draw_sides,
        mistakes={
            "the source is left-to-right too, as in GPT; the whole source is given, so it attends bidirectionally":
                edit("(place < source) | ", ""),
            "every position attends to every other, as in BERT: a target position would see its own targets":
                edit("place <= place[:, None]", "place[:, None] >= 0"),
            "the source attends to the target, which does not exist yet when the source is encoded":
                edit("place < source", "place[:, None] < source"),
            "the target attends to all of itself, later positions too; it attends to itself and earlier ones":
                edit("place <= place[:, None]", "place[:, None] >= source"),
            "a target position does not attend to itself: < instead of <=, or a triangle that starts below its "
            "diagonal": edit("<=", "<"),
            "the target does not attend to the source, so its predictions do not depend on it":
                edit("place < source", "(place < source) & (place[:, None] < source)",
                     "place <= place[:, None]", "(place <= place[:, None]) & (place >= source)"),
            "the target's triangle starts at column 0, the source's first; it starts at column `source`":
                edit("place < source", "(place < source) & (place[:, None] < source)",
                     "place <= place[:, None]", "place <= place[:, None] - source"),
            "a comparison needs parentheses: | binds more tightly than < and <=":
                edit("(place < source) |", "place < source |"),
            "rows and columns are swapped: rows are the queries, columns the keys":
                edit("return (", "return ((", "None])", "None])).T"),
            "the mask is inverted: True = can attend": edit("return (", "return ~((", "None])", "None]))"),
        },
        properties={
            "a position cannot attend to itself": lambda out, *_: bool((out.diagonal() == 1).all()),
            "a source position cannot attend to the whole source": lambda out, source, _: bool(
                (out[:source, :source] == 1).all()),
            "a source position can attend to the target": lambda out, source,
            _: not bool(out[:source, source:].any()),
            "a target position cannot attend to the whole source": lambda out, source, _: bool(
                (out[source:, :source] == 1).all()),
            "a target position can attend to a later one": lambda out, source, _: not bool(
                out[source:, source:].triu(1).any()),
        },
        hints=(
            "Draw the mask of three source positions and two target positions, row by row. How many keys are visible "
            "in the first row, and how many in the last? Which of the four blocks is all True, and which is all False?",
            "Start with GPT's triangle over all positions: each attends to itself and to earlier ones. Then make the "
            "columns of the source visible to every row. What does the triangle already contain for source rows and "
            "target columns?",
            "place = torch.arange(…) numbers the positions; as a row they are the keys, as a column, place[:, None], "
            "the queries. <, <= and | build the mask. Or: torch.ones(…, dtype=torch.bool).tril(), then set a range of "
            "columns to True.",
        ),
    ),
    Exercise(
        "12.2", "four masks from the segments", four_masks, draw_segments,
        mistakes={
            "the kind of a text is taken from its first position, which may be padding": by_first_position,
            "segment 3 is left-to-right as well; there, a position attends to later positions":
                edit("before.T", "before"),
            "segments 0 and 1 do not attend to each other; they are two sentences of one text":
                edit(">= 0)", ">= 0) & ((key > 1) | (key == segments[:, :, None]))"),
            "the source is left-to-right too; it attends to itself bidirectionally":
                edit("[0, 1, 4]", "[0, 1]", "[2, 5]", "[2, 4, 5]"),
            "source and target attend to each other; a target position attends to itself and earlier ones":
                edit("[0, 1, 4]", "[0, 1, 4, 5]", "[2, 5]", "[2]"),
            "the query's segment is used, not the key's: the source attends to its target, and padding is visible":
                edit("segments[:, None]", "segments[:, :, None]"),
            "in the causal masks, a position does not attend to itself: < instead of <=, or a triangle below the "
            "diagonal": edit("<=", "<"),
            "rows and columns are swapped: rows are the queries, columns the keys":
                edit("return (", "return ((", ">= 0)", ">= 0)).mT"),
            "padding is visible as a key, although it attends to nothing: mask it as a key too":
                edit("key, place = segments[:, None]",
                     "key, place = segments.where(segments >= 0, segments.amax(1, keepdim=True))[:, None]"),
            "padding attends to the text: it is masked as a key, but not as a query":
                edit(" & (segments[:, :, None] >= 0)", ""),
        },
        properties={
            "padding is visible, or attends to something": lambda out, segments: not bool(out[~real(segments)].any()),
            "a position that is not padding cannot attend to itself": lambda out, segments: torch.equal(
                out.diagonal(dim1=1, dim2=2) == 1, segments >= 0),
            "in a text of segments 0 and 1, not every position attends to every other": lambda out, segments: bool(
                (out[real(segments) & (segments[:, None] <= 1)] == 1).all()),
            "a source attends to its target": lambda out, segments: not bool(
                out[(segments[:, :, None] == 4) & (segments[:, None] == 5)].any()),
            "a target position cannot attend to its whole source": lambda out, segments: bool(
                (out[(segments[:, :, None] == 5) & (segments[:, None] == 4)] == 1).all()),
        },
        hints=(
            "Take one key of each segment from 0 to 5. Which positions of its text can attend to it: all, those at or "
            "after it, or those at or before it? Does the query's segment matter, once you know the key's?",
            "The key's segment determines which queries can attend to it, with three cases in all. A target comes "
            "after its whole source, so \"queries at or after the key\" hides it from the source too. Finally, "
            "padding is masked, as a key and as a query.",
            "segments[:, None] is [batch 1 key], segments[:, :, None] is [batch query 1]; both broadcast with a "
            "triangle [query key]. torch.isin(x, torch.tensor([…])) tests for several numbers. & binds more tightly "
            "than |, and both more tightly than ==: put comparisons in parentheses.",
        ),
    ),
    Exercise(
        "12.3", "the log-probability of a target", log_probability, draw_targets,
        mistakes={
            "all the [MASK]s are in one text: each token must be conditioned on the tokens before it, not on [MASK]s":
                edit("*words[:t], 4", "*[4] * t, 4"),
            "the prediction is taken from the position before the [MASK], or there is no [MASK], as in GPT; here a "
            "position predicts its own token": edit("table[-1]", "table[-2]"),
            "the target's tokens are in the input at their own positions, so that each position can attend to the "
            "token that it predicts":
                edit("*words[:t], 4", "*words", "(t + 1)", "len(words)", "table[-1]", "table[len(read) + t]"),
            "the final [SEP] of the target is missing: it has to be predicted too": edit("[*target, 3]", "target"),
            "the most probable token follows each prediction; the target is given, so condition on its own tokens":
                edit("(0)[word])", "(0)[word])\n        words[t] = int(table[-1].argmax())"),
            "source and target are segments 4 and 5; 0 and 1 are those of a bidirectional text":
                edit("[4] *", "[0] *", "[5] *", "[1] *"),
            "the logits themselves are summed: the softmax is missing": edit(".log_softmax(0)", ""),
            "the softmax runs over the positions, not over the vocabulary (axis 1 of a table [time vocab])":
                edit("table[-1].log_softmax(0)", "table.log_softmax(0)[-1]"),
            "the softmax is applied twice: cross_entropy expects logits and applies the softmax itself":
                edit("log_softmax(0)", "softmax(0).log_softmax(0)"),
            "a probability underflows to 0 and its logarithm is −∞: apply .log_softmax to the logits":
                edit("log_softmax(0)", "softmax(0).log()"),
        },
        hints=(
            "Source a b, target x y. How many tokens must the model predict, and with how many forward passes? Write "
            "down each input, with its segments. At which position of each is the prediction?",
            "The chain rule: p(x y [SEP]) = p(x) · p(y after x) · p([SEP] after x y). Each factor is one forward "
            "pass, whose input ends in a [MASK] after the earlier target tokens. The log of a product is a sum of "
            "logs.",
            "[*a, *b, 4] concatenates lists, words[:t] are the first t, and [5] * n repeats. table[-1] is the row of "
            "the last position; .log_softmax(0) of a row runs over the vocabulary. float(…) converts a tensor to a "
            "number.",
        ),
    ),
    Exercise(
        "12.4", "coverage of the targets in masked fine-tuning", masked_and_never_masked, draw_amounts,
        mistakes={
            "the rate is used as the fraction; a whole number of positions is masked, round(rate · positions)":
                edit("max(1, round(rate * positions)) / positions", "rate"),
            "the number is truncated, not rounded: int and // drop the decimals": edit("round(", "int("),
            "at least one position is masked: round may give 0": edit("max(1, round(rate * positions))",
                                                                     "round(rate * positions)"),
            "the fraction excludes the [SEP]; a causal loss predicts the [SEP] too":
                edit("rate * positions", "rate * (positions - 1)"),
            "the second number is the probability for one position; multiply it by the number of positions":
                edit("positions * (1", "(1"),
            "the second number counts the positions predicted at least once; count those that never are":
                edit("positions * (1", "positions - positions * (1"),
            "the second number counts the positions predicted in every epoch; 1 − share is the probability of being "
            "left out": edit("(1 - share)", "share"),
            "the probability is multiplied by the number of epochs; raise it to that power (** instead of *)":
                edit("**", "*"),
            "each epoch is assumed to mask new positions; positions are drawn anew, and some are masked repeatedly":
                edit("positions * (1 - share) ** epochs", "max(0.0, positions - epochs * share * positions)"),
            "1 − share needs parentheses: ** binds more tightly than −": edit("(1 - share)", "1 - share"),
        },
        hints=(
            "Four positions, one predicted per epoch. What is the probability that the first epoch leaves out "
            "position 2? What is the probability that two epochs both leave it out? And how many such positions are "
            "there, on average?",
            "Consider one position. The probability that an epoch masks it is the fraction of positions masked. "
            "Epochs are independent, so the probabilities of being left out are multiplied. The expected number of "
            "positions left is a sum over the positions: each adds its own probability.",
            "round(x) gives an integer, and max(1, …) ensures at least one. Divide by the number of positions *after* "
            "that. ** is the power; it binds more tightly than * and −, so put 1 − share in parentheses.",
        ),
    ),
    *exercises_blanks.EXERCISES,
)
