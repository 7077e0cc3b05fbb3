"""The variants of chapter 17: RAG-Sequence and RAG-Token with a learned, a frozen and a lexical retriever (Lewis et al.
2020, table 6)."""

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
from plmlab.train import History, fit
from plmlab.world.datasets.tokenizer import ids

LENGTH, BEAM, CHUNK = 12, 4, 16
"""Maximum tokens of an answer, its [END] included; beam size; questions per batch."""


class FixedRetrieval(RAGSequence):
    """A RAG whose retriever is not trained: p(z|x) is the softmax of the scores with which the documents were found."""

    def retrieved(self, batch: AnswerBatch) -> Retrieved:
        """The retrieved documents with their given scores."""
        return batch.retrieved


class FixedSequence(FixedRetrieval, RAGSequence):
    """RAG-Sequence without a gradient to the retriever."""


class FixedToken(FixedRetrieval, RAGToken):
    """RAG-Token without a gradient to the retriever."""


@dataclass(frozen=True)
class Arm:
    """A variant: the class of its model, and how it retrieves."""

    model: type[RAGSequence]
    search: Search = dense


SEQUENCE, TOKEN = "Sequence", "Token"
LEARNED, FROZEN, LEXICAL = "learned", "frozen", "BM25"
ARMS: Mapping[tuple[str, str], Arm] = {
    (SEQUENCE, LEARNED): Arm(RAGSequence), (SEQUENCE, FROZEN): Arm(FixedSequence),
    (SEQUENCE, LEXICAL): Arm(FixedSequence, lexical), (TOKEN, LEARNED): Arm(RAGToken),
    (TOKEN, FROZEN): Arm(FixedToken), (TOKEN, LEXICAL): Arm(FixedToken, lexical)}


def train(model: RAGSequence, encoder: nn.Module, arm: Arm, lr: float, seed: int, updates: int = UPDATES,
          **options: Any) -> History:
    """Train the generator and, if the retriever is learned, the question encoder; ``encoder`` is the frozen document
    encoder, and ``options`` are passed to `fit`."""
    return fit(model, AnswerBatches(model, encoder, seed, search=arm.search), steps=updates, lr=lr,
               warmup=updates // 10, compile=False, **options)


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
    outcomes, vocab = list[Answered](), whole.tokenizer.vocab
    for first in range(0, len(some), CHUNK):
        chunk, retrieved = some[first:first + CHUNK], found[first:first + CHUNK]
        batch = whole.batch([" ".join(one.words) for one in chunk], retrieved)
        answers = whole.model.generate(batch, vocab, length=LENGTH, beam=BEAM)
        for one, best, numbers in zip(chunk, answers, retrieved.lists(), strict=True):
            tokens = [token for token in best[0].tokens if token != vocab.end]
            outcomes.append(Answered(tokens == ids(one.answer), one.supported(numbers),
                                     grounded(world, numbers, whole.tokenizer.tokens(tokens))))
    return outcomes


def grounded(world: int, numbers: Sequence[int], words: Sequence[str]) -> bool:
    """Whether each part of an answer, between "and"s, is written in one of the documents or in its title."""
    texts = [f" {documents(world).blocks[number].title} {documents(world).blocks[number].text} " for number in numbers]
    return all(any(f" {part.strip()} " in text for text in texts) for part in " ".join(words).split(" and "))


def figures(outcomes: Sequence[Answered]) -> dict[str, float]:
    """The fraction of correct answers (``exact match``), of questions whose facts were retrieved (``recall``), and of
    answers of which some part is in no retrieved document (``not in the documents``)."""
    return {"exact match": fmean(one.correct for one in outcomes), "recall": fmean(one.supported for one in outcomes),
            "not in the documents": fmean(not one.grounded for one in outcomes)}


def asked(whole: RAGSequence, encoder: nn.Module, world: int, kinds: Mapping[str, Sequence[PhraseQuestion]],
          search: Search = dense) -> dict[str, list[Answered]]:
    """Kind → the outcomes of its questions about a world."""
    lookup = with_documents(whole.eval(), encoder, world)
    return {kind: answered(lookup, world, some, search) for kind, some in kinds.items()}
