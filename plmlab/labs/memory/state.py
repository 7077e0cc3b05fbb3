"""The state that the Memory Lab sends to JavaScript."""

from typing import Any, TypedDict


class ReceptiveField(TypedDict):
    """The receptive field of the query position (see `receptive_field.ReceptiveField`); ``cut`` holds the levels with
    the reader's cuts."""

    level: list[int]
    via: Any
    cut: list[int]


class Prediction(TypedDict):
    """The probability and rank of the target, and the most probable words with their probabilities."""

    p: float
    rank: int
    likeliest: list[list[Any]]


class InterventionResult(Prediction):
    """The prediction under the intervention ``name``."""

    name: str


class Effects(TypedDict):
    """The probability of the target with ranges of positions masked out, as [first, end, probability]."""

    positions: list[list[Any]]
    segments: list[list[Any]]


class Guess(TypedDict):
    """The "Guess first" question, its answer, and the memory length that tests the answer."""

    question: str
    answer: str
    memory: int


class Sent(TypedDict):
    """Attention weights and terms of the scores at the query position, as 32-bit floats."""

    weights: bytes
    terms: bytes


class State(Sent):
    """The data drawn for the query position ``position``, whose segment starts at ``segment_start`` and whose memory
    starts at ``oldest``."""

    tokens: list[str]
    names: list[str]
    position: int
    segment_start: int
    oldest: int
    segment: int
    memory: int
    word: str
    given: bool
    fact: int | None
    zones: list[str]
    rule_ids: list[int]
    sentences: dict[str, str]
    cut: list[bool]
    without: str
    reach: ReceptiveField
    answers: list[Prediction]
    interventions: list[InterventionResult]
    effects: Effects
    guess: Guess | None
