"""The state of the Cloze Lab, as JavaScript reads it."""

from typing import TypedDict

from plmlab.labs.shared.beliefs import BeliefState


class Gap(TypedDict):
    """A hidden word (None where nobody knows it), and what is believed of it."""

    position: int
    word: str | None
    left: BeliefState | None
    both: BeliefState


class Worst(TypedDict):
    """The pair of words to speak of."""

    words: list[str]
    product: float
    together: float


class Crossed(TypedDict):
    """Two gaps believed apart, or together, as `world_pair` describes it."""

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
    """Two gaps, and where they are."""

    positions: list[int]


class State(TypedDict):
    """What is drawn: ``second`` is the first position of the second sentence, if there is one."""

    tokens: list[str]
    kinds: list[str]
    second: int | None
    hidden: list[int]
    gaps: list[Gap]
    pair: Pair | None
    question: str
    answer: str
