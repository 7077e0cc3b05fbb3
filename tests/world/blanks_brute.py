"""Texts with blanks, filled in all ways that give a sentence: the independent oracle of `Blanks` and its Examples."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from random import Random

from world_brute import Language

from plmlab.draws import randint, shuffled
from plmlab.world.probability.automaton import END
from plmlab.world.probability.blanks import BLANK, Drawing, Span

Fillings = tuple[tuple[str, ...], ...]


def fillings(text: Sequence[str], words: Sequence[str]) -> Iterator[Fillings]:
    """All ways in which a sentence comes of the text: the words of each blank."""
    if not text:
        if not words:
            yield ()
    elif text[0] != BLANK:
        if words and words[0] == text[0]:
            yield from fillings(text[1:], words[1:])
    else:
        for length in range(1, len(words) + 1):
            yield from ((tuple(words[:length]), *rest) for rest in fillings(text[1:], words[length:]))


def spans_of(text: Sequence[str], said: Fillings) -> list[Span]:
    """Where the blanks lie in the sentence that these fillings make."""
    spans, place, blanks = [], 0, iter(said)
    for word in text:
        length = len(next(blanks)) if word == BLANK else 1
        if word == BLANK:
            spans.append((place, place + length))
        place += length
    return spans


def all_fillings(sentences: Language, text: Sequence[str], filled: Mapping[int, Sequence[str]],
                 drawing: Drawing = lambda count, spans: 1.0) -> dict[Fillings, float]:
    """Every way to fill all blanks, and its mass: that of its sentence, times that of the spans."""
    found = {}
    for words, p in sentences.items():
        for said in fillings(text, words):
            mass = p * drawing(len(words), spans_of(text, said))
            if mass and all(said[blank] == tuple(held) for blank, held in filled.items()):
                found[said] = mass
    return found


def of_blank(ways: Mapping[Fillings, float], blank: int) -> dict[tuple[str, ...], float]:
    """Every filling of one blank, and its posterior probability."""
    found: dict[tuple[str, ...], float] = defaultdict(float)
    for said, mass in ways.items():
        found[said[blank]] += mass / sum(ways.values())
    return dict(found)


def next_by_hand(ways: Mapping[Fillings, float], blank: int, written: Sequence[str]) -> dict[str, float]:
    """What comes behind the words written in a blank, or END."""
    masses: dict[str, float] = defaultdict(float)
    for said, mass in ways.items():
        if said[blank][:len(written)] == tuple(written):
            masses[(*said[blank], END)[len(written)]] += mass
    return {word: mass / sum(masses.values()) for word, mass in masses.items()}


def all_spans(count: int, begin: int = 0) -> Iterator[list[Span]]:
    """All ways to hide spans of so many words with a word at least between two, nothing hidden among them."""
    yield []
    for first in range(begin, count):
        for stop in range(first + 1, count + 1):
            yield from ([(first, stop), *rest] for rest in all_spans(count, stop + 1))


def draw_spans(rng: Random, count: int) -> list[Span]:
    """One to three spans, which may touch, reach both ends and be all of the sentence."""
    ends = sorted(shuffled(rng, range(count + 1))[:2 + 2 * randint(rng, 3)])
    spans = list(zip(ends[::2], ends[1::2], strict=False))
    if spans[-1][1] < count and rng.random() < 0.3:
        spans.append((spans[-1][1], count))
    return spans
