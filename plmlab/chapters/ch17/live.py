"""What chapter 17 runs in the notebook: the bundled RAG, and short trainings."""

from collections.abc import Sequence
from functools import cache
from statistics import fmean

from plmlab.chapters.ch17.questions import PhraseQuestion
from plmlab.chapters.ch17.training import Search, dense, with_documents
from plmlab.checkpoints import load
from plmlab.models.dpr import DPR
from plmlab.models.rag import RAGSequence, RAGToken, RetrieveAndGenerate

DPR_UPDATES, UPDATES, RATE = 80, 100, 1e-3


@cache
def bundled() -> RAGToken:
    """The bundled RAG, whose question encoder also encodes the documents."""
    model: RAGToken = load("rag-world", expect="rag-token")[0]
    return model


def with_bundled(world: int, form: type[RAGSequence] = RAGToken) -> RetrieveAndGenerate:
    """The bundled RAG with the documents of a world, and with the marginal of ``form``."""
    encoder = bundled().question_encoder
    return with_documents(form.from_pretrained(encoder, bundled().generator).eval(), encoder, world)


def with_retriever(dpr: DPR, world: int) -> RetrieveAndGenerate:
    """A RAG with this DPR as its retriever, the bundled generator, and the documents of a world."""
    return with_documents(RAGToken.from_pretrained(dpr.question_encoder, bundled().generator), dpr.document_encoder,
                          world)


def recall(whole: RetrieveAndGenerate, world: int, some: Sequence[PhraseQuestion], search: Search = dense) -> float:
    """The fraction of questions about a world whose facts are all stated in the retrieved documents."""
    found = search(whole, world, some).lists()
    return fmean(one.supported(numbers) for one, numbers in zip(some, found, strict=True))
