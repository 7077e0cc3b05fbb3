"""REALM's inputs (Guu et al. 2020, §3.2–3.4): a masked statement, a document with its title, and a statement paired
with a document. The null document has an empty title and text: [CLS] [SEP] [SEP]."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import torch

from plmlab.draws import randint
from plmlab.example import IGNORE, Example
from plmlab.objectives.layouts import cls_first
from plmlab.objectives.masked import always_mask, apply_masking
from plmlab.objectives.registry import Choice, objective
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Visibility

Ids = Sequence[int]


@objective(
    title="masked span with a retrieved document (REALM)",
    chinese="检索增强的掩码语言模型",
    paper="Guu et al. 2020, §3.2–3.4",
    choices=(Choice("longest", "maximum tokens of the masked span", 3.0, 1.0, 6.0, 1.0),),
    question="The document is the second text. Can its words attend to the masks of the first?",
    answer="Yes: statement and document form one sequence and attend to each other in every layer, so the document is "
           "encoded again for each statement. The retriever cannot do that: it encodes each document as one vector "
           "before it knows the query.",
    texts=2,
    second="the document",
)
def reader_input(tokens: Ids, document: Ids, *, vocab: Vocabulary, rng: Random, longest: float = 3.0,
                 hidden: Sequence[int] | None = None) -> Example:
    """[CLS] x [SEP] z [SEP]: predict masked tokens of the statement x given the document z.

    ``hidden`` are the indices of the masked tokens in the statement; each is replaced by [MASK]. If it is None, a span
    of at most ``longest`` tokens is sampled. This is not a salient span (a name or a date), because finding one would
    require annotation of the text. As in the paper, the document's title is not part of the input.
    """
    if hidden is None:
        size = 1 + randint(rng, min(int(longest), len(tokens)))
        first = randint(rng, len(tokens) - size + 1)
        hidden = range(first, first + size)
    return mask_positions(pair_input(tokens, document, vocab), hidden, vocab)


def pair_input(first: Ids, second: Ids, vocab: Vocabulary) -> Example:
    """[CLS] A [SEP] B [SEP], segments 0 and 1, with bidirectional attention; either text may be empty."""
    cls, sep = vocab.need("cls"), vocab.need("sep")
    whole = torch.tensor([cls, *first, sep, *second, sep])
    index = torch.arange(len(whole))
    return Example(whole, index[None], (index > len(first) + 1).long(), Visibility.full(len(whole)),
                   torch.full_like(whole, IGNORE))


def query_input(tokens: Ids, hidden: Sequence[int], vocab: Vocabulary) -> Example:
    """[CLS] x [SEP]: the retriever's query, with the same tokens masked as in the reader's input, but without
    targets."""
    example = mask_positions(cls_first(tokens, None, vocab), hidden, vocab)
    return replace(example, targets=torch.full_like(example.targets, IGNORE))


def mask_positions(example: Example, hidden: Sequence[int], vocab: Vocabulary) -> Example:
    """Mask the ``hidden`` tokens of an Example's first text, which follows [CLS], and make them targets. Raises
    ValueError if an index is outside this text."""
    size = int((example.segments == 0).sum()) - 2
    if not all(0 <= index < size for index in hidden):
        raise ValueError(f"hidden={[*hidden]!s:.80}: the text has {size} tokens, counted "
                         "from 0")
    tokens, targets = apply_masking(example.tokens.tolist(), [index + 1 for index in hidden], vocab=vocab,
                                    rng=Random(0),
                                    corrupt=always_mask)
    return replace(example, tokens=tokens, targets=targets)
