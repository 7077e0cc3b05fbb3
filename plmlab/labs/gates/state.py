"""The state of the Gate Lab, as JavaScript reads it."""

from collections.abc import Sequence
from typing import Any, TypedDict


class Unit(TypedDict):
    """A unit and its [score, rises] for each label."""

    layer: int
    unit: int
    scores: dict[str, list[Any]]


class Tracks(TypedDict):
    """What the world knows of each step; ``left`` only of a sentence that is finished."""

    number: Sequence[str | None]
    inside: Sequence[Any]
    left: Sequence[Any] | None
    said: str


class Moved(TypedDict):
    """The total variation among the verbs, and among the control words."""

    verbs: float
    control: float


class Next(TypedDict):
    """The words that come next at a step, as `Following.describe` has them."""

    rows: list[list[Any]]
    groups: dict[str, list[float | None]]
    moved: Moved


class Guess(TypedDict):
    """What is asked before one looks, its answer, and the two holds that try it."""

    question: str
    answer: str
    hold: dict[str, Any]
    write: dict[str, Any]


class Read(TypedDict):
    """The units of a text: ``values`` and ``before`` are 32-bit floats, a row a unit."""

    tokens: list[str]
    names: list[str]
    units: list[Unit]
    orders: dict[str, dict[str, list[int]]]
    values: dict[str, bytes]
    before: bytes | None
    gold: Tracks | None
    next: list[Next]
    held: bool


class State(Read):
    """What is drawn, and what is asked."""

    guess: Guess | None
