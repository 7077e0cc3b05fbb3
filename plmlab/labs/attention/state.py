"""The state of the Attention Lab, as JavaScript reads it."""

from typing import TypedDict

from plmlab.labs.shared.masks import MaskState


class PairsRule(TypedDict):
    """A map that can be chosen, and how many layers and heads it has."""

    title: str
    name: str
    size: list[int]


class Likely(TypedDict):
    """A token's probability before and after something was taken away."""

    token: str
    before: float
    after: float


class Moved(TypedDict):
    """How far the output moves at each position, and as a ``whole``."""

    kind: str
    tokens: list[str]
    positions: list[float]
    whole: float


class Effect(Moved, total=False):
    """What an ablation does to the output, as `change_of` describes it."""

    next: list[Likely]


class State(TypedDict):
    """What is drawn: ``weights`` of all heads as 16-bit numbers, ``start`` the cell to begin at."""

    map: str
    maps: list[PairsRule]
    size: list[int]
    queries: list[str]
    keys: list[str]
    query_names: list[str]
    key_names: list[str]
    weights: bytes
    mask: MaskState
    start: list[int] | None
    change: Effect | None
    question: str
    answer: str
