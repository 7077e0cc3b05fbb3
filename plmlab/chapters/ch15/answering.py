"""Answer the questions about long documents with a CogLTX, and measure answers and retrieval."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from plmlab.chapters.ch15.baselines import said
from plmlab.chapters.ch15.long_texts import block_spans, memory_blocks, overlapping, query_of
from plmlab.models.cogltx import CogLTX
from plmlab.models.memory_recall import MemoryBlock, Window
from plmlab.world.datasets.long_documents import LongDocument, Span

Select = Callable[[CogLTX, LongDocument, Sequence[MemoryBlock], Sequence[Span]], Window]
"""Selects the blocks that the reasoner reads, given the blocks and their spans in the document."""


class Outcome(NamedTuple):
    """What a model did with a document: whether the ``answer`` is correct, whether the blocks that it read contain the
    ``first`` and the ``second`` supporting sentence, and their properties: length and distance in tokens."""

    answer: bool
    first: bool
    second: bool
    length: int
    distance: int


def memory(model: CogLTX, document: LongDocument, blocks: Sequence[MemoryBlock], spans: Sequence[Span]) -> Window:
    """The final memory of MemRecall with the model's own settings."""
    return model.recall(query_of(document), blocks)[-1].kept


def outcome(model: CogLTX, document: LongDocument, select: Select = memory) -> Outcome:
    """Answer the question of one document from the selected blocks."""
    spans = block_spans(document, model.config.longest)
    blocks = memory_blocks(document, spans)
    window = select(model, document, blocks, spans)
    read = {block.position for block in window.blocks}
    position, start, end = model.answer(window)
    held = [read.issuperset(overlapping(spans, (one.start, one.end))) for one in document.supports]
    correct = blocks[position].ids[start:end] == said(document, document.answer)
    return Outcome(correct, held[0], held[1], len(document.tokens), document.distance)


def outcomes(model: CogLTX, documents: Iterable[LongDocument], select: Select = memory) -> list[Outcome]:
    """The `outcome` of each document."""
    return [outcome(model, document, select) for document in documents]
