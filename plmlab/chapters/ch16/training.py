"""How REALM is trained in chapter 16, one part differently in each arm (Guu et al. 2020, §3.3–3.4)."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from operator import attrgetter
from random import Random
from typing import NamedTuple, Self

from plmlab.chapters.ch16.corpora import Statement, corpus
from plmlab.draws import randint, shuffled
from plmlab.models.realm import REALM
from plmlab.models.retrieve_and_read import TOP, RetrieveAndRead
from plmlab.models.text_retriever import TextCorpus, TextRetriever
from plmlab.objectives.retrieval_batches import RetrievedBatch
from plmlab.retrieval.blocks import Block
from plmlab.world.datasets.tokenizer import world_tokenizer

Hides = Callable[[Statement, Random], tuple[int, ...]]
"""(statement, draws) → the places of the tokens that are hidden."""


def salient_span(statement: Statement, rng: Random) -> tuple[int, ...]:
    """The name, year or number that the fact is about: REALM's."""
    return statement.salient


def random_span(statement: Statement, rng: Random) -> tuple[int, ...]:
    """As many tokens one after the other, anywhere."""
    size = len(statement.salient)
    first = randint(rng, len(statement.tokens) - size + 1)
    return tuple(range(first, first + size))


def random_tokens(statement: Statement, rng: Random) -> tuple[int, ...]:
    """15 % of the tokens, one at least, as BERT's."""
    places = shuffled(rng, range(len(statement.tokens)))
    return tuple(sorted(places[:max(1, round(0.15 * len(places)))]))


class Lesson(NamedTuple):
    """Documents, the statements that are learned from with them, and those of these that are ``quoted`` from them."""

    blocks: Sequence[Block]
    statements: Sequence[Statement]
    quoted: Sequence[Statement]

    @classmethod
    def of(cls, world: int, wanted: Callable[[Statement], bool] = lambda one: True) -> Self:
        """A world's documents, and those of its statements that are wanted."""
        told = corpus(world)
        return cls(told.blocks, [*filter(wanted, told.statements)], [*filter(wanted, told.quoted)])


@dataclass(frozen=True)
class Arm:
    """What may be done otherwise: which tokens are ``hidden``, whether the retriever begins ``warm``, whether its index
    is made anew (``fresh``), whether there is a ``null`` document, whether a statement's source is ``excluded``, and
    which statements of a lesson are ``drawn`` from."""

    hidden: Hides = salient_span
    warm: bool = True
    fresh: bool = True
    null: bool = True
    excluded: bool = True
    drawn: Callable[[Lesson], Sequence[Statement]] = attrgetter("statements")


QUOTED: Callable[[Lesson], Sequence[Statement]] = attrgetter("quoted")
"""Draws from what is quoted from the documents alone."""


class LookedUp:
    """Step → statements of one world, each with what the retriever, as it is then, finds for it. Each ``every`` steps
    the next world comes, and its documents are embedded anew; if the arm's index is stale, by the embedder as it was
    in the beginning."""

    def __init__(self, model: REALM, lessons: Callable[[int], Lesson], arm: Arm, *, seed: int, batch: int, every: int,
                 most: int = TOP) -> None:
        self.model, self.lessons, self.arm = model, lessons, arm
        self.seed, self.size, self.every, self.most = seed, batch, every, most
        self.old = None if arm.fresh else deepcopy(model)
        self._at: int | None = None

    def __call__(self, step: int) -> RetrievedBatch:
        """The batch of a step; the model is left in the mode in which it was."""
        was = self.model.training
        if self._at != step // self.every:
            self._at = step // self.every
            self.lesson = self.lessons(self._at)
            retriever = TextRetriever(world_tokenizer(), self.model.embedder, (self.old or self.model).embedder)
            self.lookup = RetrieveAndRead(self.model, TextCorpus(retriever, self.lesson.blocks))
        rng = Random(f"{self.seed}:{step}")
        some = self.arm.drawn(self.lesson)
        drawn = [some[randint(rng, len(some))] for _ in range(self.size)]
        queries = [one.query(self.arm.hidden(one, rng), self.arm.excluded) for one in drawn]
        found = self.lookup.retrieve(queries, self.most)
        batch = self.lookup.batch(queries, found.with_null() if self.arm.null else found)
        self.model.train(was)
        return batch


def among(model: REALM, world: int) -> RetrieveAndRead:
    """A model among the documents of a world."""
    return RetrieveAndRead.of(model, world_tokenizer(), corpus(world).blocks)


def recall(lookup: RetrieveAndRead, statements: Sequence[Statement], most: int = TOP) -> float:
    """The share of statements for which one of the ``most`` best documents tells the fact."""
    found = lookup.retrieve([one.query() for one in statements], most).lists()
    return sum(not one.tell.isdisjoint(numbers) for one, numbers in zip(statements, found, strict=True)) / len(found)
