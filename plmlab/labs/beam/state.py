"""The state of the Beam Lab, as JavaScript reads it; probabilities of the world are None outside its grammar."""

from typing import TypedDict

From = TypedDict("From", {"from": int})
"""How many tokens of a text were there before it grew."""


class Whole(TypedDict):
    """A whole text: how many tokens it ``count``s, its log-probabilities, and whether it was ``cut``."""

    text: str
    count: int
    total: float
    score: float
    cut: bool
    world: float | None


class Grown(TypedDict):
    """A token of a text that grows apart from the beam."""

    token: str
    p: float
    world: float | None
    total: float
    score: float


class Lane(Whole, From):
    """A text that grows apart from the beam."""

    tokens: list[Grown]


class Branch(Grown):
    """A branch of the tree, as `columns` describes it."""

    parent: int
    rank: int
    fate: str
    reason: str
    greedy: bool
    best: bool
    whole: Whole | None


class State(TypedDict):
    """What is drawn: ``read`` is how many tokens were typed, ``left`` why the text is no beginning of the world's."""

    text: str
    source: str
    width: int
    alpha: float
    length: int
    read: int
    world: bool
    left: str
    columns: list[list[Branch]]
    finished: list[Whole]
    greedy: Lane
