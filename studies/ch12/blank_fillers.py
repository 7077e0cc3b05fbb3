"""Predictors that fill the blanks of the test set without a network: exact posteriors, and baselines that count
training text."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from operator import itemgetter
from statistics import fmean, mode
from typing import Any

from plmlab import world
from plmlab.chapters.ch12 import blank_test_set
from plmlab.chapters.ch12.blank_test_set import Fillings, Row, how_drawn, likeliest_fillings, scores_of, ways
from plmlab.world.probability.automaton import END
from plmlab.world.probability.blanks import BLANK, Blanks, DrawnBlanks, Filling

COUNTED = 10_000
"""Number of training sentences in which lengths and spans are counted."""


@cache
def counted() -> tuple[Row, ...]:
    """Rows of training text in which the lengths and spans are counted."""
    return tuple(islice(blank_test_set.drawn_rows(world.small().text("train", 80), 80), COUNTED))


def greedy_fillings(reader: Blanks) -> Fillings:
    """Greedy decoding from the exact conditionals: the most probable word, or end, at each step, from left to right."""
    found = []
    for blank in range(reader.count):
        said: list[str] = []
        while (word := next(iter(reader.next_words(blank, said)))) != END:
            said.append(word)
        reader = reader.fill({blank: said})
        found.append(tuple(said))
    return tuple(found)


def told_fillings(row: Row) -> tuple[Fillings, float]:
    """The most probable way to fill the blanks given their lengths, and the probability of this filling."""
    positions = [place for begin, stop in row.spans for place in range(begin, stop)]
    beliefs = world.small().joint(row.words, positions, "test")
    said = max(beliefs, key=beliefs.__getitem__)
    left = iter(said)
    return tuple(tuple(islice(left, stop - begin)) for begin, stop in row.spans), beliefs[said]


def exact(name: str) -> dict[str, dict[str, float]]:
    """Map each exact predictor to its scores (`scores_of`) on these rows. "takes nothing from the drawing" knows only
    the grammar; "lengths given" is given one [MASK] per word, so its expected accuracy (``expects``) is above its
    ``chance``."""
    automaton, asked = world.small().automaton("test"), blank_test_set.rows(name)
    counts = [DrawnBlanks(automaton, row.text, drawing=how_drawn(row)) for row in asked]
    plain = [Blanks(automaton, row.text) for row in asked]

    def best(readers: Sequence[Blanks]) -> list[tuple[Fillings, float]]:
        return [likeliest_fillings(reader, range(reader.count)) for reader in readers]

    found = {"likeliest": best(counts), "lengths given": [told_fillings(row) for row in asked],
             "takes nothing from the drawing": best(plain)}
    told = {way: scores_of(asked, [fillings for fillings, _ in pairs]) for way, pairs in found.items()}
    told["lengths given"]["expects"] = fmean(chance for _, chance in found["lengths given"])
    told["greedy"] = scores_of(asked, [greedy_fillings(reader) for reader in counts])
    lengths = [max(beliefs, key=beliefs.__getitem__) for beliefs in (reader.lengths(0) for reader in counts)]
    told["likeliest length"] = {"first": fmean(length == len(row.fillings[0])
                                               for length, row in zip(lengths, asked, strict=True))}
    return told


@cache
def table(sentences: int, seed: int = 0) -> dict[tuple[str, ...], int]:
    """The counts of this many training sentences, the most frequent sentence first."""
    return dict(Counter(map(tuple, islice(world.small().text("train", seed), sentences))).most_common())


def looked_up(asked: Sequence[Row], sentences: int) -> list[Fillings]:
    """Lookup baseline: the most frequent of this many training sentences that matches the visible words; empty fillings
    if none matches."""
    return [next((way for words in table(sentences) for way in ways(words, row.text)), ((),) * len(row.spans))
            for row in asked]


def neighbours(row: Row) -> list[tuple[str, str]]:
    """The tokens before and after each blank; "" at an edge of the text."""
    text = ["", *row.text, ""]
    return [(text[place - 1], text[place + 1]) for place, token in enumerate(text) if token == BLANK]


def between_neighbours(asked: Sequence[Row]) -> list[Fillings]:
    """Fill each blank with the most frequent masked span of the training text between the same two tokens, or otherwise
    with the most frequent span anywhere."""
    anywhere, between = Counter[Filling](), defaultdict[tuple[str, str], Counter[Filling]](Counter)
    for row in counted():
        anywhere.update(row.fillings)
        for place, filling in zip(neighbours(row), row.fillings, strict=True):
            between[place][filling] += 1
    return [tuple(max(between.get(place, anywhere).items(), key=itemgetter(1))[0] for place in neighbours(row))
            for row in asked]


def lengths_in_sight() -> dict[int, list[int]]:
    """Map each number of visible tokens, in which each blank counts as one, to the lengths of the blanks of training
    rows with this number."""
    found = defaultdict[int, list[int]](list)
    for row in counted():
        found[len(row.text)] += map(len, row.fillings)
    return dict(found)


def first_length_in_sight(asked: Sequence[Row]) -> float:
    """Fraction of rows whose first blank has the most frequent length among training rows with the same number of
    visible tokens."""
    common = {sight: mode(lengths) for sight, lengths in lengths_in_sight().items()}
    return fmean(common.get(len(row.text)) == len(row.fillings[0]) for row in asked)


def baselines(name: str, sentences: int) -> dict[str, Any]:
    """Map each baseline without a network to its scores (`scores_of`); and ``read`` to the fraction of rows whose
    sentence occurs in this much text."""
    asked = blank_test_set.rows(name)
    fillers: dict[str, Callable[[], list[Fillings]]] = {
        "table": lambda: looked_up(asked, sentences), "between neighbours": lambda: between_neighbours(asked)}
    return {**{way: scores_of(asked, fill()) for way, fill in fillers.items()},
            "length by tokens in sight": {"first": first_length_in_sight(asked)},
            "read": fmean(row.words in table(sentences) for row in asked)}
