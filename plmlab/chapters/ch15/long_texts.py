"""Long documents of the Small World as the input of CogLTX: blocks with their relevance and the answer."""

from collections.abc import Iterable, Sequence
from functools import cache

from plmlab.models.cogltx_training import LongText
from plmlab.models.memory_recall import MemoryBlock
from plmlab.retrieval import BM25
from plmlab.text.splitting import PUNCTUATION_COSTS, split_at_punctuation
from plmlab.text.vocabulary import Vocabulary
from plmlab.world.datasets.long_documents import LongDocument, Span
from plmlab.world.datasets.tokenizer import ids

_VOCABULARY = Vocabulary(0)
CLS, SEP = _VOCABULARY.need("cls"), _VOCABULARY.need("sep")
"""The ids of [CLS] and [SEP], the same in all tokenizers of the course."""


@cache
def end_costs() -> dict[int, int]:
    """`PUNCTUATION_COSTS` by token id; the world's texts have no line breaks."""
    return {ids([mark])[0]: cost for mark, cost in PUNCTUATION_COSTS.items() if mark != "\n"}


def block_spans(tokens: Sequence[int], longest: int) -> list[Span]:
    """The spans of the blocks of a text of the world."""
    return split_at_punctuation(list(tokens), end_costs(), longest)


def memory_blocks(tokens: Sequence[int], spans: Iterable[Span]) -> tuple[MemoryBlock, ...]:
    """The blocks of a text at these spans, each with [SEP]."""
    return tuple(MemoryBlock(position, (*tokens[start:end], SEP)) for position, (start, end) in enumerate(spans))


def query_of(document: LongDocument) -> tuple[int, ...]:
    """[CLS] question [SEP]."""
    return CLS, *document.query, SEP


def overlapping(spans: Sequence[Span], span: Span) -> list[int]:
    """The positions of the blocks that overlap a span."""
    return [position for position, (start, end) in enumerate(spans) if start < span[1] and span[0] < end]


def relevant_blocks(document: LongDocument, spans: Sequence[Span]) -> list[int]:
    """The positions of the blocks that the question needs: those of each support from its ``context`` on."""
    return sorted({position for one in document.supports for position in overlapping(spans, (one.context, one.end))})


def labelled(document: LongDocument, longest: int) -> LongText:
    """A document with its answer and relevance labels, for training: level 1 for the `relevant_blocks`."""
    spans = block_spans(document.tokens, longest)
    position, = overlapping(spans, document.answer)
    start, end = (place - spans[position][0] for place in document.answer)
    needed = relevant_blocks(document, spans)
    return LongText(query_of(document), memory_blocks(document.tokens, spans), (position, start, end),
                    [int(number in needed) for number in range(len(spans))])


def bm25_scores(query: Sequence[int], blocks: Sequence[MemoryBlock]) -> list[float]:
    """The BM25 score of each block for the query, special tokens left out."""
    found = BM25([[*map(str, block.ids[:-1])] for block in blocks]).search([[*map(str, query[1:-1])]], len(blocks))
    ranked = dict(zip(found.numbers[0].tolist(), found.scores[0].tolist(), strict=True))
    return [ranked[position] for position in range(len(blocks))]
