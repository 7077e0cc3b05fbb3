"""Sentences of the small world with blanks: the exam, how fillings are judged, and the exact filler.

Spans are drawn as GLM draws them, three words in ten, so that a sentence has one blank or two, seldom more. The exam
is of the plain test. The small world has 821 sentences, so that nearly all of the exam stands in the training text
too; rows of the nine sentences that do not are asked beside it, each with many drawings. Two rows
in three have one blank; what several blanks owe to each other is asked of `several`, rows that have two or more.

The exact filler knows the grammar and how spans are drawn: of all ways to fill the blanks it takes the likeliest. No
one is right more often in the long run. But where several ways are likely it is luck which of them is right, and 300
rows have much of that. So a filling is also judged by its *chance*: how likely the exact filler, who sees what is in
sight, thinks it to be right. Its mean is what would be right on average over all sentences that show such texts.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import cycle, islice
from math import exp
from random import Random
from statistics import fmean
from typing import NamedTuple

from plmlab import world
from plmlab.draws import shuffled
from plmlab.objectives.blanks import draw_spans
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from plmlab.world.probability.blanks import BLANK, Blanks, Drawing, Filling, Span
from plmlab.world.probability.drawn_spans import blank_spans
from plmlab.world.probability.infilling import part_a
from plmlab.world.probability.likeliest import likeliest

RATE = 0.3
TEST_SIZE, SEVERAL, DEVELOPMENT, UNREAD = 300, 200, 100, 90
"""Rows of the exam; those with several blanks; those that ways to fill are chosen by; and those of sentences that no
training text has."""
Fillings = tuple[Filling, ...]
"""The words of each blank of a text, in its order."""


class Row(NamedTuple):
    """A sentence, its hidden spans in the order of the text, and the order in which they are filled in training."""

    words: tuple[str, ...]
    spans: tuple[Span, ...]
    order: tuple[int, ...]

    @property
    def text(self) -> list[str]:
        """What is in sight: the sentence with a `BLANK` for each span."""
        return part_a(self.words, self.spans)

    @property
    def fillings(self) -> Fillings:
        """What is hidden."""
        return tuple(self.words[begin:stop] for begin, stop in self.spans)


def encoded(words: Sequence[str]) -> list[int]:
    """The ids of words, some of them perhaps `BLANK`."""
    return [small_world_tokenizer().id(word) for word in words]


def in_words(fillings: Sequence[Sequence[Sequence[int]]]) -> list[list[list[str]]]:
    """Fillings of ids as fillings of words."""
    return [[small_world_tokenizer().tokens(words) for words in row] for row in fillings]


def drawn(count: int, rng: Random) -> tuple[Span, ...]:
    """Spans of so many words, in the order of the text."""
    return tuple(draw_spans(count, RATE, rng))


def drawn_rows(sentences: Iterator[Sequence[str]], seed: int) -> Iterator[Row]:
    """Sentences with spans drawn in each, by a seed."""
    rng = Random(f"blanks {seed}")
    for words in sentences:
        spans = drawn(len(words), rng)
        yield Row(tuple(words), spans, tuple(shuffled(rng, range(len(spans)))))


@cache
def rows(name: str) -> tuple[Row, ...]:
    """The rows of the "exam", those with "several" blanks, those of "development", or the "unread" ones."""
    small = world.small()
    if name == "unread":
        new = dict.fromkeys(one.words for one in islice(small.sentences("test", 79), 4000)
                            if one.pattern in small.open_patterns)
        return tuple(islice(drawn_rows(cycle(new), 79), UNREAD))
    split, seed, count, fewest = {"test_set": ("test", 77, TEST_SIZE, 1), "several": ("test", 76, SEVERAL, 2),
                                  "development": ("train", 78, DEVELOPMENT, 1)}[name]
    return tuple(islice((row for row in drawn_rows(small.text(split, seed), seed) if len(row.spans) >= fewest), count))


def whole(row: Row, fillings: Sequence[Sequence[str]]) -> list[str]:
    """The text of a row with its blanks filled."""
    left = iter(fillings)
    return [word for token in row.text for word in (next(left) if token == BLANK else [token])]


@cache
def every() -> tuple[tuple[tuple[str, ...], float], ...]:
    """Every sentence of the small world, and its probability."""
    return tuple((words, exp(nats)) for words, nats in likeliest(world.small().automaton("test"), (), 100_000))


@cache
def chances(row: Row, told: bool = False) -> dict[Fillings, float]:
    """Each way to fill the blanks of a row, and how likely it is; ``told``: for who sees the `shown_places` too."""
    drawing, masses = how_drawn(row, told), defaultdict[Fillings, float](float)
    for words, chance in every():
        for way in ways(words, row.text):
            spans, place, left = list[Span](), 0, iter(way)
            for token in row.text:
                length = len(next(left)) if token == BLANK else 1
                if token == BLANK:
                    spans.append((place, place + length))
                place += length
            masses[way] += chance * drawing(len(words), spans)
    total = sum(masses.values())
    return {way: mass / total for way, mass in masses.items() if mass}


def judged(asked: Sequence[Row], fillings: Sequence[Sequence[Sequence[str]]]) -> dict[str, float]:
    """Of rows the share that is ``right`` to the last word, in which all blanks have the right ``length``, in which the
    ``first`` has, and where the filled text is a ``sentence`` of the world; and the mean ``chance`` of what was said.
    """
    said = [tuple(map(tuple, filling)) for filling in fillings]
    lengths = [tuple(map(len, one)) for one in said]
    hidden = [tuple(map(len, row.fillings)) for row in asked]
    return {"right": fmean(one == row.fillings for row, one in zip(asked, said, strict=True)),
            "chance": fmean(chances(row).get(one, 0.0) for row, one in zip(asked, said, strict=True)),
            "length": fmean(one == other for one, other in zip(lengths, hidden, strict=True)),
            "first": fmean(one[0] == other[0] for one, other in zip(lengths, hidden, strict=True)),
            "sentence": fmean(world.small().logprob(whole(row, one), "test") > float("-inf")
                              for row, one in zip(asked, said, strict=True))}


def shown_places(count: int, spans: Sequence[Span]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The places of the words in sight, and where each blank begins: what is told where Part A has the places of the
    whole text. Of a blank at the end, that is not its length."""
    hidden = {place for begin, stop in spans for place in range(begin, stop)}
    return tuple(place for place in range(count) if place not in hidden), tuple(begin for begin, _ in spans)


def places_of(row: Row) -> list[int]:
    """The places of Part A in the whole text, from 1."""
    seen, begins = shown_places(len(row.words), row.spans)
    return sorted(place + 1 for place in (*seen, *begins))


def how_drawn(row: Row, told: bool = False) -> Drawing:
    """How spans are drawn, for the exact filler; ``told``: who sees the `shown_places` of this row too."""
    plain = partial(blank_spans, rate=RATE)
    if not told:
        return plain
    seen = shown_places(len(row.words), row.spans)
    return lambda count, spans: plain(count, spans) if shown_places(count, spans) == seen else 0.0


def likeliest_fillings(reader: Blanks, blanks: Sequence[int]) -> tuple[Fillings, float]:
    """The likeliest way to fill these blanks together, in their order, and its posterior probability.

    Fillings of the first are gone through from the likeliest on. One is no likelier together with the others than
    alone: it is over where the next alone is not above the best found.
    """
    if not blanks:
        return (), 1.0
    first, *rest = blanks
    best: tuple[Fillings, float] = (), 0.0
    count = 8 if rest else 1
    while True:
        found = reader.likeliest(first, count)
        for filling, alone in found:
            if alone <= best[1]:
                return best
            others, chance = likeliest_fillings(reader.fill({first: filling}), rest)
            if alone * chance > best[1]:
                best = (filling, *others), alone * chance
        if len(found) < count or not rest:
            return best
        count *= 8


def ways(words: Sequence[str], text: Sequence[str]) -> Iterator[Fillings]:
    """Each way to fill the blanks of a text, with a word or more each, so that it reads as these words."""
    if not text:
        if not words:
            yield ()
    elif text[0] == BLANK:
        for stop in range(1, len(words) - len(text) + 2):
            yield from ((tuple(words[:stop]), *rest) for rest in ways(words[stop:], text[1:]))
    elif words and words[0] == text[0]:
        yield from ways(words[1:], text[1:])
