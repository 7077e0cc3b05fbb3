"""The state that the Memory Lab sends to JavaScript."""

from typing import Any, TypedDict


class ReceptiveField(TypedDict):
    """The receptive field of the query position (see `receptive_field.ReceptiveField`); ``cut``: its levels with the
    reader's cuts."""

    level: list[int]
    via: Any
    cut: list[int]


class Said(TypedDict):
    """The target's probability and rank, and the most probable words with their probabilities."""

    p: float
    rank: int
    likeliest: list[list[Any]]


class Way(Said):
    """The prediction under the intervention ``name``."""

    name: str


class Effects(TypedDict):
    """The target's probability with ranges of positions masked out, each as [first, end, probability]."""

    positions: list[list[Any]]
    segments: list[list[Any]]


class Guess(TypedDict):
    """The question of "Guess first", its answer, and the memory length that tests it."""

    question: str
    answer: str
    memory: int


class Sent(TypedDict):
    """Attention weights and score terms of the query position, as 32-bit floats."""

    weights: bytes
    terms: bytes


class State(Sent):
    """Everything drawn for the query position ``position``: its segment starts at ``begin``, its memory at
    ``oldest``."""

    tokens: list[str]
    names: list[str]
    position: int
    begin: int
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
    answers: list[Said]
    ways: list[Way]
    effects: Effects
    guess: Guess | None
