"""The state of the Blank Lab, as JavaScript reads it."""

from collections.abc import Sequence
from typing import Any, TypedDict

from plmlab.labs.shared.beliefs import Row
from plmlab.labs.shared.masks import MaskState


class Step(TypedDict):
    """A step of filling: what is ``said`` by whom, and what both readers believe; ``why`` one says nothing."""

    blank: int
    written: tuple[str, ...]
    said: str | None
    by: str
    why: str
    rows: list[Row]
    model: bool
    exact: bool


class Length(TypedDict):
    """How long a blank may be to either reader, as (words, probability); and how long it was."""

    blank: int
    true: int
    exact: list[tuple[int, float]]
    model: list[tuple[int, float]]


class Paid(TypedDict):
    """−log p of what stood in the blanks, in nats."""

    model: float | None
    exact: float | None


class Slip(TypedDict):
    """What people write in one part of a row, and what is said of that."""

    part: str
    said: str
    values: list[Any]


class Exercise(TypedDict):
    """A row to be filled in."""

    name: str
    right: list[Any]
    slips: list[Slip]


class PartASlip(TypedDict):
    """What people write for Part A, and what is said of that."""

    text: str
    said: str


class PartA(TypedDict):
    """Part A to be filled in."""

    right: str
    slips: list[PartASlip]


class Beside(TypedDict):
    """The same spans as another model has them."""

    name: str
    reads: str
    says: str
    told: str


class State(TypedDict):
    """What is drawn: the words, the Example made of them (``inputs``), and a way through its blanks (``steps``)."""

    tokens: list[str]
    kinds: list[str]
    spans: list[list[int]]
    order: list[int]
    inputs: list[str]
    names: list[str]
    read: int
    sizes: list[int]
    position_ids: list[list[int]]
    targets: list[str | None]
    mask: MaskState
    steps: Sequence[Step]
    lengths: list[Length]
    paid: Paid
    rows: list[Exercise]
    part_a: PartA
    beside: list[Beside]
    question: str
    answer: str
