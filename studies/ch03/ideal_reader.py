"""The Bayes-optimal translator of telegrams, which knows the world and the probability of word loss; and the conditions
under which the optimum of a training objective prefers the empty text."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from statistics import fmean, median

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.chapters.ch03.noisy_translation import SOURCES, Arm, test_set, tokenizer
from plmlab.chapters.ch03.telegrams import LONGEST, Words, sentences


@dataclass(frozen=True)
class Reading:
    """An English text and its posterior probability given the source."""

    english: Words
    probability: float


def arrivals(source: Sequence[str], lost: float) -> Float[Tensor, "sentence start stop"]:
    """Likelihood of each span ``source[start:stop]`` given each sentence of the world: the probability that the Chinese
    of the sentence becomes exactly that span, summed over all ways to lose words."""
    ids = {word: id for id, word in enumerate(source)}
    tokens = torch.tensor([ids[word] for word in source], dtype=torch.long)
    table = torch.eye(len(source) + 1, dtype=torch.float64).repeat(len(sentences()), 1, 1)
    for index in range(max(len(sentence.chinese) for sentence in sentences())):
        rows = [row for row, sentence in enumerate(sentences()) if index < len(sentence.chinese)]
        words = torch.tensor([ids.get(sentences()[row].chinese[index], -1) for row in rows])
        arrived = torch.zeros(len(rows), *table.shape[1:], dtype=torch.float64)
        arrived[:, :, 1:] = table[rows, :, :-1] * (words[:, None] == tokens)[:, None]
        table[rows] = table[rows] * lost + arrived * (1 - lost)
    return table


def ideal_reading(source: Sequence[str], lost: float) -> Reading:
    """The maximum a posteriori translation of a source and its exact posterior probability, given the world and the
    probability of word loss.

    Uses best-first search over sequences of one to four sentences. The upper bound for a partial sequence takes the
    best sentences separately for every segmentation of the rest of the source. Raises ValueError for a source with
    probability 0.
    """
    priors = torch.tensor([sentence.chance for sentence in sentences()], dtype=torch.float64)
    joint = arrivals(source, lost) * priors[:, None, None]
    rest = torch.zeros(len(source) + 1, dtype=torch.float64)
    rest[-1] = 1.0
    bounds, evidence = [rest], 0.0
    for _ in range(LONGEST):
        rest = joint.sum(0) @ rest
        evidence += float(rest[0])
        bounds.append((joint @ bounds[-1]).amax(0))
    if not evidence:
        raise ValueError(f"the source {' '.join(source)!r} cannot result from any text of one to {LONGEST} sentences")
    waiting: list[tuple[float, int, tuple[int, ...], Tensor | None]] = [
        (-1.0, 0, (), torch.eye(len(source) + 1, dtype=torch.float64)[0])]
    counter = 0
    while True:
        value, _, prefix, forward = heappop(waiting)
        if forward is None:
            return Reading(tuple(word for row in prefix for word in sentences()[row].english), -value / evidence)
        longer = torch.einsum("i,sij->sj", forward, joint)  # [sentence stop]
        limits = [longer @ bound for bound in bounds[1:LONGEST - len(prefix)]]
        for ends, scores in [(True, longer[:, -1]), *([(False, torch.stack(limits).amax(0))] if limits else [])]:
            for row in scores.nonzero()[:, 0].tolist():
                counter += 1
                heappush(waiting, (-float(scores[row]), counter, (*prefix, row), None if ends else longer[row]))


def ideal(lost: float, count: int, seed: int) -> list[tuple[float, int]]:
    """For each telegram of a seed's test set, the probability and the length in words of its most probable text."""
    readings = [ideal_reading(telegram.source, lost) for telegram in test_set(lost, count, seed, SOURCES)]
    return [(reading.probability, len(reading.english)) for reading in readings]


def prefers_empty(arm: Arm, probability: float, words: int) -> bool:
    """Return whether the optimum of a configuration's training objective prefers the empty text to a text of ``words``
    words with this posterior ``probability``.

    The optimum assigns p(empty) = (1 − ε) · noise + ε / V to the empty text and (1 − noise) · probability · (1 −
    ε)^(words + 1) to the other, where ε is the label smoothing. The ε / V that smoothing adds to each word of the text
    is left out, and other texts may be more probable, so with smoothing this is an upper bound.
    """
    keep = 1 - arm.smoothing
    return (1 - arm.noise) * probability * keep**(words + 1) < keep * arm.noise + arm.smoothing / len(tokenizer())


def learned_perfectly(arm: Arm, readings: Sequence[Sequence[float | int]]) -> dict[str, float]:
    """The fraction of the results of `ideal` for which the optimum of the training objective prefers the ``empty``
    text; and ``p(best)``, the median posterior probability of the most probable text."""
    return {"empty": fmean(prefers_empty(arm, p, int(words)) for p, words in readings),
            "p(best)": median(p for p, _ in readings)}
