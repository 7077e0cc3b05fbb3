"""The state that the Gate Lab sends to JavaScript."""

from collections.abc import Sequence
from typing import Any, TypedDict


class Unit(TypedDict):
    """A hidden unit and, for each label, its score and whether its activation increases with the label."""

    layer: int
    unit: int
    scores: dict[str, list[Any]]


class Tracks(TypedDict):
    """Gold labels at each position; ``left`` exists only for a finished sentence."""

    number: Sequence[str | None]
    inside: Sequence[Any]
    left: Sequence[Any] | None
    said: str


class Moved(TypedDict):
    """Total variation distance within the verbs and within the control words."""

    verbs: float
    control: float


class Next(TypedDict):
    """The next-word distribution at a position, as computed by `NextWords.describe`."""

    rows: list[list[Any]]
    groups: dict[str, list[float | None]]
    moved: Moved


class Guess(TypedDict):
    """The "Guess first" question, its answer, and the two clamps that test the answer."""

    question: str
    answer: str
    hold: dict[str, Any]
    write: dict[str, Any]


class Read(TypedDict):
    """The units' values on a text: ``values`` and ``before`` are 32-bit floats, one row per unit."""

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
    """The data drawn, including the "Guess first" question."""

    guess: Guess | None
