"""The state of the Permutation Lab, as JavaScript reads it."""

from collections.abc import Sequence
from typing import TypedDict

from plmlab.labs.shared.beliefs import BeliefState
from plmlab.labs.shared.masks import MaskState


class Step(TypedDict):
    """A step: the position that is said, and what it ``costs`` the model and the best reader, alone and so far
    (``sums``).
    """

    position: int
    left: Sequence[int]
    right: Sequence[int]
    belief: BeliefState
    costs: tuple[float, float | None]
    sums: tuple[float, float | None]


class Orders(TypedDict):
    """What the sentence costs in many orders; ``here`` is the reader's among them."""

    listed: Sequence[Sequence[int]]
    complete: bool
    here: int
    model: list[float]
    leaking: list[float] | None


class Proof(TypedDict):
    """The sums of what either model gives to words that see themselves."""

    tried: int
    model: float
    leaking: float


class State(TypedDict):
    """What is drawn: ``exact`` is the world's surprisal of the sentence, or None, and ``why_not``."""

    tokens: list[str]
    names: list[str]
    order: list[int]
    leak: bool
    steps: list[Step]
    masks: list[MaskState]
    exact: float | None
    why_not: str
    orders: Orders
    question: str
    answer: str
    proof: Proof | None
