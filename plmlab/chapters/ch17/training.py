"""Training of DPR and RAG in chapter 17 on the questions of many worlds."""

from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import Any

from torch import nn

from plmlab.chapters.ch17.questions import KINDS, PhraseQuestion, documents, questions
from plmlab.draws import choice, shuffled
from plmlab.example import Example
from plmlab.models.dpr import DPR
from plmlab.models.rag import TOP_K, RAGSequence, RetrieveAndGenerate
from plmlab.objectives.answer_generation import AnswerBatch
from plmlab.objectives.inverse_cloze import MatchingBatch
from plmlab.objectives.reader_inputs import pair_input, query_input
from plmlab.retrieval import BM25, Retrieved
from plmlab.train import History, fit
from plmlab.world.datasets.fact_documents import TRAINING
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

DPR_UPDATES, DPR_BATCH, DPR_RATE = 2000, 32, 5e-4
UPDATES, BATCH, EVERY = 800, 8, 25
"""Updates of RAG, questions per update, and updates between two worlds."""


@cache
def ranking(world: int) -> BM25:
    """BM25 over the titles and texts of a world's documents."""
    return BM25([f"{block.title} {block.text}".split() for block in documents(world).blocks])


def drawn(world: int, count: int, rng: Random) -> list[PhraseQuestion]:
    """Random questions about a world, of each kind with the same probability."""
    return [choice(rng, questions(world)[choice(rng, KINDS)]) for _ in range(count)]


def hard_negative(world: int, question: PhraseQuestion) -> int:
    """The best document by BM25 that states no fact of the question, and whose text contains no part of the answer."""
    corpus = documents(world)
    told = frozenset.union(*question.told)
    return next(number for number in ranking(world).search([question.words], len(corpus.blocks)).lists()[0]
                if number not in told and not any(corpus.contains(number, part.answer) for part in question.parts))


def document_input(world: int, number: int) -> Example:
    """The document encoder's input."""
    block = documents(world).blocks[number]
    return pair_input(ids(block.title.split()), ids(block.text.split()), world_tokenizer().vocab)


def matching_batches(seed: int, worlds: Sequence[int] = TRAINING) -> Callable[[int], MatchingBatch]:
    """Return a function from a step to questions about one world, each with a document that states a fact of it and
    with a hard negative."""
    vocab = world_tokenizer().vocab

    def batch(step: int) -> MatchingBatch:
        rng = Random(f"{seed}:{step}")
        world = choice(rng, worlds)
        some = drawn(world, DPR_BATCH, rng)
        pairs = [(query_input(ids(one.words), (), vocab), document_input(world, choice(rng, sorted(one.gold))))
                 for one in some]
        return MatchingBatch.of(pairs, [document_input(world, hard_negative(world, one)) for one in some],
                                pad=vocab.need("pad"))
    return batch


def train_dpr(model: DPR, seed: int, updates: int = DPR_UPDATES, **options: Any) -> History:
    """Train both encoders with in-batch and hard negatives; ``options`` are passed to `fit`."""
    return fit(model, matching_batches(seed), steps=updates, warmup=updates // 10, compile=False,
               **{"lr": DPR_RATE} | options)


Search = Callable[[RetrieveAndGenerate, int, Sequence[PhraseQuestion]], Retrieved]


def with_documents(model: RAGSequence, encoder: nn.Module, world: int,
                   system: type[RetrieveAndGenerate] = RetrieveAndGenerate) -> RetrieveAndGenerate:
    """A RAG with the documents of a world as its corpus, embedded by the document encoder."""
    return system.of(model, encoder, world_tokenizer(), documents(world).blocks)


def dense(whole: RetrieveAndGenerate, world: int, some: Sequence[PhraseQuestion]) -> Retrieved:
    """The documents whose vectors have the largest inner products with that of the question."""
    return whole.retrieve([one.text for one in some])


def lexical(whole: RetrieveAndGenerate, world: int, some: Sequence[PhraseQuestion]) -> Retrieved:
    """The best documents by BM25, whose scores are used as logits (§4.5)."""
    return ranking(world).search([one.words for one in some], TOP_K)


class AnswerBatches:
    """Function from a step to questions about one world, each with its documents and the answer. The world changes
    every `EVERY` updates; its documents are embedded once, by the frozen document encoder.

    ``search(whole, world, questions)`` retrieves documents with the RAG ``whole``, of class ``system``.
    """

    def __init__(self, model: RAGSequence, encoder: nn.Module, seed: int, *, search: Search = dense,
                 system: type[RetrieveAndGenerate] = RetrieveAndGenerate, worlds: Sequence[int] = TRAINING,
                 batch: int = BATCH) -> None:
        self.model, self.encoder, self.seed, self.size = model, encoder, seed, batch
        self.search, self.system = search, system
        self.worlds = shuffled(Random(seed), worlds)
        self._corpora: dict[int, RetrieveAndGenerate] = {}

    def __call__(self, step: int) -> AnswerBatch:
        """The batch of a step. The model's training mode is left unchanged."""
        was = self.model.training
        world, rng = self.worlds[step // EVERY % len(self.worlds)], Random(f"{self.seed}:{step}")
        if world not in self._corpora:
            self._corpora[world] = with_documents(self.model, self.encoder, world, self.system)
        whole, some = self._corpora[world], drawn(world, self.size, rng)
        batch = whole.batch([one.text for one in some], self.search(whole, world, some),
                            [" ".join(one.answer) for one in some])
        self.model.train(was)
        return batch
