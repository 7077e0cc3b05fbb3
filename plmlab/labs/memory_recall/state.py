"""The state that the Memory Recall Lab sends to JavaScript; blocks are given by their positions in the text."""

from typing import TypedDict


class Block(TypedDict):
    """A block: its text, its tokens without [SEP], and whether the question needs it (None if that is unknown)."""

    text: str
    tokens: list[str]
    needed: bool | None


class Step(TypedDict):
    """A step: ``kind`` is "competition", "rehearsal" or "answer". ``scores`` has the judge's score of each block (None:
    not scored), ``memory`` the memory after the step and ``size`` its number of tokens. ``entered`` and ``dropped`` are
    the blocks that entered and decayed, best first, and ``ended`` is the next block, which did not fit."""

    kind: str
    round: int
    windows: int
    scores: list[float | None]
    memory: list[int]
    size: int
    entered: list[int]
    dropped: list[int]
    ended: int | None


class Answer(TypedDict):
    """The predicted answer: the tokens ``start`` to ``end`` (exclusive) of the block at ``position``."""

    position: int
    start: int
    end: int
    text: str


class Cost(TypedDict):
    """Query–key pairs per head and layer: of full attention on all ``tokens``, and of the judge's and reasoner's
    windows."""

    tokens: int
    full: int
    windows: int
    judge: int
    reasoner: int


class Run(TypedDict):
    """MemRecall from the first round to the answer."""

    steps: list[Step]
    answer: Answer
    cost: Cost


class State(Run):
    """The data drawn: the index of the preset (``document``), the tokens of the ``question``, the ``correct`` answer
    ("" if unknown), the changes that the run includes, and ``before``, the answer without them (None: no changes)."""

    document: int
    question: list[str]
    blocks: list[Block]
    correct: str
    capacity: int
    held: list[int]
    excluded: list[int]
    edits: dict[str, str]
    before: Answer | None
