"""The state of the Shape X-ray, as passed to JavaScript."""

from typing import Any, TypedDict


class Tensors(TypedDict):
    """Every tensor of a pass, as nested lists."""

    q: list[Any]
    k: list[Any]
    v: list[Any]
    queries: list[Any]
    keys: list[Any]
    values: list[Any]
    sources: list[Any]
    scores: list[Any]
    weights: list[Any]
    mixed: list[Any]
    joined: list[Any]
    out: list[Any]
    parts: list[Any]


class State(TypedDict):
    """The data drawn: the vectors ``x``, and the passes with the correct and with the wrong split into heads."""

    tokens: list[str]
    names: list[str]
    heads: int
    width: int
    causal: bool
    x: list[Any]
    right: Tensors
    wrong: Tensors
    same: bool
    apart: float
    leaks: int
    rows: int
