"""The variants of chapter 17: RAG-Sequence and RAG-Token with a learned, a frozen and a lexical retriever (Lewis et al.
2020, table 6), a generator without documents, and one with all documents in its input."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from torch import nn

from plmlab.chapters.ch17.questions import PhraseQuestion, documents
from plmlab.chapters.ch17.training import UPDATES, AnswerBatches, Search, dense, lexical, with_documents
from plmlab.models.rag import RAGSequence, RAGToken, RetrieveAndGenerate
from plmlab.objectives.answer_generation import AnswerBatch
from plmlab.retrieval import Retrieved
from plmlab.retrieval.blocks import Block
from plmlab.train import History, fit

LENGTH, BEAM, CHUNK = 12, 4, 16
"""Maximum tokens of an answer, its [END] included; beam size; questions per batch."""


class FixedSequence(RAGSequence):
    """RAG-Sequence whose retriever is not trained: p(z|x) is the softmax of the scores with which the documents were
    found."""

    def retrieved(self, batch: AnswerBatch) -> Retrieved:
        """The retrieved documents with their given scores."""
        return batch.retrieved


class FixedToken(FixedSequence, RAGToken):
    """RAG-Token whose retriever is not trained."""


class OneInput(RetrieveAndGenerate):
    """A system whose generator has one input per question, instead of one per retrieved document."""

    def context(self, question: str, documents: Sequence[Block]) -> str:
        """The input of the generator's encoder, given the retrieved documents, the best one first."""
        raise NotImplementedError

    def batch(self, questions: Sequence[str], found: Retrieved, answers: Sequence[str] | None = None) -> AnswerBatch:
        """Batch of questions with one input each."""
        rows, documents = found.lists(), self.corpus.documents
        texts = {question: self.context(question, [documents[number] for number in row])
                 for question, row in zip(questions, rows, strict=True)}
        alone = RetrieveAndGenerate(self.model, self.corpus, self.tokenizer, lambda question, _: texts[question])
        return alone.batch(questions, Retrieved.of([row[:1] for row in rows]), answers)


class ClosedBook(OneInput):
    """A generator that has no documents."""

    def context(self, question: str, documents: Sequence[Block]) -> str:
        """The question alone."""
        return question


class LongContext(OneInput):
    """A generator that has the three best documents in one input. With a question, three blocks of 40 tokens fit into
    the 160 positions of `bart-world`."""

    def context(self, question: str, documents: Sequence[Block]) -> str:
        """The question, then the titles and the texts of the documents."""
        return " ".join([question, *(f"{block.title} {block.text}" for block in documents[:3])])


@dataclass(frozen=True)
class Arm:
    """A variant: the class of its model, how it retrieves, and the class of the system that builds its inputs."""

    model: type[RAGSequence]
    search: Search = dense
    system: type[RetrieveAndGenerate] = RetrieveAndGenerate


SEQUENCE, TOKEN = "Sequence", "Token"
LEARNED, FROZEN, LEXICAL = "learned", "frozen", "BM25"
CLOSED_BOOK, LONG_CONTEXT = "no documents", "one context"
ARMS: Mapping[tuple[str, str], Arm] = {
    (SEQUENCE, LEARNED): Arm(RAGSequence), (SEQUENCE, FROZEN): Arm(FixedSequence),
    (SEQUENCE, LEXICAL): Arm(FixedSequence, lexical), (TOKEN, LEARNED): Arm(RAGToken),
    (TOKEN, FROZEN): Arm(FixedToken), (TOKEN, LEXICAL): Arm(FixedToken, lexical),
    (TOKEN, CLOSED_BOOK): Arm(FixedToken, system=ClosedBook),
    (TOKEN, LONG_CONTEXT): Arm(FixedToken, system=LongContext)}


def train(model: RAGSequence, encoder: nn.Module, arm: Arm, lr: float, seed: int, updates: int = UPDATES,
          **options: Any) -> History:
    """Train the generator and, if the retriever is learned, the question encoder; ``encoder`` is the frozen document
    encoder, and ``options`` are passed to `fit`."""
    return fit(model, AnswerBatches(model, encoder, seed, search=arm.search, system=arm.system), steps=updates,
               lr=lr, warmup=updates // 10, compile=False, **options)


@dataclass(frozen=True)
class Answered:
    """A question's outcome: whether the answer is ``correct``, whether all facts of the question are in the retrieved
    documents (``supported``), and whether each part of the answer is in one of them (``grounded``)."""

    correct: bool
    supported: bool
    grounded: bool


def answered(whole: RetrieveAndGenerate, world: int, some: Sequence[PhraseQuestion], search: Search = dense,
             ) -> list[Answered]:
    """The outcome of each question about a world."""
    found = search(whole, world, some)
    return [Answered(words == one.answer, one.supported(numbers), grounded(world, numbers, words))
            for one, numbers, words in zip(some, found.lists(), answers(whole, some, found), strict=True)]


def answers(whole: RetrieveAndGenerate, some: Sequence[PhraseQuestion], found: Retrieved) -> list[tuple[str, ...]]:
    """The words of the most probable answer to each question, given the documents found for it."""
    words, vocab = list[tuple[str, ...]](), whole.tokenizer.vocab
    for first in range(0, len(some), CHUNK):
        chunk = slice(first, first + CHUNK)
        batch = whole.batch([one.text for one in some[chunk]], found[chunk])
        for best, *_ in whole.model.generate(batch, vocab, length=LENGTH, beam=BEAM):
            words.append(tuple(whole.tokenizer.tokens([token for token in best.tokens if token != vocab.end])))
    return words


def grounded(world: int, numbers: Sequence[int], words: Sequence[str]) -> bool:
    """Whether each part of an answer, between "and"s, is written in one of the documents or in its title."""
    texts = [f" {documents(world).blocks[number].title} {documents(world).blocks[number].text} " for number in numbers]
    return all(any(f" {part.strip()} " in text for text in texts) for part in " ".join(words).split(" and "))


def figures(outcomes: Sequence[Answered]) -> dict[str, float]:
    """The fraction of correct answers (``exact match``), of questions whose facts were retrieved (``recall``), and of
    answers of which some part is in no retrieved document (``not in the documents``)."""
    return {"exact match": fmean(one.correct for one in outcomes), "recall": fmean(one.supported for one in outcomes),
            "not in the documents": fmean(not one.grounded for one in outcomes)}


def asked(model: RAGSequence, encoder: nn.Module, world: int, kinds: Mapping[str, Sequence[PhraseQuestion]],
          arm: Arm = ARMS[TOKEN, FROZEN]) -> dict[str, list[Answered]]:
    """Kind → the outcomes of its questions about a world."""
    whole = with_documents(model.eval(), encoder, world, arm.system)
    return {kind: answered(whole, world, some, arm.search) for kind, some in kinds.items()}
