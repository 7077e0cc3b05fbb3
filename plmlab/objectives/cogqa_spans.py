"""What CogQA's System 1 reads of a node, and what it is asked (Ding et al. 2019, §3.2–3.4, fig. 2): [CLS] question
[SEP] clues [SEP] is segment 0, the node's paragraph segment 1. Nothing is hidden; where to go on, and what may be the
answer, are spans of the paragraph.

The authors' code ends each sentence of a paragraph with [SEP] and gives it a segment of its own; here, as in the paper,
there are two segments, and one [SEP] behind each clue and behind the paragraph.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, pairwise

import torch

from plmlab.example import Example
from plmlab.objectives.layouts import cls_first
from plmlab.text.vocabulary import Vocabulary

SPAN_LABELS = ("hop starts", "hop ends", "answer starts", "answer ends")
"""The columns of the label ``pointers``."""
Span = tuple[int, int]


def hops_and_answers(question: Sequence[int], clues: Sequence[Sequence[int]], paragraph: Sequence[int],
                     hops: Sequence[Span] | None = None, answers: Sequence[Span] | None = None, *,
                     vocab: Vocabulary) -> Example:
    """The Example of one node; label ``pointers``, [time 4] of 0 and 1: where hops start and end (their last
    positions), and where answers do.

    ``hops`` and ``answers`` are ``paragraph[start:end]``. Where there are none, () is given, and [CLS] is to be pointed
    at for both ends (the negatives of §3.4.1); with None, or without a paragraph, nothing is asked, and all are 0.
    ValueError for a span that does not lie in the paragraph.
    """
    before = list(chain(question, *([vocab.need("sep"), *clue] for clue in clues)))
    example = cls_first(before, paragraph, vocab)
    pointers = torch.zeros(len(example.tokens), len(SPAN_LABELS), dtype=torch.long)
    for column, spans in ((0, hops), (2, answers)):
        for start, end in spans or ():
            if not 0 <= start < end <= len(paragraph):
                raise ValueError(f"a span was given as paragraph[{start}:{end}], and the paragraph has "
                                 f"{len(paragraph)} tokens; give 0 ≤ start < end ≤ its length")
            first = len(before) + 2 + start
            pointers[first, column] = pointers[first + end - start - 1, column + 1] = 1
        if paragraph and spans is not None and not spans:
            pointers[0, column:column + 2] = 1
    return replace(example, labels={"pointers": pointers})


@dataclass(frozen=True)
class NodeInput:
    """What is read of a node as far as there are positions for it: the ``question``, some of its ``clues``, and the
    first of its paragraph's ``sentences``; all as ids."""

    question: tuple[int, ...]
    clues: tuple[tuple[int, ...], ...]
    sentences: tuple[tuple[int, ...], ...]

    def example(self, vocab: Vocabulary, hops: Sequence[Span] | None = None, answers: Sequence[Span] | None = None,
                ) -> Example:
        """`hops_and_answers` of it, the spans in its paragraph."""
        return hops_and_answers(self.question, self.clues, [*chain(*self.sentences)], hops, answers, vocab=vocab)

    @property
    def sentence_spans(self) -> list[Span]:
        """The positions of each sentence: of its first word, and of what stands behind its last."""
        first = len(self.question) + sum(len(clue) + 1 for clue in self.clues) + 2
        return [*pairwise(accumulate(map(len, self.sentences), initial=first))]

    def words(self, start: int, end: int) -> tuple[int, ...]:
        """What stands in the positions ``start`` to ``end``, without the last, of the paragraph."""
        first = self.sentence_spans[0][0]
        return tuple(chain(*self.sentences))[start - first:end - first]


def fit_to_length(question: Sequence[int], clues: Sequence[Sequence[int]], sentences: Sequence[Sequence[int]],
                  time: int,
           ) -> NodeInput:
    """What of it fits into so many positions: the question; clues, the first ones first, as long as half of the
    positions are left; then whole sentences, from the first on. ValueError where the question leaves no room for a
    word."""
    room = time - len(question) - 3
    if room < 1:
        raise ValueError(f"the question has {len(question)} tokens, and the model {time} positions: ask in fewer words")
    kept: list[tuple[int, ...]] = []
    for clue in clues:
        if room - len(clue) - 1 < time // 2:
            break
        room -= len(clue) + 1
        kept.append(tuple(clue))
    ends = accumulate(map(len, sentences))
    return NodeInput(tuple(question), tuple(kept),
                  tuple(tuple(one) for one, end in zip(sentences, ends, strict=True) if end <= room))
