"""Input and labels of CogQA's System 1 for one node (Ding et al. 2019, §3.2–3.4, fig. 2). Segment 0 is [CLS] question
[SEP] clues [SEP], segment 1 is the node's paragraph. Nothing is masked; next hops and answer candidates are spans of
the paragraph.

The authors' code ends each sentence of a paragraph with [SEP] and gives it its own segment; here, as in the paper,
there are two segments, and there is one [SEP] after each clue and after the paragraph.
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
    """Build the Example of one node. The label ``pointers``, [time 4] of 0 and 1, marks the starts and ends of hop
    spans and of answer spans.

    ``hops`` and ``answers`` are spans (start, end) such that ``paragraph[start:end]`` are their tokens; the label marks
    a span's last token as its end. For (), the target of both start and end is [CLS] (the negative examples of §3.4.1).
    For None, or without a paragraph, there is no target and the columns are 0. Raises ValueError if a span is not
    within the paragraph.
    """
    before = list(chain(question, *([vocab.need("sep"), *clue] for clue in clues)))
    example = cls_first(before, paragraph, vocab)
    pointers = torch.zeros(len(example.tokens), len(SPAN_LABELS), dtype=torch.long)
    for column, spans in ((0, hops), (2, answers)):
        for start, end in spans or ():
            if not 0 <= start < end <= len(paragraph):
                raise ValueError(f"a span is paragraph[{start}:{end}], but the paragraph has {len(paragraph)} "
                                 "tokens; give 0 ≤ start < end ≤ its length")
            first = len(before) + 2 + start
            pointers[first, column] = pointers[first + end - start - 1, column + 1] = 1
        if paragraph and spans is not None and not spans:
            pointers[0, column:column + 2] = 1
    return replace(example, labels={"pointers": pointers})


@dataclass(frozen=True)
class NodeInput:
    """Input of a node, truncated to the model's maximum length: the ``question``, some of its ``clues``, and the first
    ``sentences`` of its paragraph; all as token ids."""

    question: tuple[int, ...]
    clues: tuple[tuple[int, ...], ...]
    sentences: tuple[tuple[int, ...], ...]

    def example(self, vocab: Vocabulary, hops: Sequence[Span] | None = None, answers: Sequence[Span] | None = None,
                ) -> Example:
        """Build the Example with `hops_and_answers`; the spans refer to the truncated paragraph."""
        return hops_and_answers(self.question, self.clues, [*chain(*self.sentences)], hops, answers, vocab=vocab)

    @property
    def sentence_spans(self) -> list[Span]:
        """Positions of each sentence in the input, as (start, end) with exclusive end."""
        first = len(self.question) + sum(len(clue) + 1 for clue in self.clues) + 2
        return [*pairwise(accumulate(map(len, self.sentences), initial=first))]

    def words(self, start: int, end: int) -> tuple[int, ...]:
        """Token ids of the paragraph at the input positions ``start`` to ``end`` (exclusive)."""
        first = self.sentence_spans[0][0]
        return tuple(chain(*self.sentences))[start - first:end - first]


def fit_to_length(question: Sequence[int], clues: Sequence[Sequence[int]], sentences: Sequence[Sequence[int]],
                  time: int,
           ) -> NodeInput:
    """Truncate a node's input to ``time`` positions. It keeps the question; clues, in order, while half of the
    positions remain free; then whole sentences, in order. Raises ValueError if the question leaves no room for a
    word."""
    room = time - len(question) - 3
    if room < 1:
        raise ValueError(f"the question has {len(question)} tokens, the model {time} positions; shorten the question")
    fitting: list[tuple[int, ...]] = []
    for clue in clues:
        if room - len(clue) - 1 < time // 2:
            break
        room -= len(clue) + 1
        fitting.append(tuple(clue))
    ends = accumulate(map(len, sentences))
    return NodeInput(tuple(question), tuple(fitting),
                     tuple(tuple(text) for text, end in zip(sentences, ends, strict=True) if end <= room))
