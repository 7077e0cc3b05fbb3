"""The state of the Attention Lab, as passed to JavaScript."""

from typing import TypedDict

from plmlab.labs.shared.masks import MaskState


class AttentionMap(TypedDict):
    """A selectable attention map, with its numbers of layers and heads."""

    title: str
    name: str
    size: list[int]


class Likely(TypedDict):
    """A token's probability before and after the ablation."""

    token: str
    before: float
    after: float


class Moved(TypedDict):
    """The change of the output at each position (``positions``) and of the output as a whole (``whole``)."""

    kind: str
    tokens: list[str]
    positions: list[float]
    whole: float


class Effect(Moved, total=False):
    """The effect of an ablation on the output; see `change_of`."""

    next: list[Likely]


class State(TypedDict):
    """The data drawn: ``weights`` holds the weights of all heads as 16-bit integers; ``start`` is the (query, key) pair
    selected at first."""

    map: str
    maps: list[AttentionMap]
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
