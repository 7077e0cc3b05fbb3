"""Ways to select the blocks that the reasoner reads: MemRecall, its ablations, and baselines."""

from collections.abc import Callable, Iterable

from plmlab.chapters.ch15.long_texts import BlockedDocument, bm25_scores
from plmlab.models.cogltx import CogLTX
from plmlab.models.memory_recall import MemoryBlock, Window, fitting, single_blocks

Select = Callable[[CogLTX, BlockedDocument], Window]
"""Selects the blocks that the reasoner reads."""


def mem_recall(model: CogLTX, text: BlockedDocument) -> Window:
    """The final memory of MemRecall with the model's own settings."""
    return model.recall(text.query, text.blocks)[-1].kept


def one_step(model: CogLTX, text: BlockedDocument) -> Window:
    """The blocks with the judge's highest scores, without rehearsal and decay."""
    return model.recall(text.query, text.blocks, keep=(None,))[-1].kept


def single_scores(model: CogLTX, text: BlockedDocument) -> Window:
    """MemRecall that scores each block in a window of its own."""
    return model.recall(text.query, text.blocks, grouping=single_blocks)[-1].kept


def best_by_bm25(model: CogLTX, text: BlockedDocument) -> Window:
    """The blocks with the highest BM25 scores for the question."""
    scores = bm25_scores(text.query, text.blocks)
    return filled(model, text, sorted(text.blocks, key=lambda block: -scores[block.position]))


def first_blocks(model: CogLTX, text: BlockedDocument) -> Window:
    """The beginning of the text."""
    return filled(model, text, text.blocks)


def needed_blocks(model: CogLTX, text: BlockedDocument) -> Window:
    """The `gold_blocks` and the beginning of the text."""
    return filled(model, text, [*gold_blocks(text), *text.blocks])


def gold_blocks(text: BlockedDocument) -> list[MemoryBlock]:
    """The blocks that the question needs, those of both supporting sentences."""
    return [text.blocks[position] for position in text.relevant]


def filled(model: CogLTX, text: BlockedDocument, ranked: Iterable[MemoryBlock]) -> Window:
    """The blocks in the order given, until the next one does not fit."""
    room = model.config.capacity - len(text.query)
    return Window(text.query).with_blocks(fitting(dict.fromkeys(ranked), room))
