"""The state of the World Lab, as JavaScript reads it: a part for each view."""

from typing import Any, TypedDict

from plmlab.labs.shared.probabilities import ProbabilityState


class Named(TypedDict):
    """A thing of the world."""

    key: str
    name: str
    kind: str


class End(Named):
    """An end of a fact; whether it has an article (``named``)."""

    named: bool


class Fact(TypedDict):
    """One fact: two things, and the name of their relation."""

    subject: End
    relation: str
    object: End


class Mention(Named):
    """Where a thing is named in a sentence."""

    start: int
    end: int


class Agreement(TypedDict):
    """A verb and its subject, and the nouns of the other number between them."""

    subject: int
    verb: int
    number: str
    attractors: int
    distance: int


class Sentence(TypedDict):
    """One sentence with its gold labels; ``nats`` is −log p."""

    words: list[str]
    tags: list[str]
    senses: list[str | None]
    mentions: list[Mention]
    agreement: list[Agreement]
    facts: list[Fact]
    chinese: str
    nats: float


class Entity(Named):
    """A thing with its article, and the facts that have it at either end; whether it is ``held`` out."""

    chinese: str
    sentences: list[Sentence]
    gist: list[Any]
    facts: list[Fact]
    held: bool


class Hop(TypedDict):
    """A hop of a question's graph, and the sentence where it is read."""

    source: str
    target: str
    name: str
    kind: str
    relation: str
    backward: bool
    article: str
    sentence: Sentence
    place: int


class Question(TypedDict):
    """A question hop by hop, and answers to guess from."""

    number: int
    count: int
    words: list[str]
    chinese: str
    hops: list[Hop]
    start: Named
    answer: str
    guesses: list[str]
    articles: list[str]
    needed: int
    facts: list[Fact]


class Size(TypedDict):
    """Which world it is, and how large."""

    name: str
    words: int
    entities: int
    arcs: int


class State(TypedDict, total=False):
    """What is drawn: the views that were made, all after the first computing."""

    sentences: list[Sentence]
    probability: ProbabilityState
    entity: Entity
    question: Question
    world: Size
