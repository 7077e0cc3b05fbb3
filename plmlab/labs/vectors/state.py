"""The state of the Vector Lab, as passed to JavaScript."""

from typing import Any, TypedDict


class Group(TypedDict):
    """A named group of words, given by their rows."""

    name: str
    rows: list[int]


class Packed(TypedDict):
    """Quantised vectors, as returned by `packed`."""

    numbers: bytes
    steps: bytes


class Beside(TypedDict):
    """Optional data shown in addition to the vectors."""

    groups: list[Group]
    counts: Any
    twins: list[Any]


class Axes(TypedDict):
    """The principal axes of the last snapshot."""

    mean: list[float]
    axes: list[list[float]]
    shares: list[float]


class State(Packed, Beside):
    """The data drawn: ``updates`` are the updates of the snapshots; ``own`` is true if the vectors were trained on the
    user's text."""

    words: list[str]
    width: int
    updates: list[int]
    own: bool
    principal: Axes
