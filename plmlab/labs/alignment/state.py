"""The state of the Alignment Lab, as passed to JavaScript."""

from typing import TypedDict


class Known(TypedDict):
    """A translation compared with the reference; None, and no gold links, if there is no reference."""

    positions: list[int | None] | None
    right: int | None
    exact: bool | None
    partners: list[list[int]]
    hits: int | None


class Told(Known):
    """A translation; see `serialized`."""

    tokens: list[str]
    text: str
    p: list[float]
    weights: bytes | None


class Other(Told):
    """The translation of another model, with its name."""

    name: str


class Asked(TypedDict):
    """The question, its answer, and the source position that it masks."""

    position: int
    question: str
    answer: str


class Hand(TypedDict):
    """The reader's interventions: steps whose attention is moved, and masked source positions."""

    held: list[dict[str, int]]
    shut: list[int]


class State(Hand):
    """The drawing: ``changes`` pairs the steps of ``before`` and ``now``; ``gold`` has the words of the reference."""

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
