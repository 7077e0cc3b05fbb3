"""The state of the Position Lab, as passed to JavaScript."""

from typing import TypedDict


class Variant(TypedDict):
    """The attention map of one head for one choice of positions, with its measures."""

    title: str
    position_ids: list[int]
    weights: list[float]
    previous: float | None
    next: float | None
    placed: float | None
    moved: float | None


class Finder(TypedDict):
    """A link to a notable head."""

    title: str
    layer: int
    head: int


class State(TypedDict):
    """The data drawn for the sentence: three maps of the selected head (None: the mean over all heads)."""

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
    """A positional encoding and the largest change of its scores; ``drawn`` indicates which of its two maps exist."""

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
    """The comparison of all positional encodings (trait ``comparison``)."""

    tokens: list[str]
    moved: int
    ways: list[ComparedWay]
    limit: int
    rounded: float
    finding: str
    question: str
    answer: str
    note: str
