"""The state of the Four-mask Lab, as passed to JavaScript."""

from collections.abc import Sequence
from typing import TypedDict

from plmlab.labs.four_masks.reading import Place
from plmlab.labs.shared.beliefs import BeliefState
from plmlab.labs.shared.masks import MaskState


class Panel(TypedDict):
    """One mask: the input under it, the ``places`` of its positions in the sentence, and the prediction."""

    name: str
    tokens: list[str]
    names: list[str]
    places: Sequence[Place]
    position: int
    mask: MaskState
    belief: BeliefState


class State(TypedDict):
    """The data drawn: ``word`` is the masked word, None for a typed [MASK]."""

    tokens: list[str]
    hidden: int
    cut: int
    word: str | None
    panels: list[Panel]
    kinds: list[str]
    question: str
    answer: str
