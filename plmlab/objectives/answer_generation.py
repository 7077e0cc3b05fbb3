"""RAG's inputs (Lewis et al. 2020, §2.3): a question and a document in one encoder input; the answer is the decoder's
target."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.example import IGNORE, PairBatch, PairExample
from plmlab.objectives.retrieval_batches import RetrievedBatch
from plmlab.retrieval.blocks import Block
from plmlab.text.vocabulary import Vocabulary

Combine = Callable[[str, Block], str]
"""``combine(question, document)`` is the text that the generator's encoder processes."""


def question_first(question: str, document: Block) -> str:
    """The question, then the title and the text of the document, separated by spaces. The paper concatenates question
    and document; it does not mention the title."""
    return f"{question} {document.title} {document.text}".strip()


def document_first(question: str, document: Block) -> str:
    """title / text // question, as in ``transformers``. If such an input is truncated, the question is lost first."""
    return f"{document.title} / {document.text} // {question}".replace("  ", " ").strip()


def without_start_target(example: PairExample, vocab: Vocabulary) -> PairExample:
    """The example without the target [START], which BART's decoder predicts first. Decoding begins after [START], and
    the loss must score the same tokens: the answer and the [END] after it, as in the authors' code."""
    targets = example.target.targets
    scored = torch.where(targets == vocab.need("start"), IGNORE, targets)
    return replace(example, target=replace(example.target, targets=scored))


@dataclass(frozen=True)
class AnswerBatch(RetrievedBatch):
    """Questions with their retrieved documents, and for each pair of a question and a document the generator's input,
    whose target is the answer. The document vectors are precomputed and frozen."""

    reader_batch: ClassVar = PairBatch
    documents: Float[Tensor, "document width"]
    reader_inputs: PairBatch  # type: ignore[assignment]
