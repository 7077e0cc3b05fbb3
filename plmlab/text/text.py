"""A text as the input of an objective: its token ids, and the spans of its words, sentences and entities where
known."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import Any, Self

Spans = tuple[tuple[int, int], ...]
"""Spans (start, end) with exclusive end, in ascending order, none empty, none overlapping."""
KNOWN = {
    "words": "encode it with Tokenizer.text, whose words are those of the pre-tokenizer",
    "sentences": "encode it with Tokenizer.text, which splits sentences at punctuation",
    "entities": "plmlab.text.gazetteer.Gazetteer.text finds given names in a text, plmlab.text.wikipedia_links has "
                "strings with entities, plmlab.world.datasets.texts has texts",
}
"""Kinds of spans that a text may have, and how to obtain a text with them."""
SENTENCE = re.compile(r"[.!?…]+[\"'”’)\]]*(?:\s+|$)|[。！？]+|\n{2,}")
"""Matches the end of a sentence."""
Told = Iterable[tuple[int, int]] | Callable[[], Iterable[tuple[int, int]] | None] | None
"""Spans as given by a source: the spans, a function that computes them on demand, or None."""


class Text(tuple[int, ...]):
    """A tuple of token ids with the spans of its ``words``, ``sentences`` and ``entities``; each is None if the source
    does not provide these spans.

    A slice keeps the spans that lie entirely within it, or none if it has a step. Raises ValueError for invalid
    `Spans`. As with tuples, texts with the same ids are equal, whatever their spans.
    """

    _asked: dict[str, Callable[[], Iterable[tuple[int, int]] | None]]
    _known: dict[str, Spans | None]

    def __new__(cls, ids: Iterable[int] = (), *, words: Told = None, sentences: Told = None, entities: Told = None,
                ) -> Self:
        """Create a text. Spans given as a function are computed and validated only when an objective needs them."""
        self = super().__new__(cls, ids)
        given = {"words": words, "sentences": sentences, "entities": entities}
        self._asked = {what: spans for what, spans in given.items() if callable(spans)}
        self._known = {what: _checked(spans, len(self), what) for what, spans in given.items() if not callable(spans)}
        return self

    words = property(lambda self: self._spans("words"), doc="The words, as split by the pre-tokenizer.")
    sentences = property(lambda self: self._spans("sentences"), doc="The sentences.")
    entities = property(lambda self: self._spans("entities"), doc="The mentions of known entities.")

    def __getitem__(self, place: Any) -> Any:
        """A token id, or a slice of the text."""
        found = super().__getitem__(place)
        if not isinstance(place, slice):
            return found
        start, stop, step = place.indices(len(self))
        return Text(found, **{what: partial(self._within, what, start, stop) for what in KNOWN if step == 1})

    def __add__(self, other: Sequence[int]) -> "Text":  # type: ignore[override]
        """Concatenate two texts, keeping the kinds of spans that both have."""
        return Text(chain(self, other), **{what: partial(self._with, what, other) for what in KNOWN})

    def _spans(self, what: str) -> Spans | None:
        if what not in self._known:
            self._known[what] = _checked(self._asked[what](), len(self), what)
        return self._known[what]

    def _within(self, what: str, start: int, stop: int) -> Spans | None:
        spans = self._spans(what)
        return spans and tuple((begin - start, end - start) for begin, end in spans if start <= begin and end <= stop)

    def _with(self, what: str, other: Sequence[int]) -> Spans | None:
        spans, others = self._spans(what), getattr(other, what, None)
        if spans is None or others is None:
            return None
        return *spans, *((len(self) + begin, len(self) + end) for begin, end in others)


def spans(tokens: Sequence[int], what: str, needed_for: str) -> Spans:
    """The spans of a text of the kind ``what``, such as "words". Raises ValueError if the text does not have them;
    ``needed_for`` names the feature that requires them, such as "whole-word masking", in the message."""
    found = getattr(tokens, what, None)
    if found is None:
        raise ValueError(f"{needed_for} needs the {what} of a text, but this one does not have them; "
                         f"{KNOWN[what]}")
    return found


def sentence_parts(tokens: Sequence[int], needed_for: str) -> list[tuple[int, int]]:
    """Divide a whole text at the beginnings of its sentences: the span of each part. Tokens outside of all sentences,
    such as the beginning of a truncated last one, belong to the sentence before them, or to the first. Raises
    ValueError if the text's sentences are unknown, as in `spans`."""
    sentences = spans(tokens, "sentences", needed_for)
    return list(pairwise([0, *(begin for begin, _ in sentences[1:]), len(tokens)]))


class Named(str):
    """A string with its entity mentions; ``entities`` are spans in characters."""

    entities: Spans

    def __new__(cls, text: str, entities: Iterable[tuple[int, int]]) -> Self:
        """Create the string. Raises ValueError for invalid `Spans`."""
        self = super().__new__(cls, text)
        self.entities = _checked(entities, len(text), "entities") or ()
        return self


def sentence_places(text: str) -> Iterator[tuple[int, int]]:
    """The spans of a text's sentences, split at punctuation and empty lines, such that ``text[start:end]`` is a
    sentence without surrounding spaces."""
    for start, end in pairwise([0, *(found.end() for found in SENTENCE.finditer(text)), len(text)]):
        part = text[start:end]
        if part and not part.isspace():
            yield end - len(part.lstrip()), start + len(part.rstrip())


def token_spans(places: Iterable[tuple[int, int]], offsets: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Convert character spans to spans of tokens with these ``offsets``: each consists of all tokens that overlap it
    and belong to no earlier span."""
    starts, ends = [start for start, _ in offsets], [end for _, end in offsets]
    last = 0
    for start, end in places:
        first, last = max(last, bisect_right(ends, start)), max(last, bisect_left(starts, end))
        if first < last:
            yield first, last


def _checked(given: Iterable[tuple[int, int]] | None, size: int, what: str) -> Spans | None:
    if given is None:
        return None
    spans, last = tuple(given), 0
    for start, end in spans:
        if not last <= start < end <= size:
            raise ValueError(f"the {what} of a text are given as {spans!s:.80}; give (start, end) of each in ascending "
                             f"order, none empty, none overlapping, from 0 to {size}")
        last = end
    return spans
