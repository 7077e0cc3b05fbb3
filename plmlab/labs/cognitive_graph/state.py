"""The state that the Cognitive Graph Lab sends to JavaScript; nodes are given by their indices."""

from typing import Any, TypedDict

As = TypedDict("As", {"as": str})
"""The type of a span: "hop", "answer" or "below" (an answer below the threshold)."""


class Span(As):
    """A span predicted by System 1, and the node that it ``leads`` to."""

    sentence: int
    start: int
    end: int
    margin: float
    chance: float
    page: bool
    leads: int | None


class Node(TypedDict):
    """A node: its column and row, the step at which it was found (``since``), and the sentences of its page."""

    name: str
    column: int
    row: int
    missed: bool
    gold: bool
    start: bool
    since: int | None
    sentences: list[list[str]]


class Edge(TypedDict):
    """An edge, with its clue: a sentence of the source's page."""

    source: int
    target: int
    gold: bool
    since: int | None
    sentence: int
    span: Span | None


class Visit(TypedDict):
    """One visit of a node: its clues, the number of sentences in System 1's input (``read``), and the predicted
    spans."""

    clues: list[list[Any]]
    read: int
    spans: list[Span]


class Effect(TypedDict):
    """The effect of an edge's message on the logits of the edge's target and of the answer."""

    source: int
    target: int
    on_target: float
    on_answer: float | None


class Choice(TypedDict):
    """System 2's output for the visited nodes."""

    chances: dict[int, list[float]]
    effects: list[Effect]


class Step(Choice):
    """The state at a step."""

    frontier: list[int]
    hops: list[int]
    answers: list[int]
    visits: dict[int, int]
    answer: str | None
    likeliest: str | None
    chance: float | None
    compared: list[int]


class Graph(TypedDict):
    """A run of the graph expansion; ``gold`` is True if the gold graph is known."""

    nodes: list[Node]
    edges: list[Edge]
    visits: list[Visit]
    steps: list[Step]
    gold: bool


class State(Graph):
    """The data drawn: the question, the excluded nodes and edges (``without``), and the effect of excluding them
    (``changed``)."""

    text: str
    kind: str
    named: list[str]
    preset: int | None
    right: str | None
    note: str
    without: list[Any]
    changed: str
