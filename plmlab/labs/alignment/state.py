"""The state of the Alignment Lab, as JavaScript reads it."""

from typing import TypedDict


class Known(TypedDict):
    """What is right in a translation; None, and no partners, where there is no gold."""

    positions: list[int | None] | None
    right: int | None
    exact: bool | None
    partners: list[list[int]]
    hits: int | None


class Told(Known):
    """A translation, as `told` describes it."""

    tokens: list[str]
    text: str
    p: list[float]
    weights: bytes | None


class Other(Told):
    """The translation of another model, by its name."""

    name: str


class Asked(TypedDict):
    """What is asked before one looks, and the position that the answer shuts off."""

    position: int
    question: str
    answer: str


class Hand(TypedDict):
    """What the reader has set by hand: looks, and positions that are shut off."""

    held: list[dict[str, int]]
    shut: list[int]


class State(Hand):
    """What is drawn: ``changes`` are the steps of ``before`` and ``now`` in pairs, ``gold`` the reference's words."""

    text: str
    source: list[str]
    unknown: list[int]
    before: Told
    now: Told
    gold: list[str] | None
    changes: list[list[int | None]]
    others: list[Other]
    drawn: str
    asked: Asked
