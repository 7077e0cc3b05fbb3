"""What REALM reads (Guu et al. 2020, §3.2–3.4): a statement some of whose tokens are hidden, a document with its title,
and both at once. Of the "null document" nothing stands there: [CLS] [SEP] [SEP]."""

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
    title="span hidden, a document in sight (REALM)",
    chinese="检索增强的掩码语言模型",
    paper="Guu et al. 2020, §3.2–3.4",
    choices=(Choice("longest", "most tokens of the hidden span", 3.0, 1.0, 6.0, 1.0),),
    question="The document is the second text. May its words look at the masks of the first?",
    answer="Yes: statement and document are one sequence, and in every layer each looks at the other. So the document "
           "is read anew for each statement. The retriever cannot do that: it makes one vector of a document, before "
           "anybody asks.",
    texts=2,
    second="the document",
)
def reader_input(tokens: Ids, document: Ids, *, vocab: Vocabulary, rng: Random, longest: float = 3.0,
              hidden: Sequence[int] | None = None) -> Example:
    """[CLS] x [SEP] z [SEP]: some tokens of the statement are hidden, and are said with the document in sight.

    ``hidden`` are their places in the statement; each shows [MASK], always. Where they are not given, a span of at most
    ``longest`` tokens is drawn: which spans are salient, names and dates, only who knows the text can say. The
    document's title is not read, as in the paper.
    """
    if hidden is None:
        size = 1 + randint(rng, min(int(longest), len(tokens)))
        first = randint(rng, len(tokens) - size + 1)
        hidden = range(first, first + size)
    return mask_positions(pair_input(tokens, document, vocab), hidden, vocab)


def pair_input(first: Ids, second: Ids, vocab: Vocabulary) -> Example:
    """[CLS] A [SEP] B [SEP], segments 0 and 1, whether or not there is something in either; everyone sees everyone."""
    cls, sep = vocab.need("cls"), vocab.need("sep")
    whole = torch.tensor([cls, *first, sep, *second, sep])
    positions = torch.arange(len(whole))
    return Example(whole, positions[None], (positions > len(first) + 1).long(), Visibility.full(len(whole)),
                   torch.full_like(whole, IGNORE))


def query_input(tokens: Ids, hidden: Sequence[int], vocab: Vocabulary) -> Example:
    """[CLS] x [SEP]: what the retriever reads of a statement, from which the same is hidden; nothing is asked of it."""
    example = mask_positions(cls_first(tokens, None, vocab), hidden, vocab)
    return replace(example, targets=torch.full_like(example.targets, IGNORE))


def mask_positions(example: Example, hidden: Sequence[int], vocab: Vocabulary) -> Example:
    """An Example that begins with [CLS] and a text, with [MASK] at the ``hidden`` places of this text, which are to be
    said. ValueError for a place that is not of this text."""
    size = int((example.segments == 0).sum()) - 2
    if not all(0 <= place < size for place in hidden):
        raise ValueError(f"the places {[*hidden]!s:.80} are to be hidden, and the text has {size} tokens, counted "
                         "from 0")
    tokens, targets = apply_masking(example.tokens.tolist(), [place + 1 for place in hidden], vocab=vocab,
                                    rng=Random(0),
                           corrupt=always_mask)
    return replace(example, tokens=tokens, targets=targets)
