"""Sentences of the small world with blanks: the test set, the scores of fillings, and the exact posterior over
fillings.

Spans are sampled as in GLM and cover three words in ten, so that a sentence has one or two blanks, rarely more. The
test set is taken from the plain test split. The small world has 821 sentences, so nearly all of the test set also
occurs in the training text; the nine sentences that do not are tested separately, each with many sampled masks. Two
thirds of the rows have one blank; dependencies between blanks are tested on `several`, rows with two or more blanks.

The exact posterior knows the grammar and how spans are sampled; its prediction is the most probable way to fill the
blanks. No predictor has a higher expected accuracy. But if several fillings are probable, it is a matter of luck which
of them is correct, which has a large effect with 300 rows. So a filling is also scored by its ``chance``, the
probability under the exact posterior that it is correct, given the visible words. The mean of this score is the
expected accuracy over all sentences with the same visible text.
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
"""Rows of the test set; rows with several blanks; rows for choosing decoding methods; and rows of sentences that occur
in no training text."""
Fillings = tuple[Filling, ...]
"""The words of each blank of a text, in text order."""


class Row(NamedTuple):
    """A sentence, its masked spans in text order, and the order in which they are filled in training."""

    words: tuple[str, ...]
    spans: tuple[Span, ...]
    order: tuple[int, ...]

    @property
    def text(self) -> list[str]:
        """The visible text: the sentence with a `BLANK` for each span."""
        return part_a(self.words, self.spans)

    @property
    def fillings(self) -> Fillings:
        """The masked words of each span."""
        return tuple(self.words[begin:stop] for begin, stop in self.spans)


def encoded(words: Sequence[str]) -> list[int]:
    """The ids of words, which may include `BLANK`."""
    return [small_world_tokenizer().id(word) for word in words]


def in_words(fillings: Sequence[Sequence[Sequence[int]]]) -> list[list[list[str]]]:
    """Convert fillings from token ids to words."""
    return [[small_world_tokenizer().tokens(words) for words in row] for row in fillings]


def drawn(count: int, rng: Random) -> tuple[Span, ...]:
    """Sample the spans for a sentence with this many words, in text order."""
    return tuple(draw_spans(count, RATE, rng))


def drawn_rows(sentences: Iterator[Sequence[str]], seed: int) -> Iterator[Row]:
    """Sentences with sampled spans; the samples depend on the seed."""
    rng = Random(f"blanks {seed}")
    for words in sentences:
        spans = drawn(len(words), rng)
        yield Row(tuple(words), spans, tuple(shuffled(rng, range(len(spans)))))


@cache
def rows(name: str) -> tuple[Row, ...]:
    """The rows of the "test_set"; those with "several" blanks; those for "development"; or those of "unread"
    sentences."""
    small = world.small()
    if name == "unread":
        unseen = dict.fromkeys(one.words for one in islice(small.sentences("test", 79), 4000)
                               if one.pattern in small.open_patterns)
        return tuple(islice(drawn_rows(cycle(unseen), 79), UNREAD))
    split, seed, count, fewest = {"test_set": ("test", 77, TEST_SIZE, 1), "several": ("test", 76, SEVERAL, 2),
                                  "development": ("train", 78, DEVELOPMENT, 1)}[name]
    return tuple(islice((row for row in drawn_rows(small.text(split, seed), seed) if len(row.spans) >= fewest), count))


def whole(row: Row, fillings: Sequence[Sequence[str]]) -> list[str]:
    """The text of a row with its blanks filled."""
    left = iter(fillings)
    return [word for token in row.text for word in (next(left) if token == BLANK else [token])]


@cache
def every() -> tuple[tuple[tuple[str, ...], float], ...]:
    """Every sentence of the small world with its probability."""
    return tuple((words, exp(nats)) for words, nats in likeliest(world.small().automaton("test"), (), 100_000))


@cache
def filling_probs(row: Row, length_known: bool = False) -> dict[Fillings, float]:
    """Map each way to fill a row's blanks to its posterior probability; with ``length_known``, given the
    `shown_places` as well."""
    drawing, masses = how_drawn(row, length_known), defaultdict[Fillings, float](float)
    for words, chance in every():
        for filling in ways(words, row.text):
            spans, place, left = list[Span](), 0, iter(filling)
            for token in row.text:
                length = len(next(left)) if token == BLANK else 1
                if token == BLANK:
                    spans.append((place, place + length))
                place += length
            masses[filling] += chance * drawing(len(words), spans)
    total = sum(masses.values())
    return {filling: mass / total for filling, mass in masses.items() if mass}


def scores_of(asked: Sequence[Row], fillings: Sequence[Sequence[Sequence[str]]]) -> dict[str, float]:
    """Scores of fillings, as fractions of the rows: all words are correct (``right``), all blanks have the correct
    ``length``, the ``first`` blank has the correct length, or the filled text is a ``sentence`` of the world.
    ``chance`` is the mean posterior probability of the fillings."""
    predicted = [tuple(map(tuple, filling)) for filling in fillings]
    lengths = [tuple(map(len, filling)) for filling in predicted]
    true_lengths = [tuple(map(len, row.fillings)) for row in asked]
    return {"right": fmean(filling == row.fillings for row, filling in zip(asked, predicted, strict=True)),
            "chance": fmean(filling_probs(row).get(filling, 0.0) for row,
                            filling in zip(asked, predicted, strict=True)),
            "length": fmean(ours == true for ours, true in zip(lengths, true_lengths, strict=True)),
            "first": fmean(ours[0] == true[0] for ours, true in zip(lengths, true_lengths, strict=True)),
            "sentence": fmean(world.small().logprob(whole(row, filling), "test") > float("-inf")
                              for row, filling in zip(asked, predicted, strict=True))}


def shown_places(count: int, spans: Sequence[Span]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The positions of the visible words, and the start of each blank, which Part A reveals if its position ids refer
    to the whole text. They do not reveal the length of a blank at the end."""
    masked = {place for begin, stop in spans for place in range(begin, stop)}
    return tuple(place for place in range(count) if place not in masked), tuple(begin for begin, _ in spans)


def places_of(row: Row) -> list[int]:
    """Positions of Part A's tokens in the whole text, from 1."""
    seen, begins = shown_places(len(row.words), row.spans)
    return sorted(place + 1 for place in (*seen, *begins))


def how_drawn(row: Row, length_known: bool = False) -> Drawing:
    """The distribution of the sampled spans under which the exact posterior is computed; with ``length_known``, given
    the `shown_places` of this row as well."""
    plain = partial(blank_spans, rate=RATE)
    if not length_known:
        return plain
    seen = shown_places(len(row.words), row.spans)
    return lambda count, spans: plain(count, spans) if shown_places(count, spans) == seen else 0.0


def likeliest_fillings(reader: Blanks, blanks: Sequence[int]) -> tuple[Fillings, float]:
    """The most probable joint filling of these blanks, in their order, and its posterior probability.

    Fillings of the first blank are tried in order of decreasing probability. The joint probability is at most that of
    the first blank's filling alone, so the search stops when the probability of the next such filling does not exceed
    the best joint probability found.
    """
    if not blanks:
        return (), 1.0
    first, *rest = blanks
    best: tuple[Fillings, float] = (), 0.0
    count = 8 if rest else 1
    while True:
        candidates = reader.likeliest(first, count)
        for filling, alone in candidates:
            if alone <= best[1]:
                return best
            others, chance = likeliest_fillings(reader.fill({first: filling}), rest)
            if alone * chance > best[1]:
                best = (filling, *others), alone * chance
        if len(candidates) < count or not rest:
            return best
        count *= 8


def ways(words: Sequence[str], text: Sequence[str]) -> Iterator[Fillings]:
    """All ways to fill the blanks of a text, with one or more words each, that yield these words."""
    if not text:
        if not words:
            yield ()
    elif text[0] == BLANK:
        for stop in range(1, len(words) - len(text) + 2):
            yield from ((tuple(words[:stop]), *rest) for rest in ways(words[stop:], text[1:]))
    elif words and words[0] == text[0]:
        yield from ways(words[1:], text[1:])
