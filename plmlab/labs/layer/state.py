"""The state that the Layer Lab sends to JavaScript."""

from typing import Any, TypedDict


class Told(TypedDict):
    """A sentence: its words, senses and pattern, the indices of ``unknown`` words, and the vectors of all layers."""

    words: list[str]
    senses: Any
    pattern: Any
    unknown: list[int]
    vectors: Any


class State(TypedDict):
    """What is drawn: both sentences, and the texts from which they were computed (``read``)."""

    sentences: list[Told]
    read: list[str]
