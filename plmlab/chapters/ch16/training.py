"""Training of REALM and its ablations in chapter 16 (Guu et al. 2020, §3.3–3.4)."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from operator import attrgetter
from random import Random
from typing import NamedTuple, Self

from plmlab.chapters.ch16.corpora import Statement, corpus
from plmlab.draws import randint, shuffled
from plmlab.models.realm import REALM
from plmlab.models.retrieve_and_read import TOP_K, RetrieveAndRead
from plmlab.models.text_retriever import TextCorpus, TextRetriever
from plmlab.objectives.retrieval_batches import RetrievedBatch
from plmlab.retrieval.blocks import Block
from plmlab.world.datasets.tokenizer import world_tokenizer

Hides = Callable[[Statement, Random], tuple[int, ...]]
"""(statement, random generator) → the indices of the masked tokens."""


def salient_span(statement: Statement, rng: Random) -> tuple[int, ...]:
    """REALM's salient span masking: mask the name, year or number that the fact is about."""
    return statement.salient


def random_span(statement: Statement, rng: Random) -> tuple[int, ...]:
    """Mask a random span of the same length as the salient span."""
    size = len(statement.salient)
    first = randint(rng, len(statement.tokens) - size + 1)
    return tuple(range(first, first + size))


def random_tokens(statement: Statement, rng: Random) -> tuple[int, ...]:
    """Mask 15 % of the tokens, and at least one, as in BERT."""
    places = shuffled(rng, range(len(statement.tokens)))
    return tuple(sorted(places[:max(1, round(0.15 * len(places)))]))


class TrainingSet(NamedTuple):
    """Documents, training statements about them, and those statements that are ``quoted`` from them."""

    blocks: Sequence[Block]
    statements: Sequence[Statement]
    quoted: Sequence[Statement]

    @classmethod
    def of(cls, world: int, wanted: Callable[[Statement], bool] = lambda one: True) -> Self:
        """The documents of a world, and its statements for which ``wanted`` is true."""
        documents = corpus(world)
        return cls(documents.blocks, [*filter(wanted, documents.statements)], [*filter(wanted, documents.quoted)])


@dataclass(frozen=True)
class Arm:
    """Options of a variant: which tokens are masked (``hidden``), whether the retriever has a ``warm`` start, whether
    its index is refreshed (``fresh``), whether there is a ``null`` document, whether a statement's source is
    ``excluded`` from retrieval, and which statements are sampled (``drawn``)."""

    hidden: Hides = salient_span
    warm: bool = True
    fresh: bool = True
    null: bool = True
    excluded: bool = True
    drawn: Callable[[TrainingSet], Sequence[Statement]] = attrgetter("statements")


QUOTED: Callable[[TrainingSet], Sequence[Statement]] = attrgetter("quoted")
"""Samples only statements that are quoted from the documents."""


class RetrievalBatches:
    """Function from a step to statements of one world, each with the documents that the retriever currently finds for
    it. After every ``every`` steps the next world is used and its documents are embedded; if the variant's index is not
    refreshed, they are embedded with the initial embedder."""

    def __init__(self, model: REALM, training_sets: Callable[[int], TrainingSet], arm: Arm, *, seed: int, batch: int,
                 every: int, top_k: int = TOP_K) -> None:
        self.model, self.training_sets, self.arm = model, training_sets, arm
        self.seed, self.size, self.every, self.top_k = seed, batch, every, top_k
        self.old = None if arm.fresh else deepcopy(model)
        self._at: int | None = None

    def __call__(self, step: int) -> RetrievedBatch:
        """The batch of a step. The model's training mode is left unchanged."""
        was = self.model.training
        if self._at != step // self.every:
            self._at = step // self.every
            self.training_set = self.training_sets(self._at)
            retriever = TextRetriever(world_tokenizer(), self.model.embedder, (self.old or self.model).embedder)
            self.lookup = RetrieveAndRead(self.model, TextCorpus(retriever, self.training_set.blocks))
        rng = Random(f"{self.seed}:{step}")
        statements = self.arm.drawn(self.training_set)
        drawn = [statements[randint(rng, len(statements))] for _ in range(self.size)]
        queries = [one.query(self.arm.hidden(one, rng), self.arm.excluded) for one in drawn]
        retrieved = self.lookup.retrieve(queries, self.top_k)
        batch = self.lookup.batch(queries, retrieved.with_null() if self.arm.null else retrieved)
        self.model.train(was)
        return batch


def with_corpus(model: REALM, world: int) -> RetrieveAndRead:
    """A model with the documents of a world as its corpus."""
    return RetrieveAndRead.of(model, world_tokenizer(), corpus(world).blocks)


def recall(lookup: RetrieveAndRead, statements: Sequence[Statement], top_k: int = TOP_K) -> float:
    """Recall@``top_k``: the fraction of statements whose fact is stated in one of the top ``top_k`` documents."""
    ranked = lookup.retrieve([one.query() for one in statements], top_k).lists()
    return sum(not one.tell.isdisjoint(numbers) for one, numbers in zip(statements, ranked, strict=True)) / len(ranked)
