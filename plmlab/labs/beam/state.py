"""The state of the Beam Lab, as passed to JavaScript. Probabilities under the world are None outside its grammar."""

from typing import TypedDict

From = TypedDict("From", {"from": int})
"""The number of tokens at which a path branches off."""


class Whole(TypedDict):
    """A complete text: its number of tokens (``count``), its log-probabilities, and whether the length limit ``cut`` it
    off."""

    text: str
    count: int
    total: float
    score: float
    cut: bool
    world: float | None


class Grown(TypedDict):
    """A token of a hypothesis that has left the beam."""

    token: str
    p: float
    world: float | None
    total: float
    score: float


class Lane(Whole, From):
    """A path outside the beam."""

    tokens: list[Grown]


class Branch(Grown):
    """A branch of the tree; see `columns`."""

    parent: int
    rank: int
    fate: str
    reason: str
    greedy: bool
    best: bool
    whole: Whole | None


class State(TypedDict):
    """The data drawn: ``read`` is the number of prompt tokens; ``left`` explains why the prompt is not in the
    grammar."""

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
