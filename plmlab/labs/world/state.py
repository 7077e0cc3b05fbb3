"""The state of the Small World Lab, as passed to JavaScript, with one part for each view."""

from typing import Any, TypedDict

from plmlab.labs.shared.probabilities import ProbabilityState


class Named(TypedDict):
    """An entity of the world."""

    key: str
    name: str
    kind: str


class End(Named):
    """The subject or object of a fact; ``named`` is true if it has an article."""

    named: bool


class Fact(TypedDict):
    """One fact: two entities, and the name of their relation."""

    subject: End
    relation: str
    object: End


class Mention(Named):
    """A mention of an entity in a sentence."""

    start: int
    end: int


class Agreement(TypedDict):
    """Subject–verb agreement: the positions of the subject and the verb, their distance, and the number of attractors
    between them."""

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
    """An entity with its article and its facts; ``held`` is true if the entity is held out from training."""

    chinese: str
    sentences: list[Sentence]
    gist: list[Any]
    facts: list[Fact]
    held: bool


class Hop(TypedDict):
    """A hop of a question's graph, with its supporting sentence."""

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
    """A question, its hops, and answers for multiple choice."""

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
    """The name and the size of the world."""

    name: str
    words: int
    entities: int
    arcs: int


class State(TypedDict, total=False):
    """The data drawn: all views computed so far. After the first computation, all views are present."""

    sentences: list[Sentence]
    probability: ProbabilityState
    entity: Entity
    question: Question
    world: Size
