"""The state that the Next-token Lab sends to JavaScript."""

from collections.abc import Sequence
from typing import Any, TypedDict


class Row(TypedDict):
    """A token, its rank in the model's distribution (``place``, from 0), and its probability in the world."""

    id: int
    token: str
    place: int
    world: float


class Beside(TypedDict):
    """The world's next-word distribution; ``places`` are the ranks of its words in the model's distribution."""

    p: list[float]
    places: list[int]
    entropy: float
    said: str


class Cell(TypedDict):
    """A layer's top predictions at a position, and the rank and probability that the layer assigns to the model's final
    prediction."""

    likeliest: list[list[Any]]
    rank: int
    p: float


class LensState(TypedDict):
    """The logit lens at the last positions; ``next`` is the actual next token at each position."""

    layers: list[str]
    tokens: list[str]
    names: list[str]
    next: Sequence[str | None]
    columns: list[list[Cell]]


class State(TypedDict):
    """The data drawn; ``logits`` holds 32-bit floats in descending order."""

    logits: bytes
    rows: list[Row]
    world: Beside | None
    lens: LensState
    written: list[list[Any]]
    undo: bool
    ended: bool
