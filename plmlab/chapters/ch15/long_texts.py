"""Long documents of the Small World as the input of CogLTX: blocks with their relevance and the answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Self

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.draws import choice
from plmlab.models.cogltx_training import LongText
from plmlab.models.memory_recall import BlockSpan, MemoryBlock
from plmlab.retrieval import BM25
from plmlab.text.splitting import costs_by_id, split_at_punctuation
from plmlab.text.vocabulary import Vocabulary
from plmlab.world.datasets.long_documents import LongDocument, Span
from plmlab.world.datasets.tokenizer import ids
from plmlab.world.questions.chains import find_words

_VOCABULARY = Vocabulary(0)
CLS, SEP = _VOCABULARY.need("cls"), _VOCABULARY.need("sep")
"""The ids of [CLS] and [SEP], the same in all tokenizers of the course."""
COMMA, = ids([","])
_END_COSTS = costs_by_id(lambda mark: ids([mark])[0])


def headings(document: LongDocument) -> list[tuple[int, ...]]:
    """The title of each article and a comma; every block of the article begins with it, as in the authors' HotpotQA."""
    return [(*title, COMMA) for title in document.titles]


@dataclass(frozen=True)
class BlockedDocument:
    """A long document in blocks: the ``query`` is [CLS] question [SEP], and ``blocks[i]`` consists of the title of its
    article, the tokens ``spans[i]`` of the document, and [SEP]."""

    document: LongDocument
    query: tuple[int, ...]
    blocks: tuple[MemoryBlock, ...]
    spans: tuple[Span, ...]

    @classmethod
    def of(cls, document: LongDocument, longest: int) -> Self:
        """Split a document. No block crosses the end of an article, and with the title it has at most ``longest``
        tokens, [SEP] not included."""
        spans, texts = list[Span](), list[tuple[int, ...]]()
        for heading, (begin, finish) in zip(headings(document), document.paragraphs, strict=True):
            article = document.tokens[begin:finish]
            for start, end in split_at_punctuation(article, _END_COSTS, longest - len(heading)):
                spans.append((begin + start, begin + end))
                texts.append((*heading, *article[start:end], SEP))
        return cls(document, (CLS, *document.query, SEP), tuple(map(MemoryBlock, range(len(texts)), texts)),
                   tuple(spans))

    def overlapping(self, span: Span) -> list[int]:
        """The positions of the blocks that overlap a span of the document."""
        return [position for position, (start, end) in enumerate(self.spans) if start < span[1] and span[0] < end]

    @property
    def supports(self) -> list[list[int]]:
        """The positions of the blocks of each supporting sentence."""
        return [self.overlapping((one.start, one.end)) for one in self.document.supports]

    @property
    def relevant(self) -> list[int]:
        """The positions of the blocks that the question needs: those of its supporting sentences."""
        return sorted({position for positions in self.supports for position in positions})

    @property
    def answer(self) -> BlockSpan:
        """The answer in its block."""
        (position,), (start, end) = self.overlapping(self.document.answer), self.document.answer
        shift = len(headings(self.document)[self.document.supports[1].paragraph]) - self.spans[position][0]
        return BlockSpan(position, start + shift, end + shift)

    def labelled(self) -> LongText:
        """The text with its answer and relevance labels, for training: level 1 for the `relevant` blocks."""
        needed = self.relevant
        return LongText(self.query, self.blocks, self.answer, [int(one.position in needed) for one in self.blocks])

    def unlinked(self, rng: Random) -> Self | None:
        """The document with another name in the first supporting sentence, of an entity of the same kind, so that it no
        longer links to the second one. None if there is no such entity, or if the sentence does not contain the
        name."""
        (link,) = set.intersection(*({one.subject, one.object} for one in self.document.question.facts))
        kind, _, name = link.partition(":")
        old = tuple(ids(name.split()))
        others = [title for key, title in zip(self.document.entities, self.document.titles, strict=True)
                  if key.startswith(f"{kind}:") and key != link and len(title) == len(old)]
        for position in self.supports[0]:
            block = self.blocks[position]
            if others and (at := find_words(block.ids, old)) is not None:
                text = (*block.ids[:at], *choice(rng, others), *block.ids[at + len(old):])
                return replace(self, blocks=tuple(replace(block, ids=text) if one is block else one
                                                  for one in self.blocks))
        return None


def bm25_scores(query: Sequence[int], blocks: Sequence[MemoryBlock]) -> list[float]:
    """The BM25 score of each block for the query, special tokens left out."""
    scores: list[float] = bm25_matrix([query[1:-1]], blocks)[0].tolist()
    return scores


def bm25_matrix(queries: Sequence[Sequence[int]], blocks: Sequence[MemoryBlock]) -> Float[Tensor, "query block"]:
    """The BM25 scores of all blocks, without their [SEP], for several queries, given without special tokens."""
    found = BM25([[*map(str, block.ids[:-1])] for block in blocks]).search([[*map(str, one)] for one in queries],
                                                                           len(blocks))
    return torch.zeros(found.scores.shape).scatter_(1, found.numbers, found.scores)
