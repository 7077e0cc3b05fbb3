"""Ways to select the blocks that the reasoner reads, beside MemRecall with the model's own settings."""

from collections.abc import Iterable, Sequence

from plmlab.chapters.ch15.long_texts import bm25_scores, query_of, relevant_blocks
from plmlab.models.cogltx import CogLTX
from plmlab.models.memory_recall import MemoryBlock, Window, fitting, single_blocks
from plmlab.world.datasets.long_documents import LongDocument, Span

Blocks = Sequence[MemoryBlock]
Spans = Sequence[Span]


def one_step(model: CogLTX, document: LongDocument, blocks: Blocks, spans: Spans) -> Window:
    """The blocks with the judge's highest scores, without rehearsal and decay."""
    return model.recall(query_of(document), blocks, keep=(None,))[-1].kept


def single_scores(model: CogLTX, document: LongDocument, blocks: Blocks, spans: Spans) -> Window:
    """MemRecall that scores each block in a window of its own."""
    return model.recall(query_of(document), blocks, grouping=single_blocks)[-1].kept


def best_by_bm25(model: CogLTX, document: LongDocument, blocks: Blocks, spans: Spans) -> Window:
    """The blocks with the highest BM25 scores for the question."""
    scores = bm25_scores(query_of(document), blocks)
    return filled(model, document, sorted(blocks, key=lambda block: -scores[block.position]))


def first_blocks(model: CogLTX, document: LongDocument, blocks: Blocks, spans: Spans) -> Window:
    """The beginning of the text."""
    return filled(model, document, blocks)


def needed_blocks(model: CogLTX, document: LongDocument, blocks: Blocks, spans: Spans) -> Window:
    """The blocks that the question needs, and the beginning of the text: an upper bound for any selection."""
    return filled(model, document, [*(blocks[position] for position in relevant_blocks(document, spans)), *blocks])


def filled(model: CogLTX, document: LongDocument, ranked: Iterable[MemoryBlock]) -> Window:
    """The blocks in the order given, until the next one does not fit."""
    query = query_of(document)
    return Window(query).with_blocks(fitting(dict.fromkeys(ranked), model.config.capacity - len(query)))
