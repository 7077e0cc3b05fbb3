"""The state of the Vector Lab, as JavaScript reads it."""

from typing import Any, TypedDict


class Group(TypedDict):
    """Rows of words that belong together."""

    name: str
    rows: list[int]


class Packed(TypedDict):
    """Vectors as `packed` has them."""

    numbers: bytes
    steps: bytes


class Beside(TypedDict):
    """What was given beside the vectors."""

    groups: list[Group]
    counts: Any
    twins: list[Any]


class Axes(TypedDict):
    """The directions in which the last snapshot spreads most."""

    mean: list[float]
    axes: list[list[float]]
    shares: list[float]


class State(Packed, Beside):
    """What is drawn: ``updates`` are those of the snapshots; ``own``, whether these are of the reader's text."""

    words: list[str]
    width: int
    updates: list[int]
    own: bool
    principal: Axes
