"""The state of the Next-token Lab, as JavaScript reads it."""

from collections.abc import Sequence
from typing import Any, TypedDict


class Row(TypedDict):
    """A token, its ``place`` in the model's order, and its probability in the world."""

    id: int
    token: str
    place: int
    world: float


class Beside(TypedDict):
    """The world's words that can come next, by their places in the model's order."""

    p: list[float]
    places: list[int]
    entropy: float
    said: str


class Cell(TypedDict):
    """What a layer would say at a position, and how it ranks what the model says in the end."""

    likeliest: list[list[Any]]
    rank: int
    p: float


class LensState(TypedDict):
    """The lens of the last positions, and what stands ``next`` to each of them in the text."""

    layers: list[str]
    tokens: list[str]
    names: list[str]
    next: Sequence[str | None]
    columns: list[list[Cell]]


class State(TypedDict):
    """What is drawn: ``logits`` as 32-bit floats, the highest first."""

    logits: bytes
    rows: list[Row]
    world: Beside | None
    lens: LensState
    written: list[list[Any]]
    undo: bool
    ended: bool
