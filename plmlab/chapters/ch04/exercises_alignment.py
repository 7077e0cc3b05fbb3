"""Exercises 04.4 and 04.5: word alignment, the alignment error rate and IBM model 1."""

import torch
from jaxtyping import Float
from torch import Generator, Tensor, rand, randn

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def alignment_error_rate(
    links: set[tuple[int, int]], sure: set[tuple[int, int]], possible: set[tuple[int, int]],
) -> float:
    """How wrong some links between the words of a sentence and its translation are (Och and Ney 2003).

    A link is a pair (position in the target, position in the source). ``links`` is the set A that a model gives.
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


EXERCISES = (
    Exercise(
        "04.4", "the alignment error rate", alignment_error_rate, draw_links,
        mistakes={
            "the 1 − is missing: this is how right the links are": edit("1 - ", ""),
            "P is not used: S counts twice": edit("& possible", "& sure"),
            "a sure link counts once above; it counts twice, for it is in P too": edit("len(links & sure) + ", ""),
            "this is divided by |A| + |P|; it is |A| + |S|": edit("len(sure)", "len(possible)"),
            "this is 1 − the F1 of precision and recall; the alignment error rate adds counts up before it divides":
                edit("return 1 - (len(links & sure) + len(links & possible)) / (len(links) + len(sure))",
                     "precision, recall = len(links & possible) / len(links), len(links & sure) / len(sure)\n"
                     "    return 1 - 2 * precision * recall / (precision + recall)"),
            "only A ∩ P is divided: the sum above stands in parentheses":
                edit("(len(links & sure) + len(links & possible))", "len(links & sure) + len(links & possible)"),
            "|S| is added at the end: the sum below stands in parentheses":
                edit("(len(links) + len(sure))", "len(links) + len(sure)"),
            "0 / 0: if neither A nor S has a link, nothing is wrong, and the rate is 0":
                edit("if not links and not sure:\n        return 0.0\n    ", ""),
            "if neither A nor S has a link, nothing is wrong: the rate is 0, not 1": edit("return 0.0", "return 1.0"),
            "if A or S has no link the rate is not 0: that holds only if both have none": edit("and not", "or not"),
        },
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
        mistakes={
            "the rows are divided by their sums, .sum(1); it is the columns, one for each source word, .sum(0)":
                edit("sum(0)", "sum(1, keepdim=True)"),
            "a word gives t[f, e] itself: divide by the sum of t[f, …] over the words of the source":
                edit(" / t[f, source].sum()", ""),
            "the shares are divided by the sum over the words of the target; it is over those of the source":
                edit("t[f, source]", "t[target, e]"),
            "the shares are divided by the sum over the whole vocabulary; only the words of this source count":
                edit("t[f, source]", "t[f]"),
            "the likeliest word of the source gets all; each gets its share":
                edit("for e in source:\n                counts[f, e] += t[f, e] / t[f, source].sum()",
                     "counts[f, source[t[f, source].argmax()]] += 1"),
            "a word that stands twice in a source is added to once by counts[f, source] += …; take index_put_ with "
            "accumulate=True, or one more loop": edit("in source", "in set(source)"),
            "a place that comes twice is added to once by counts[…] += …; take index_put_ with accumulate=True, or "
            "loops": edit("in source", "in set(source)", "in target", "in set(target)"),
            "only the last sentence counts: the table of zeros is made before the loop":
                edit("strict=True):", "strict=True):\n        counts = torch.zeros_like(t)"),
            "the table t changes after each sentence; all sentences are read with the t that was given":
                edit("strict=True):", "strict=True):\n        counts = torch.zeros_like(t)", "    total =",
                     "        total =", "    return", "        t =", "total, t)", "total, t)\n    return t"),
            "0 / 0 is NaN: the column of a source word in no sentence stays as it was":
                edit("torch.where(total > 0, counts / total, t)", "counts / total"),
        },
        properties={
            "a chance lies beyond 0 and 1": lambda out, *_: bool(((out >= -1e-4) & (out <= 1 + 1e-4)).all()),
            "the chances of a column do not add up to 1":
                lambda out, *_: bool(((out.sum(0) - 1).abs() < 1e-3).all()),
        },
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
)
