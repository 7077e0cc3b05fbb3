"""The state that the Layer Lab sends to JavaScript."""

from typing import Any, TypedDict


class Told(TypedDict):
    """A sentence: its words, their senses, the sentence pattern, the indices of ``unknown`` words, and the vectors of
    all layers."""

    words: list[str]
    senses: Any
    pattern: Any
    unknown: list[int]
    vectors: Any


class State(TypedDict):
    """The data drawn: both sentences, and the texts that they were computed from (``read``)."""

    sentences: list[Told]
    read: list[str]
