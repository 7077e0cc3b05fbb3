"""The state of the Mask Lab, as passed to JavaScript."""

from collections.abc import Sequence
from typing import Any, TypedDict

from plmlab.labs.shared.masks import MaskState


class State(TypedDict):
    """An Example as it is drawn: its positions in order, with one mask per attention stream."""

    objective: str
    choices: list[dict[str, Any]]
    texts: int
    second: str
    verbs: Sequence[str]
    axes: Any
    by_hand: bool
    tokens: list[str]
    split: Any
    headings: list[str]
    never: list[list[int]]
    names: list[str]
    marks: list[str]
    position_ids: list[list[int]]
    segments: list[int]
    targets: list[str | None]
    masks: list[MaskState]
    question: str
    answer: str
