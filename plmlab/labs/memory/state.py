"""The state of the Memory Lab, as JavaScript reads it."""

from typing import Any, TypedDict


class Reach(TypedDict):
    """From which layer on a position can be heard of, and by which one; ``cut``: with what the reader cut."""

    level: list[int]
    via: Any
    cut: list[int]


class Said(TypedDict):
    """The word's probability and rank, and the likeliest words with theirs."""

    p: float
    rank: int
    likeliest: list[list[Any]]


class Way(Said):
    """The same with something switched off."""

    name: str


class Effects(TypedDict):
    """The word's probability with some positions cut out, [first, end, probability] each."""

    positions: list[list[Any]]
    segments: list[list[Any]]


class Guess(TypedDict):
    """What is asked before one looks, and the length of the memory that tries it."""

    question: str
    answer: str
    memory: int


class Sent(TypedDict):
    """Where the position looked, as 32-bit floats."""

    weights: bytes
    terms: bytes


class State(Sent):
    """What is drawn of the ``position`` that is asked, whose segment ``begin``s there and remembers from ``oldest``
    on."""

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
    reach: Reach
    answers: list[Said]
    ways: list[Way]
    effects: Effects
    guess: Guess | None
