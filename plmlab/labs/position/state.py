"""The state of the Position Lab, as JavaScript reads it."""

from typing import TypedDict


class Variant(TypedDict):
    """The map of one head under some positions, with its measures."""

    title: str
    position_ids: list[int]
    weights: list[float]
    previous: float | None
    next: float | None
    placed: float | None
    moved: float | None


class Finder(TypedDict):
    """A head to go to."""

    title: str
    layer: int
    head: int


class State(TypedDict):
    """What is drawn of the sentence: three maps of the head in sight, None for the mean of all."""

    axes: int
    layers: int
    heads: int
    layer: int
    head: int | None
    tokens: list[str]
    names: list[str]
    variants: list[Variant]
    finders: list[Finder]
    finding: str


class ComparedWay(TypedDict):
    """A way of telling places, by the largest change of its scores; which of both squares are ``drawn``."""

    name: str
    source: str
    how: str
    why: str
    learned: str
    numbers: int
    beyond: str
    largest: float | None
    error: str
    drawn: list[bool]


class Compared(TypedDict):
    """All ways compared, the trait ``comparison``."""

    tokens: list[str]
    moved: int
    ways: list[ComparedWay]
    limit: int
    rounded: float
    finding: str
    question: str
    answer: str
    note: str
