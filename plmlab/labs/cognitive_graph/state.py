"""The state of the Cognitive Graph Lab, as JavaScript reads it: nodes are told by their numbers."""

from typing import Any, TypedDict

As = TypedDict("As", {"as": str})
"""What a span was pointed at as."""


class Span(As):
    """What System 1 pointed at in a page, and the node that it ``leads`` to."""

    sentence: int
    start: int
    end: int
    margin: float
    chance: float
    page: bool
    leads: int | None


class Node(TypedDict):
    """A node at its place, the step that found it (``since``), and its page."""

    name: str
    column: int
    row: int
    missed: bool
    gold: bool
    start: bool
    since: int | None
    sentences: list[list[str]]


class Edge(TypedDict):
    """An edge with its clue: a sentence of the source's page."""

    source: int
    target: int
    gold: bool
    since: int | None
    sentence: int
    span: Span | None


class Visit(TypedDict):
    """A page as it was read: its clues, how many sentences of it, and what was pointed at."""

    clues: list[list[Any]]
    read: int
    spans: list[Span]


class Effect(TypedDict):
    """How far an edge's message moves two logits."""

    source: int
    target: int
    on_target: float
    on_answer: float | None


class Choice(TypedDict):
    """What System 2 makes of the nodes that were read."""

    chances: dict[int, list[float]]
    effects: list[Effect]


class Step(Choice):
    """What is known at a step."""

    frontier: list[int]
    hops: list[int]
    answers: list[int]
    visits: dict[int, int]
    answer: str | None
    likeliest: str | None
    chance: float | None
    compared: list[int]


class Graph(TypedDict):
    """A run of the graph; whether there is a ``gold`` one."""

    nodes: list[Node]
    edges: list[Edge]
    visits: list[Visit]
    steps: list[Step]
    gold: bool


class State(Graph):
    """What is drawn: the question, what is forbidden (``without``), and what that changed."""

    text: str
    kind: str
    named: list[str]
    preset: int | None
    right: str | None
    note: str
    without: list[Any]
    changed: str
