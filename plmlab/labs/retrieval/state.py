"""The state of the Retrieval Lab, as passed to JavaScript."""

from typing import Any, TypedDict


class Column(TypedDict):
    """A document: its score, its retrieval probability p(z|x) (``prior``), and for each answer p(y|z,x)
    (``likelihoods``) and the gradient r(z) on the score (``pulls``)."""

    number: int
    title: str
    score: float
    prior: float
    likelihoods: list[float]
    pulls: list[float]


class Document(Column):
    """A currently retrieved document, with its text split into ``pieces``."""

    pieces: list[list[Any]]


class Answer(TypedDict):
    """An answer, with its probability p(y|x) now (``p``) and before the edits (``before``)."""

    text: str
    p: float
    right: bool
    before: float | None


class Token(TypedDict):
    """A token of a generated answer: for each document p(y_i|x,z,y_<i) (``predictions``) and RAG-Sequence's weight
    p(z|x,y_<i) (``weights``)."""

    text: str
    predictions: list[float]
    weights: list[float]


class Generated(TypedDict):
    """The tokens of a generated answer with [END], and RAG-Token's p(y|x) now and before the edits."""

    tokens: list[Token]
    p: float
    before: float | None


class Sights(TypedDict):
    """The answers, and how each was generated (empty for a masked query); the documents now and before the edits; and
    the letter by which each document is shown."""

    answers: list[Answer]
    generated: list[Generated]
    documents: list[Document]
    before: list[Column] | None
    letters: dict[str, str]


class Points(TypedDict):
    """Coordinates of the query and of the documents written by the user (``written``), and the numbers of all
    documents by decreasing inner product (``ranked``)."""

    query: Any
    written: dict[str, Any]
    ranked: list[int]


class State(Sights):
    """The data drawn, including the number of masked tokens (``gaps``) and the index of the preset. ``kind`` is what is
    retrieved and predicted: "masked" spans or "generated" answers from documents; "entities" or "facts" of a memory."""

    kind: str
    gaps: int
    preset: int | None
    plane: Points
