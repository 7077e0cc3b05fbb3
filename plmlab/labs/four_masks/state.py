"""The state of the Four-mask Lab, as JavaScript reads it."""

from collections.abc import Sequence
from typing import TypedDict

from plmlab.labs.four_masks.reading import Place
from plmlab.labs.shared.beliefs import BeliefState
from plmlab.labs.shared.masks import MaskState


class Panel(TypedDict):
    """One mask: what is read under it, the ``places`` of its positions in the sentence, and what is believed."""

    name: str
    tokens: list[str]
    names: list[str]
    places: Sequence[Place]
    position: int
    mask: MaskState
    belief: BeliefState


class State(TypedDict):
    """What is drawn: ``word`` is the hidden word, None for a [MASK] that was typed."""

    tokens: list[str]
    hidden: int
    cut: int
    word: str | None
    panels: list[Panel]
    kinds: list[str]
    question: str
    answer: str
