"""Long documents of the Small World as the input of CogLTX: blocks with their relevance and the answer."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cache

from plmlab.chapters.ch15.baselines import titles
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
COMMA, = ids([","])


@cache
def end_costs() -> dict[int, int]:
    """`PUNCTUATION_COSTS` by token id; the world's texts have no line breaks."""
    return {ids([mark])[0]: cost for mark, cost in PUNCTUATION_COSTS.items() if mark != "\n"}


def headings(document: LongDocument) -> list[tuple[int, ...]]:
    """The title of each article and a comma; every block of the article begins with it, as in the authors' HotpotQA."""
    return [(*title, COMMA) for title in titles(document)]


def block_spans(document: LongDocument, longest: int) -> list[Span]:
    """The spans of the blocks in the document's tokens. No block crosses the end of an article, and with the title it
    has at most ``longest`` tokens."""
    spans = []
    for heading, (begin, finish) in zip(headings(document), document.paragraphs, strict=True):
        room = longest - len(heading)
        spans += [(begin + start, begin + end)
                  for start, end in split_at_punctuation(document.tokens[begin:finish], end_costs(), room)]
    return spans


def memory_blocks(document: LongDocument, spans: Iterable[Span]) -> tuple[MemoryBlock, ...]:
    """The blocks at these spans, each with its article's title before it and [SEP] after it."""
    ends, before = [end for _, end in document.paragraphs], headings(document)
    return tuple(MemoryBlock(position, (*before[bisect_right(ends, start)], *document.tokens[start:end], SEP))
                 for position, (start, end) in enumerate(spans))


def query_of(document: LongDocument) -> tuple[int, ...]:
    """[CLS] question [SEP]."""
    return CLS, *document.query, SEP


def overlapping(spans: Sequence[Span], span: Span) -> list[int]:
    """The positions of the blocks that overlap a span."""
    return [position for position, (start, end) in enumerate(spans) if start < span[1] and span[0] < end]


def relevant_blocks(document: LongDocument, spans: Sequence[Span]) -> list[int]:
    """The positions of the blocks that the question needs: those of its supports."""
    return sorted({position for one in document.supports for position in overlapping(spans, (one.start, one.end))})


def labelled(document: LongDocument, longest: int) -> LongText:
    """A document with its answer and relevance labels, for training: level 1 for the `relevant_blocks`."""
    spans = block_spans(document, longest)
    blocks = memory_blocks(document, spans)
    needed = relevant_blocks(document, spans)
    return LongText(query_of(document), blocks, answer_in_block(document, blocks, spans),
                    [int(number in needed) for number in range(len(spans))])


def answer_in_block(document: LongDocument, blocks: Sequence[MemoryBlock], spans: Sequence[Span],
                    ) -> tuple[int, int, int]:
    """The position of the block with the answer, and the answer's start and end (exclusive) in that block."""
    position, = overlapping(spans, document.answer)
    begin, end = spans[position]
    first = begin - (len(blocks[position]) - 1 - (end - begin))  # the title comes before the span
    return position, document.answer[0] - first, document.answer[1] - first


def bm25_scores(query: Sequence[int], blocks: Sequence[MemoryBlock]) -> list[float]:
    """The BM25 score of each block for the query, special tokens left out."""
    found = BM25([[*map(str, block.ids[:-1])] for block in blocks]).search([[*map(str, query[1:-1])]], len(blocks))
    ranked = dict(zip(found.numbers[0].tolist(), found.scores[0].tolist(), strict=True))
    return [ranked[position] for position in range(len(blocks))]
