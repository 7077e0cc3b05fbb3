"""Telegrams: a translation task whose Chinese sources are corrupted by word dropout, with a test for correct English.

A text is one to four sentences of the small world, sampled independently. The source is their Chinese, from which each
word is dropped with probability ``lost``; the target is their English. Without word loss exactly one target is correct,
because no two sentences have the same Chinese. With word loss several targets are, and more for longer texts."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from math import exp
from random import Random

from plmlab import world
from plmlab.draws import randint
from plmlab.world.probability.automaton import END

LONGEST = 4
"""Maximum number of sentences in a text."""
Words = tuple[str, ...]


@dataclass(frozen=True)
class BilingualSentence:
    """A sentence of the small world in both languages, with its probability."""

    english: Words
    chinese: Words
    chance: float


@dataclass(frozen=True)
class Telegram:
    """A text: the Chinese words that were not lost, and the English of the complete text."""

    source: Words
    target: Words


@cache
def sentences() -> tuple[BilingualSentence, ...]:
    """All 821 sentences of the small world, including its test split; their probabilities add up to 1."""
    small = world.small()

    def endings(prefix: Words) -> Iterator[Words]:
        for word in small.next_words(prefix):
            yield from [prefix] if word == END else endings((*prefix, word))
    parsed = (small.parse(words) for words in endings(()))
    return tuple(BilingualSentence(sentence.words, sentence.chinese, exp(sentence.logprob)) for sentence in parsed)


@cache
def _cumulative() -> list[float]:
    return list(accumulate(sentence.chance for sentence in sentences()))


@cache
def _by_english() -> dict[Words, BilingualSentence]:
    return {sentence.english: sentence for sentence in sentences()}


def draw(lost: float, rng: Random, count: int | None = None) -> Telegram:
    """Sample a text of ``count`` sentences (default: one to four, uniformly). A text that loses all its words is
    resampled, because the empty text would then be a correct translation. Raises ValueError unless 0 ≤ ``lost`` < 1."""
    if not 0 <= lost < 1:
        raise ValueError(f"lost={lost}: the probability that a word is lost must be at least 0 and below 1")
    known, cumulative = sentences(), _cumulative()
    while True:
        drawn = [rng.random() for _ in range(count or 1 + randint(rng, LONGEST))]
        chosen = [known[min(bisect_right(cumulative, u), len(known) - 1)] for u in drawn]
        arrived = tuple(word for s in chosen for word in s.chinese if rng.random() >= lost)
        if arrived:
            return Telegram(arrived, tuple(word for s in chosen for word in s.english))


def split_sentences(english: Sequence[str]) -> list[BilingualSentence] | None:
    """Split an English text into sentences of the world; None if it does not consist of complete sentences."""
    parts, begin = [], 0
    for end in range(1, len(english) + 1):
        sentence = _by_english().get(tuple(english[begin:end]))
        if sentence:
            parts.append(sentence)
            begin = end
    return parts if begin == len(english) else None


def is_correct(source: Sequence[str], english: Sequence[str], lost: float) -> bool:
    """Return whether the English is a possible translation: one to four sentences of the world from whose Chinese the
    source can result by word loss. If ``lost`` is 0, the source must equal their Chinese."""
    parts = split_sentences(english)
    if not parts or len(parts) > LONGEST:
        return False
    chinese = [word for sentence in parts for word in sentence.chinese]
    if not lost:
        return chinese == list(source)
    remaining = iter(chinese)
    return all(word in remaining for word in source)
