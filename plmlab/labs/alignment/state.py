"""The state of the Alignment Lab, as passed to JavaScript."""

from typing import TypedDict


class Known(TypedDict):
    """Comparison of a translation with its reference. Without a reference the values are None, and ``partners`` is
    empty."""

    positions: list[int | None] | None
    right: int | None
    exact: bool | None
    partners: list[list[int]]
    hits: int | None


class TranslationState(Known):
    """A translation (see `serialized`)."""

    tokens: list[str]
    text: str
    p: list[float]
    weights: bytes | None


class Other(TranslationState):
    """The translation of another model, with the model's name."""

    name: str


class Quiz(TypedDict):
    """The question, its answer, and the source position masked in it."""

    position: int
    question: str
    answer: str


class Interventions(TypedDict):
    """The reader's interventions: steps whose attention is moved (``moved``), and masked source positions
    (``masked``)."""

    moved: list[dict[str, int]]
    masked: list[int]


class State(Interventions):
    """The data drawn: ``changes`` pairs the steps of ``before`` and ``now``; ``gold`` holds the words of the
    reference."""

    text: str
    source: list[str]
    unknown: list[int]
    before: TranslationState
    now: TranslationState
    gold: list[str] | None
    changes: list[list[int | None]]
    others: list[Other]
    drawn: str
    quiz: Quiz
