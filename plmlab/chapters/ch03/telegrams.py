"""Telegrams to translate: Chinese sentences of the small world of which words are lost; and which English is right.

A text is one to four sentences of the small world, drawn independently. Its source is their Chinese, each word lost
with the chance ``lost``; its target is their English. Without losses one target is right, for no two sentences have the
same Chinese. With losses more are, the more sentences the more.
"""

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
"""The most sentences of a text."""
Words = tuple[str, ...]


@dataclass(frozen=True)
class Said:
    """A sentence of the small world in both languages, and its chance."""

    english: Words
    chinese: Words
    chance: float


@dataclass(frozen=True)
class Telegram:
    """A text: the Chinese words that arrived, and the English of all that was said."""

    source: Words
    target: Words


@cache
def sentences() -> tuple[Said, ...]:
    """Every sentence of the small world, 821 of them, those of its test too; their chances add up to 1."""
    small = world.small()

    def endings(begun: Words) -> Iterator[Words]:
        for word in small.next_words(begun):
            yield from [begun] if word == END else endings((*begun, word))
    parsed = (small.parse(words) for words in endings(()))
    return tuple(Said(sentence.words, sentence.chinese, exp(sentence.logprob)) for sentence in parsed)


@cache
def _reached() -> list[float]:
    return list(accumulate(said.chance for said in sentences()))


@cache
def _by_english() -> dict[Words, Said]:
    return {said.english: said for said in sentences()}


def draw(lost: float, rng: Random, count: int | None = None) -> Telegram:
    """A text of ``count`` sentences, or of one to four, each number as likely. One of which no word arrives is drawn
    anew, since to say nothing would be a fair translation of it. ValueError for a chance that is not from 0 to 1."""
    if not 0 <= lost < 1:
        raise ValueError(f"lost={lost}: the chance that a word is lost is from 0 on and below 1")
    known, reached = sentences(), _reached()
    while True:
        drawn = [rng.random() for _ in range(count or 1 + randint(rng, LONGEST))]
        told = [known[min(bisect_right(reached, chance), len(known) - 1)] for chance in drawn]
        arrived = tuple(word for said in told for word in said.chinese if rng.random() >= lost)
        if arrived:
            return Telegram(arrived, tuple(word for said in told for word in said.english))


def cut(english: Sequence[str]) -> list[Said] | None:
    """The sentences that an English text is made of; None if it is not made of whole sentences of the world."""
    found, begun = [], 0
    for end in range(1, len(english) + 1):
        said = _by_english().get(tuple(english[begun:end]))
        if said:
            found.append(said)
            begun = end
    return found if begun == len(english) else None


def is_right(source: Sequence[str], english: Sequence[str], lost: float) -> bool:
    """Whether the English could be what was said: one to four sentences of the world, from whose Chinese the source
    comes by losing words; where none are lost, it is their Chinese."""
    told = cut(english)
    if not told or len(told) > LONGEST:
        return False
    chinese = [word for said in told for word in said.chinese]
    if not lost:
        return chinese == list(source)
    left = iter(chinese)
    return all(word in left for word in source)
