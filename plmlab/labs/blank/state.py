"""The state of the Blank Lab, as passed to JavaScript."""

from collections.abc import Sequence
from typing import Any, TypedDict

from plmlab.labs.shared.beliefs import Row
from plmlab.labs.shared.masks import MaskState


class Step(TypedDict):
    """One step of infilling: the token (``said``), its source (``by``: model or reader), both distributions, and the
    reason (``why``) if a distribution is missing."""

    blank: int
    written: tuple[str, ...]
    said: str | None
    by: str
    why: str
    rows: list[Row]
    model: bool
    exact: bool


class Length(TypedDict):
    """The distributions of a blank's length, as (number of words, probability), and its true length."""

    blank: int
    true: int
    exact: list[tuple[int, float]]
    model: list[tuple[int, float]]


class NLL(TypedDict):
    """−log p of the original words of the blanks, in nats."""

    model: float | None
    exact: float | None


class Mistake(TypedDict):
    """A common mistake in one part of a row, with feedback."""

    part: str
    said: str
    values: list[Any]


class Exercise(TypedDict):
    """A row to fill in."""

    name: str
    right: list[Any]
    mistakes: list[Mistake]


class PartAMistake(TypedDict):
    """A common mistake in Part A, with feedback."""

    text: str
    said: str


class PartA(TypedDict):
    """Part A to fill in."""

    right: str
    mistakes: list[PartAMistake]


class OtherFormat(TypedDict):
    """The same spans in the input format of another model."""

    name: str
    reads: str
    says: str
    told: str


class State(TypedDict):
    """The data drawn: the words, their Example (``inputs``), and a path through its blanks (``steps``)."""

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
    nll: NLL
    rows: list[Exercise]
    part_a: PartA
    other_formats: list[OtherFormat]
    question: str
    answer: str
