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
    """UniLM's mask for a source and a target that stand in one row: who may look at whom.

    The first ``source`` positions are the source, the ``target`` positions behind them are the target. A position
    of the source sees all of the source, to both sides, and nothing of the target. A position of the
    target sees all of the source; of the target it sees itself and what stands before it. Row i of
    the mask says what position i sees (True = may look).
    """
    place = torch.arange(source + target)
    return (place < source) | (place <= place[:, None])


def draw_sides(_: Generator) -> Probes:
    """Inputs for 12.1: name → (length of the source, length of the target)."""
    return {
        "two positions and one": (2, 1),
        "three positions and two": (3, 2),
        "two positions and four": (2, 4),
        "as many positions in both": (3, 3),
        "a single position and three": (1, 3),
        "five positions and six": (5, 6),
        "a source alone": (4, 0),
    }


def four_masks(segments: Int[Tensor, "batch time"]) -> Bool[Tensor, "batch query key"]:
    """UniLM's masks of a batch of texts, from the segments of their positions alone.

    Segments 0 and 1 are the two sentences of a text that is read in both directions: each position sees
    all positions of both. In a text of segment 2, a position sees itself and what stands before it; in a text
    of segment 3, itself and what stands behind it. Segment 4 is a source and segment 5 the target
    behind it: the source sees itself, and a position of the target sees the source, itself, and what
    stands before it. All positions of a text are of one of these four kinds, but for padding. Segment −1
    is padding, before or behind a text: it sees nothing, and nobody sees it (True = may look).
    """
    key, place = segments[:, None], torch.arange(segments.shape[1])
    by_all, later = torch.isin(key, torch.tensor([0, 1, 4])), torch.isin(key, torch.tensor([2, 5]))
    before = place <= place[:, None]
    return (by_all | later & before | (key == 3) & before.T) & (segments[:, :, None] >= 0)


def draw_segments(_: Generator) -> Probes:
    """Inputs for 12.2: name → (segments [batch time],)."""
    return {
        "a source of one position, a target of two": (torch.tensor([[4, 5, 5]]),),
        "from the left, and from the right": (torch.tensor([[2, 2, 2, 2], [3, 3, 3, 3]]),),
        "a pair in both directions, and a source with its target": (torch.tensor([[0, 0, 0, 1, 1], [4, 4, 4, 5, 5]]),),
        "all four kinds, as many texts as positions": (torch.tensor([[2] * 4, [0, 0, 1, 1], [3] * 4, [4, 4, 5, 5]]),),
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
    """How likely a UniLM says a target after a source: the log-probability, in nats.

    The model reads [CLS] source [SEP] target [SEP], in segment 4 up to the first [SEP] and in segment
    5 behind it. But it says a word only where it reads a [MASK]. To say the next word of the target it
    reads [CLS] source [SEP], the words that have been said, and one [MASK] in the place of the next.
    The last thing that it says is the closing [SEP]. Give the sum of log p over all that it says, the
    words of ``target`` and this [SEP].

    Tokens are numbers: [CLS] is 2, [SEP] is 3, [MASK] is 4. ``logits(tokens, segments)`` reads one
    text, two lists of one length, under the mask that belongs to its segments. It gives a tensor
    [time, vocab]: row t is what the model says of the word *at* position t, before the softmax.
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
        "nothing is said but the [SEP]": drawn(10, 4, 0, 5),
        "logits in the hundreds, to both sides": drawn(12, 2, 3, 6, 80.0),
        "all logits above 100": drawn(11, 3, 3, 7, 1.0, 150.0),
        "all logits below −100": drawn(13, 1, 2, 8, 1.0, -150.0),
    }


def asked_and_never_asked(positions: int, rate: float, readings: int) -> tuple[float, float]:
    """What fine-tuning by a masked target asks of one target: the share at each reading, and what is never asked.

    A target has ``positions`` positions, its [SEP] counted. A causal loss would ask each of them at each
    reading. Here only round(rate · positions) of them are hidden and asked, one at least. Which ones is
    drawn anew at each reading: so many different positions, each as likely as any other.
    Give two numbers: the share of the positions that one reading asks; and how many of the positions, on
    average over all draws, none of ``readings`` readings has asked.
    """
    share = max(1, round(rate * positions)) / positions
    return share, positions * (1 - share) ** readings


def draw_amounts(_: Generator) -> Probes:
    """Inputs for 12.4: name → (number of positions, rate, epochs)."""
    return {
        "four positions, one of them at each of two readings": (4, 0.25, 2),
        "nine positions and the authors' rate": (9, 0.7, 3),
        "six positions: the number is rounded up": (6, 0.6, 2),
        "three positions: there is one at least": (3, 0.15, 5),
        "ten positions: the number is rounded down": (10, 0.33, 4),
        "before the first reading": (7, 0.4, 0),
        "every position each time": (5, 1.0, 3),
    }


EXERCISES = (
    Exercise(
        "12.1", "a source and a target in one row", source_to_target, draw_sides,
        mistakes={
            "the source reads from left to right too. This is GPT: the source is known as a whole, and sees itself to "
            "both sides": edit("(place < source) | ", ""),
            "everyone sees everyone. This is BERT: a target position would see the words that it is to say":
                edit("place <= place[:, None]", "place[:, None] >= 0"),
            "the source sees the target; the target is not there yet when the source is read":
                edit("place < source", "place[:, None] < source"),
            "the target sees all of itself, what comes later too; it sees itself and what stands before":
                edit("place <= place[:, None]", "place[:, None] >= source"),
            "a target position does not see itself: < for <=, or a triangle that begins below its diagonal":
                edit("<=", "<"),
            "the target does not see the source; how should it know what to say?":
                edit("place < source", "(place < source) & (place[:, None] < source)",
                     "place <= place[:, None]", "(place <= place[:, None]) & (place >= source)"),
            "the target's triangle begins at column 0, the source's first; it begins at column `source`":
                edit("place < source", "(place < source) & (place[:, None] < source)",
                     "place <= place[:, None]", "place <= place[:, None] - source"),
            "a comparison needs parentheses: | binds before < and <=":
                edit("(place < source) |", "place < source |"),
            "rows and columns have changed places: rows are the queries, columns the keys":
                edit("return (", "return ((", "None])", "None])).T"),
            "True marks what is blocked; True = may look": edit("return (", "return ~((", "None])", "None]))"),
        },
        properties={
            "a position does not see itself": lambda out, *_: bool((out.diagonal() == 1).all()),
            "a source position does not see all of the source": lambda out, source, _: bool(
                (out[:source, :source] == 1).all()),
            "a source position sees something of the target": lambda out, source,
            _: not bool(out[:source, source:].any()),
            "a target position does not see all of the source": lambda out, source, _: bool(
                (out[source:, :source] == 1).all()),
            "a target position sees one that comes later": lambda out, source, _: not bool(
                out[source:, source:].triu(1).any()),
        },
        hints=(
            "Draw the mask of three source positions and two target positions, row by row. How many positions does the "
            "first row "
            "see, and how many does the last? Which of the four blocks is all True, and which is all False?",
            "Begin with the triangle of GPT over all positions: each sees itself and what stands before. The columns "
            "of "
            "the source are still to be opened, to every row. What does the triangle say already about source rows "
            "and target columns?",
            "place = torch.arange(…) numbers the positions; as a row they are the keys, as a column, place[:, None], "
            "the "
            "queries. <, <= and | make the mask. Or: torch.ones(…, dtype=torch.bool).tril(), then set a range of "
            "columns to True.",
        ),
    ),
    Exercise(
        "12.2", "four masks from the segments", four_masks, draw_segments,
        mistakes={
            "the kind of a text is read at its first position, which may be padding": by_first_position,
            "segment 3 is read from the left as well; there a position sees what stands behind it":
                edit("before.T", "before"),
            "segments 0 and 1 do not see each other; they are two sentences of one text":
                edit(">= 0)", ">= 0) & ((key > 1) | (key == segments[:, :, None]))"),
            "the source reads from left to right too; it sees itself to both sides":
                edit("[0, 1, 4]", "[0, 1]", "[2, 5]", "[2, 4, 5]"),
            "source and target see each other to both sides; a target position sees itself and what stands before":
                edit("[0, 1, 4]", "[0, 1, 4, 5]", "[2, 5]", "[2]"),
            "the query's segment is asked for the key's: the source sees its target, and padding is seen":
                edit("segments[:, None]", "segments[:, :, None]"),
            "where there is an order, a position does not see itself: < for <=, or a triangle that begins below its "
            "diagonal": edit("<=", "<"),
            "rows and columns have changed places: rows are the queries, columns the keys":
                edit("return (", "return ((", ">= 0)", ">= 0)).mT"),
            "padding is seen, though it sees nothing: strike it out as a key too":
                edit("key, place = segments[:, None]",
                     "key, place = segments.where(segments >= 0, segments.amax(1, keepdim=True))[:, None]"),
            "padding sees the text; it is struck out as a key, and is still to be struck out as a query":
                edit(" & (segments[:, :, None] >= 0)", ""),
        },
        properties={
            "padding is seen, or sees something": lambda out, segments: not bool(out[~real(segments)].any()),
            "a position that is no padding does not see itself": lambda out, segments: torch.equal(
                out.diagonal(dim1=1, dim2=2) == 1, segments >= 0),
            "in a text of segments 0 and 1, not everyone sees everyone": lambda out, segments: bool(
                (out[real(segments) & (segments[:, None] <= 1)] == 1).all()),
            "a source sees its target": lambda out, segments: not bool(
                out[(segments[:, :, None] == 4) & (segments[:, None] == 5)].any()),
            "a target position does not see all of its source": lambda out, segments: bool(
                (out[(segments[:, :, None] == 5) & (segments[:, None] == 4)] == 1).all()),
        },
        hints=(
            "Take one key of each segment from 0 to 5. Which positions of its text may see it: all, those at or behind "
            "it, "
            "or those at or before it? Does the query's segment matter, once you know the key's?",
            "The key's segment says who may see it, with three answers in all. A target position stands behind its "
            "whole "
            "source, so \"those at or behind it\" hides it from the source too. In the end, padding is struck out, as "
            "a key and as a query.",
            "segments[:, None] is [batch 1 key], segments[:, :, None] is [batch query 1]; both meet a triangle [query "
            "key]. torch.isin(x, torch.tensor([…])) asks for several numbers. & binds before |, and == after both: put "
            "comparisons in parentheses.",
        ),
    ),
    Exercise(
        "12.3", "the log-probability of a target", log_probability, draw_targets,
        mistakes={
            "all the [MASK]s stand in one text: a word is to be said after the words before it, and they are read as "
            "[MASK]s": edit("*words[:t], 4", "*[4] * t, 4"),
            "the position before the [MASK] is asked for the next word, or no [MASK] is read, as in GPT; here a "
            "position says "
            "its own word": edit("table[-1]", "table[-2]"),
            "the target's words are read in their own places, so that each position sees the word that it says":
                edit("*words[:t], 4", "*words", "(t + 1)", "len(words)", "table[-1]", "table[len(read) + t]"),
            "the [SEP] that ends the target is not counted: it has to be said too": edit("[*target, 3]", "target"),
            "after a [MASK] comes the likeliest word, not the target's: asked is the target, and its words before are "
            "given": edit("(0)[word])", "(0)[word])\n        words[t] = int(table[-1].argmax())"),
            "source and target are segments 4 and 5; 0 and 1 are those of both directions":
                edit("[4] *", "[0] *", "[5] *", "[1] *"),
            "the logits themselves are added up: the softmax is missing": edit(".log_softmax(0)", ""),
            "the softmax runs over the positions, not over the words (of a table [time vocab], the words are axis 1)":
                edit("table[-1].log_softmax(0)", "table.log_softmax(0)[-1]"),
            "the softmax is taken twice: cross_entropy wants the logits, and takes the softmax itself":
                edit("log_softmax(0)", "softmax(0).log_softmax(0)"),
            "a probability underflows to 0, and its logarithm is −∞: take .log_softmax of the logits":
                edit("log_softmax(0)", "softmax(0).log()"),
        },
        hints=(
            "Source a b, target x y. How many words must the model say, and how many texts must it read for that? "
            "Write each text down, with its segments. In which position of each does the answer stand?",
            "The chain rule: p(x y [SEP]) = p(x) · p(y after x) · p([SEP] after x y). Each factor is one reading, and "
            "ends in a [MASK]. The words said before stand there as themselves. The log of a product is a sum of logs.",
            "[*a, *b, 4] joins lists, words[:t] are the first t, and [5] * n repeats. table[-1] is the row of the last "
            "position, .log_softmax(0) of a row runs over the words. float(…) makes a number of a tensor.",
        ),
    ),
    Exercise(
        "12.4", "what a masked target never asks", asked_and_never_asked, draw_amounts,
        mistakes={
            "the rate is taken for the share; a whole number of positions is asked, round(rate · positions)":
                edit("max(1, round(rate * positions)) / positions", "rate"),
            "the number is cut, not rounded: int and // leave off what is behind the point": edit("round(", "int("),
            "there is one position at least: round may give 0": edit("max(1, round(rate * positions))",
                                                                     "round(rate * positions)"),
            "the share is of the words without the [SEP]; a causal loss asks the [SEP] too":
                edit("rate * positions", "rate * (positions - 1)"),
            "the second number is the chance of one position; times the number of positions it is how many":
                edit("positions * (1", "(1"),
            "the second number is that of the positions which are asked at least once; it is those that never are":
                edit("positions * (1", "positions - positions * (1"),
            "the second number is that of the positions which every reading asks: 1 − share is the chance to be left "
            "out":
                edit("(1 - share)", "share"),
            "the chances are multiplied by the number of readings; they are multiplied with each other (** for *)":
                edit("**", "*"),
            "each reading is taken to ask other positions than those before; it is drawn anew, and asks some once more":
                edit("positions * (1 - share) ** readings", "max(0.0, positions - readings * share * positions)"),
            "1 − share needs parentheses: ** binds before −": edit("(1 - share)", "1 - share"),
        },
        hints=(
            "Four positions, one asked at each reading. How likely is it that the first reading leaves out position 2? "
            "And "
            "that two readings both leave it out? And how many such positions are there, on average?",
            "Look at one position. A reading asks it with a chance that is the share of positions asked. Readings are "
            "drawn "
            "apart, so that the chances of being left out are multiplied. How many positions are left, on average, is "
            "a "
            "sum over the positions: each adds its own chance.",
            "round(x) makes a whole number, and max(1, …) keeps one at least. Divide by the number of positions "
            "*after* "
            "that. ** is the power, and it binds before * and −, so 1 − share stands in parentheses.",
        ),
    ),
    *exercises_blanks.EXERCISES,
)
