"""The state of the Cloze Lab, as passed to JavaScript."""

from typing import TypedDict

from plmlab.labs.shared.beliefs import BeliefState


class Gap(TypedDict):
    """A masked word (None if unknown), with the predictions for it."""

    position: int
    word: str | None
    left: BeliefState | None
    both: BeliefState


class Worst(TypedDict):
    """The impossible pair of words to mention."""

    words: list[str]
    product: float
    together: float


class Crossed(TypedDict):
    """Two masks, predicted independently and jointly; see `world_pair`."""

    kind: str
    rows: list[str]
    columns: list[str]
    product: list[list[float]]
    together: list[list[float]]
    worst: Worst | None
    impossible: float | None
    unavoidable: float | None
    information: float | None


class Pair(Crossed):
    """Two masks with their positions."""

    positions: list[int]


class State(TypedDict):
    """The data drawn: ``second`` is the first position of the second sentence, or None."""

    tokens: list[str]
    kinds: list[str]
    second: int | None
    hidden: list[int]
    gaps: list[Gap]
    pair: Pair | None
    question: str
    answer: str
