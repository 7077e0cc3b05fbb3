"""Sentences of the small world with blanks: the exam, how fillings are judged, and who needs no network to fill them.

Spans are drawn as GLM draws them, three words in ten, so that a sentence has one blank or two, seldom more. The exam
is of the plain test. The small world has 821 sentences, so that nearly all of the exam stands in the training text too
(`read` tells the share); rows of the nine sentences that do not are asked beside it, each with many drawings. Two rows
in three have one blank; what several blanks owe to each other is asked of `several`, rows that have two or more.

The exact filler knows the grammar and how spans are drawn: of all ways to fill the blanks it takes the likeliest. No
one is right more often in the long run. But where several ways are likely it is luck which of them is right, and 300
rows have much of that. So a filling is also judged by its *chance*: how likely the exact filler, who sees what is in
sight, thinks it to be right. Its mean is what would be right on average over all sentences that show such texts.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import cycle, islice
from math import exp
from operator import itemgetter
from random import Random
from statistics import fmean, mode
from typing import Any, NamedTuple

from plmlab import world
from plmlab.draws import shuffled
from plmlab.objectives.blanks import draw_spans
from plmlab.world.datasets.tokenizer import small_spelling
from plmlab.world.probability.automaton import END
from plmlab.world.probability.blanks import BLANK, Blanks, Drawing, DrawnBlanks, Filling, Span
from plmlab.world.probability.drawn_spans import blank_spans
from plmlab.world.probability.infilling import part_a
from plmlab.world.probability.likeliest import likeliest

RATE = 0.3
EXAM, SEVERAL, DEVELOPMENT, UNREAD = 300, 200, 100, 90
"""Rows of the exam; those with several blanks; those that ways to fill are chosen by; and those of sentences that no
training text has."""
COUNTED = 10_000
"""Training sentences by which lengths and spans are counted."""
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
    return [small_spelling().id(word) for word in words]


def in_words(fillings: Sequence[Sequence[Sequence[int]]]) -> list[list[list[str]]]:
    """Fillings of ids as fillings of words."""
    return [[small_spelling().tokens(words) for words in row] for row in fillings]


def drawn(count: int, rng: Random) -> tuple[Span, ...]:
    """Spans of so many words, in the order of the text."""
    return tuple(draw_spans(count, RATE, rng))


def _rows(sentences: Iterator[Sequence[str]], seed: int) -> Iterator[Row]:
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
        return tuple(islice(_rows(cycle(new), 79), UNREAD))
    split, seed, count, fewest = {"exam": ("test", 77, EXAM, 1), "several": ("test", 76, SEVERAL, 2),
                                  "development": ("train", 78, DEVELOPMENT, 1)}[name]
    return tuple(islice((row for row in _rows(small.text(split, seed), seed) if len(row.spans) >= fewest), count))


@cache
def counted() -> tuple[Row, ...]:
    """Rows of training text by which lengths and spans are counted."""
    return tuple(islice(_rows(world.small().text("train", 80), 80), COUNTED))


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


def greedy_fillings(reader: Blanks) -> Fillings:
    """What comes of taking the likeliest word, or the end, each time, from left to right."""
    found = []
    for blank in range(reader.count):
        said: list[str] = []
        while (word := next(iter(reader.next_words(blank, said)))) != END:
            said.append(word)
        reader = reader.fill({blank: said})
        found.append(tuple(said))
    return tuple(found)


def told_fillings(row: Row) -> tuple[Fillings, float]:
    """The likeliest way to fill the blanks for who is told their lengths, and its probability."""
    slots = [place for begin, stop in row.spans for place in range(begin, stop)]
    beliefs = world.small().joint(row.words, slots, "test")
    said = max(beliefs, key=beliefs.__getitem__)
    left = iter(said)
    return tuple(tuple(islice(left, stop - begin)) for begin, stop in row.spans), beliefs[said]


def exact(name: str) -> dict[str, dict[str, float]]:
    """Exact filler → what `judged` tells of it on these rows. "takes nothing from the drawing" knows the grammar alone;
    "told the length" sees as many [MASK]s as words, and so ``expects`` more than its chance."""
    automaton, asked = world.small().automaton("test"), rows(name)
    counts = [DrawnBlanks(automaton, row.text, drawing=how_drawn(row)) for row in asked]
    plain = [Blanks(automaton, row.text) for row in asked]

    def best(readers: Sequence[Blanks]) -> list[tuple[Fillings, float]]:
        return [likeliest_fillings(reader, range(reader.count)) for reader in readers]

    found = {"likeliest": best(counts), "told the length": [told_fillings(row) for row in asked],
             "takes nothing from the drawing": best(plain)}
    told = {way: judged(asked, [fillings for fillings, _ in pairs]) for way, pairs in found.items()}
    told["told the length"]["expects"] = fmean(chance for _, chance in found["told the length"])
    told["greedy"] = judged(asked, [greedy_fillings(reader) for reader in counts])
    lengths = [max(beliefs, key=beliefs.__getitem__) for beliefs in (reader.lengths(0) for reader in counts)]
    told["likeliest length"] = {"first": fmean(length == len(row.fillings[0])
                                               for length, row in zip(lengths, asked, strict=True))}
    return told


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


@cache
def table(sentences: int, seed: int = 0) -> dict[tuple[str, ...], int]:
    """So many training sentences → how often each was read, the most frequent first."""
    return dict(Counter(map(tuple, islice(world.small().text("train", seed), sentences))).most_common())


def looked_up(asked: Sequence[Row], sentences: int) -> list[Fillings]:
    """How a table fills rows: by the most frequent of so many training sentences that fits; by nothing if none does."""
    return [next((way for words in table(sentences) for way in ways(words, row.text)), ((),) * len(row.spans))
            for row in asked]


def neighbours(row: Row) -> list[tuple[str, str]]:
    """The tokens before and behind each blank; "" at an edge of the text."""
    text = ["", *row.text, ""]
    return [(text[place - 1], text[place + 1]) for place, token in enumerate(text) if token == BLANK]


def between_neighbours(asked: Sequence[Row]) -> list[Fillings]:
    """Each blank filled with what is hidden most often in training between the same two tokens, or else anywhere."""
    anywhere, between = Counter[Filling](), defaultdict[tuple[str, str], Counter[Filling]](Counter)
    for row in counted():
        anywhere.update(row.fillings)
        for place, filling in zip(neighbours(row), row.fillings, strict=True):
            between[place][filling] += 1
    return [tuple(max(between.get(place, anywhere).items(), key=itemgetter(1))[0] for place in neighbours(row))
            for row in asked]


def lengths_in_sight() -> dict[int, list[int]]:
    """Tokens in sight, each blank as one → the lengths of the blanks of training rows with so many."""
    found = defaultdict[int, list[int]](list)
    for row in counted():
        found[len(row.text)] += map(len, row.fillings)
    return dict(found)


def first_length_in_sight(asked: Sequence[Row]) -> float:
    """The share of rows whose first blank is as long as most blanks are among as many tokens in sight."""
    common = {sight: mode(lengths) for sight, lengths in lengths_in_sight().items()}
    return fmean(common.get(len(row.text)) == len(row.fillings[0]) for row in asked)


def baselines(name: str, sentences: int) -> dict[str, Any]:
    """Who needs no network → what `judged` tells; and the share of rows whose sentence is ``read`` in so much text."""
    asked = rows(name)
    fillers: dict[str, Callable[[], list[Fillings]]] = {
        "table": lambda: looked_up(asked, sentences), "between neighbours": lambda: between_neighbours(asked)}
    return {**{way: judged(asked, fill()) for way, fill in fillers.items()},
            "length by tokens in sight": {"first": first_length_in_sight(asked)},
            "read": fmean(row.words in table(sentences) for row in asked)}
