"""The state of the Layer Lab, as JavaScript reads it."""

from typing import Any, TypedDict


class Told(TypedDict):
    """A sentence: its words, those ``unknown``, and their ``vectors`` at each layer."""

    words: list[str]
    senses: Any
    pattern: Any
    unknown: list[int]
    vectors: Any


class State(TypedDict):
    """What is drawn: both sentences, and the texts that were ``read``."""

    sentences: list[Told]
    read: list[str]
