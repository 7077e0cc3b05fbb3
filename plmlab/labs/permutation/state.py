"""The state of the Permutation Lab, as passed to JavaScript."""

from collections.abc import Sequence
from typing import TypedDict

from plmlab.labs.shared.beliefs import BeliefState
from plmlab.labs.shared.masks import MaskState


class Step(TypedDict):
    """A step: the position of the target, and the losses under the model and under the Bayes-optimal predictor, for
    this word (``costs``) and cumulative (``sums``)."""

    position: int
    left: Sequence[int]
    right: Sequence[int]
    belief: BeliefState
    costs: tuple[float, float | None]
    sums: tuple[float, float | None]


class Orders(TypedDict):
    """The loss on the sentence in many orders; ``here`` is the index of the current order."""

    listed: Sequence[Sequence[int]]
    complete: bool
    here: int
    model: list[float]
    leaking: list[float] | None


class Proof(TypedDict):
    """For each of the two models, the sum of the probabilities of substituted words, each predicted at its own
    position."""

    tried: int
    model: float
    leaking: float


class State(TypedDict):
    """The data drawn: ``exact`` is the world's surprisal of the sentence, or None with the reason in ``why_not``."""

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
