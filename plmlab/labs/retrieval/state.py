"""The state of the Retrieval Lab, as JavaScript reads it."""

from typing import Any, TypedDict


class Column(TypedDict):
    """A document: its score, its ``prior`` p(z|x), and for each answer p(y|z,x) and the pull r(z)."""

    number: int
    title: str
    score: float
    prior: float
    likelihoods: list[float]
    pulls: list[float]


class Document(Column):
    """A document that is in sight now, its text in ``pieces``."""

    pieces: list[list[Any]]


class Answer(TypedDict):
    """An answer, p(y|x) now and before anything was edited."""

    text: str
    p: float
    right: bool
    before: float | None


class Sights(TypedDict):
    """The answers, and the documents with a letter each."""

    answers: list[Answer]
    documents: list[Document]
    before: list[Column] | None
    letters: dict[str, str]


class Points(TypedDict):
    """Where the statement lies, and what was written; all documents, the nearest first."""

    query: Any
    written: dict[str, Any]
    ranked: list[int]


class State(Sights):
    """What is drawn: how many ``gaps`` the statement has, and which preset it is."""

    gaps: int
    preset: int | None
    plane: Points
