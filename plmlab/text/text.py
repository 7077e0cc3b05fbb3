"""What an objective is given of a text: its tokens, and where its words, sentences and entities stand, as far as the
source knows."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import Any, Self

Spans = tuple[tuple[int, int], ...]
"""Stretches from a start up to an end, which is not in it; in their order, none of them empty, none within another."""
KNOWN = {
    "words": "encode it with Tokenizer.text, whose words are those that the tokenizer cuts",
    "sentences": "encode it with Tokenizer.text, which tells them by their punctuation",
    "entities": "plmlab.text.wikipedia_links has strings that tell them, plmlab.world.datasets.texts texts",
}
"""What a text may know of itself, and how one comes by a text that does."""
SENTENCE = re.compile(r"[.!?…]+[\"'”’)\]]*(?:\s+|$)|[。！？]+|\n{2,}")
"""Where a sentence ends."""
Told = Iterable[tuple[int, int]] | Callable[[], Iterable[tuple[int, int]] | None] | None
"""Spans as a source tells them: themselves, what finds them when they are asked for, or None."""


class Text(tuple[int, ...]):
    """Token ids, a tuple, and of them the spans of ``words``, of ``sentences`` and of ``entities``; None where the
    source does not know them.

    A slice knows the spans that lie wholly within it; with a step, none. ValueError for spans that are not `Spans` of
    so many tokens. Texts of the same ids are equal, as tuples are, whatever they know.
    """

    _asked: dict[str, Callable[[], Iterable[tuple[int, int]] | None]]
    _known: dict[str, Spans | None]

    def __new__(cls, ids: Iterable[int] = (), *, words: Told = None, sentences: Told = None, entities: Told = None,
                ) -> Self:
        """Spans that are told as a function are found, and checked, when an objective asks for them."""
        self = super().__new__(cls, ids)
        told = {"words": words, "sentences": sentences, "entities": entities}
        self._asked = {what: spans for what, spans in told.items() if callable(spans)}
        self._known = {what: _checked(spans, len(self), what) for what, spans in told.items() if not callable(spans)}
        return self

    words = property(lambda self: self._spans("words"), doc="The words, as the tokenizer cuts them.")
    sentences = property(lambda self: self._spans("sentences"), doc="The sentences.")
    entities = property(lambda self: self._spans("entities"), doc="Where something is named that the source knows.")

    def __getitem__(self, place: Any) -> Any:
        """A token, or a part of the text."""
        found = super().__getitem__(place)
        if not isinstance(place, slice):
            return found
        start, stop, step = place.indices(len(self))
        return Text(found, **{what: partial(self._within, what, start, stop) for what in KNOWN if step == 1})

    def __add__(self, other: Sequence[int]) -> "Text":  # type: ignore[override]
        """This text and another behind it, which know what both know."""
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


def spans(tokens: Sequence[int], what: str, needed_by: str) -> Spans:
    """The ``what`` of a text, "words" or the like; a ValueError where it does not know them, which ``needed_by``
    ("whole-word masking") does need to know."""
    found = getattr(tokens, what, None)
    if found is None:
        raise ValueError(f"{needed_by} needs to know the {what} of a text, and this one does not tell them; "
                         f"{KNOWN[what]}")
    return found


class Named(str):
    """A string that tells where its entities are named: ``entities`` are spans of its characters."""

    entities: Spans

    def __new__(cls, text: str, entities: Iterable[tuple[int, int]]) -> Self:
        """ValueError for spans that are not `Spans` of so many characters."""
        self = super().__new__(cls, text)
        self.entities = _checked(entities, len(text), "entities") or ()
        return self


def sentence_places(text: str) -> Iterator[tuple[int, int]]:
    """Where the sentences of a text stand, told by punctuation and empty lines, as ``text[start:end]`` without the
    spaces around it."""
    for start, end in pairwise([0, *(found.end() for found in SENTENCE.finditer(text)), len(text)]):
        part = text[start:end]
        if part and not part.isspace():
            yield end - len(part.lstrip()), start + len(part.rstrip())


def token_spans(places: Iterable[tuple[int, int]], offsets: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans of characters as spans of tokens, which stand at ``offsets``: all tokens that have a character of it, and
    belong to no span before."""
    starts, ends = [start for start, _ in offsets], [end for _, end in offsets]
    last = 0
    for start, end in places:
        first, last = max(last, bisect_right(ends, start)), max(last, bisect_left(starts, end))
        if first < last:
            yield first, last


def _checked(told: Iterable[tuple[int, int]] | None, size: int, what: str) -> Spans | None:
    if told is None:
        return None
    spans, last = tuple(told), 0
    for start, end in spans:
        if not last <= start < end <= size:
            raise ValueError(f"the {what} of a text are told as {spans!s:.80}; give (start, end) of each in their "
                             f"order, none empty, none over another, from 0 to {size}")
        last = end
    return spans
