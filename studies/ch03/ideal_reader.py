"""The ideal reader of telegrams, who knows the world and the chance of losses: what it reads, and where one who has
learned perfectly what an arm's targets ask for prefers the empty text."""

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
    """An English text, and its probability given the source."""

    english: Words
    probability: float


def arrivals(source: Sequence[str], lost: float) -> Float[Tensor, "sentence start stop"]:
    """For each sentence of the world and each piece ``source[start:stop]``: the chance that its Chinese arrives as just
    that piece, over all the ways to lose words."""
    ids = {word: id for id, word in enumerate(source)}
    letters = torch.tensor([ids[word] for word in source], dtype=torch.long)
    told = torch.eye(len(source) + 1, dtype=torch.float64).repeat(len(sentences()), 1, 1)
    for place in range(max(len(said.chinese) for said in sentences())):
        there = [row for row, said in enumerate(sentences()) if place < len(said.chinese)]
        words = torch.tensor([ids.get(sentences()[row].chinese[place], -1) for row in there])
        kept = torch.zeros(len(there), *told.shape[1:], dtype=torch.float64)
        kept[:, :, 1:] = told[there, :, :-1] * (words[:, None] == letters)[:, None]
        told[there] = told[there] * lost + kept * (1 - lost)
    return told


def ideal_reading(source: Sequence[str], lost: float) -> Reading:
    """The likeliest English of a source and its exact probability, for a reader who knows the world and the chance of
    losses.

    A best-first search over sequences of one to four sentences. What is begun is bounded by what could follow if every
    way to part the rest of the source took its own best sentences. ValueError for a source that cannot arise.
    """
    chances = torch.tensor([said.chance for said in sentences()], dtype=torch.float64)
    joint = arrivals(source, lost) * chances[:, None, None]
    rest = torch.zeros(len(source) + 1, dtype=torch.float64)
    rest[-1] = 1.0
    bounds, evidence = [rest], 0.0
    for _ in range(LONGEST):
        rest = joint.sum(0) @ rest
        evidence += float(rest[0])
        bounds.append((joint @ bounds[-1]).amax(0))
    if not evidence:
        raise ValueError(f"no text of one to {LONGEST} sentences can arrive as {' '.join(source)!r}")
    waiting: list[tuple[float, int, tuple[int, ...], Tensor | None]] = [
        (-1.0, 0, (), torch.eye(len(source) + 1, dtype=torch.float64)[0])]
    pushed = 0
    while True:
        value, _, told, reached = heappop(waiting)
        if reached is None:
            return Reading(tuple(word for one in told for word in sentences()[one].english), -value / evidence)
        longer = torch.einsum("i,sij->sj", reached, joint)
        hopes = [longer @ bound for bound in bounds[1:LONGEST - len(told)]]
        for ends, scores in [(True, longer[:, -1]), *([(False, torch.stack(hopes).amax(0))] if hopes else [])]:
            for one in scores.nonzero()[:, 0].tolist():
                pushed += 1
                heappush(waiting, (-float(scores[one]), pushed, (*told, one), None if ends else longer[one]))


def ideal(lost: float, count: int, seed: int) -> list[tuple[float, int]]:
    """For each telegram of a seed's exam: the probability of its likeliest text, and that text's words."""
    readings = [ideal_reading(telegram.source, lost) for telegram in test_set(lost, count, seed, SOURCES)]
    return [(reading.probability, len(reading.english)) for reading in readings]


def prefers_empty(arm: Arm, probability: float, words: int) -> bool:
    """Whether a perfect learner of an arm's targets prefers the empty text to one of so many ``words``, which has that
    ``probability`` given the source.

    It has p(empty) = (1 − ε) · noise + ε / V, and leaves the text (1 − noise) · probability · (1 − ε)^(words + 1), ε
    being the smoothing. The shares that smoothing gives to the text's own words (ε / V each) are left out, and other
    texts may be likelier to it: with smoothing it prefers the empty one at most so often.
    """
    kept = 1 - arm.smoothing
    return (1 - arm.noise) * probability * kept**(words + 1) < kept * arm.noise + arm.smoothing / len(tokenizer())


def learned_perfectly(arm: Arm, readings: Sequence[Sequence[float | int]]) -> dict[str, float]:
    """The share of `ideal` readings to which a perfect learner of an arm prefers the ``empty`` text, and ``p(best)``,
    the median chance of the likeliest text in the world."""
    return {"empty": fmean(prefers_empty(arm, chance, int(words)) for chance, words in readings),
            "p(best)": median(chance for chance, _ in readings)}
