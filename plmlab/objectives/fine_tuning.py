"""Fine-tuning (微调): what a pretrained model reads of a task. Nothing is hidden; the answer rides along as a label.

The inputs of BERT's interfaces (Devlin et al. 2019, fig. 4), [CLS] A [SEP] or [CLS] A [SEP] B [SEP], or in the
``layout`` of another encoder, with the labels at the same words; and of GPT's (Radford et al. 2018, fig. 1), whose last
token, [END], is the one that the answer is read off.
"""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import torch
from jaxtyping import Int
from torch import Tensor

from plmlab.example import IGNORE, Batch, Example
from plmlab.objectives.causal import causal
from plmlab.objectives.layouts import Layout, cls_first
from plmlab.text.vocabulary import Vocabulary


def sequence_classification(tokens: Sequence[int], kind: int, *, vocab: Vocabulary, pair: Sequence[int] = (),
               layout: Layout = cls_first) -> Example:
    """An encoder reads one sentence, or two, and their class is asked; label ``class`` (fig. 4 a, b)."""
    return replace(layout(tokens, pair, vocab), labels={"class": torch.tensor(kind)})


def token_classification(tokens: Sequence[int], tags: Sequence[int], *, vocab: Vocabulary,
                         layout: Layout = cls_first) -> Example:
    """An encoder reads a sentence, and a tag for each token is asked; label ``tags``, one a position (fig. 4 d).

    [CLS] and [SEP] have none. Where a word has several pieces, give IGNORE for all but the first (§5.3).
    ValueError where tokens and tags are not as many.
    """
    if len(tags) != len(tokens):
        raise ValueError(f"{len(tokens)} tokens came with {len(tags)} tags; give one for each, IGNORE for none")
    example = layout(tokens, None, vocab)
    first, labels = _begins(example, 0, tokens), torch.full_like(example.tokens, IGNORE)
    labels[first:first + len(tags)] = torch.tensor(tags)
    return replace(example, labels={"tags": labels})


def span_qa(question: Sequence[int], text: Sequence[int], start: int | None, end: int | None = None, *,
             vocab: Vocabulary, layout: Layout = cls_first) -> Example:
    """An encoder reads a question and a text, and where the answer stands is asked; labels ``start``, ``end``
    (fig. 4 c).

    The answer is ``text[start:end]``; None where the text does not answer. The labels are positions of the whole, the
    end that of the answer's last token. ValueError for a span that does not lie in the text.
    """
    example, places = layout(question, text, vocab), (IGNORE, IGNORE)
    if start is not None:
        if end is None or not 0 <= start < end <= len(text):
            raise ValueError(f"the answer was given as text[{start}:{end}], and the text has {len(text)} tokens; "
                             "give 0 ≤ start < end ≤ its length")
        first = _begins(example, 1, text)
        places = (first + start, first + end - 1)
    labels = {name: torch.tensor(place) for name, place in zip(("start", "end"), places, strict=True)}
    return replace(example, labels=labels)


def gpt_classification(tokens: Sequence[int], kind: int, *, vocab: Vocabulary, pair: Sequence[int] = ()) -> Example:
    """GPT reads [START] A [END] or [START] A [SEP] B [END], and their class is asked at [END]; label ``class``.

    What the paper calls the delimiter is [SEP] here, and its extract token [END]. The targets are the next tokens,
    as in pretraining, for the auxiliary loss; none at [END].
    """
    whole = [*tokens, *([vocab.need("sep"), *pair] if pair else []), vocab.need("end")]
    example = causal(whole, vocab=vocab, rng=Random(0))
    return replace(example, targets=torch.tensor([*whole, IGNORE]), labels={"class": torch.tensor(kind)})


def label_of(batch: Batch, name: str) -> Int[Tensor, "..."]:
    """A label of a batch; a ValueError where it has none of that name."""
    if name not in batch.labels:
        raise ValueError(f"the label {name!r} is asked for, and this batch has {', '.join(batch.labels) or 'none'}; "
                         "plmlab.objectives.fine_tuning makes Examples with the labels of each task")
    return batch.labels[name]


def _begins(example: Example, segment: int, text: Sequence[int]) -> int:
    """The position where a text begins that is laid out as this segment, before the [SEP] that ends it."""
    return int((example.segments == segment).nonzero()[-1]) - len(text)
