"""Fine-tuning (微调): task inputs for pretrained models. Nothing is masked; the answer is stored as a label.

For encoders, the input formats are those of BERT (Devlin et al. 2019, fig. 4), [CLS] A [SEP] or [CLS] A [SEP] B [SEP],
or the ``layout`` of another encoder with the labels at the same words. For GPT (Radford et al. 2018, fig. 1), a text
ends in [END], whose hidden state is the input of the classifier.
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
    """Sequence (pair) classification with an encoder; label ``class`` (fig. 4 a, b)."""
    return replace(layout(tokens, pair, vocab), labels={"class": torch.tensor(kind)})


def token_classification(tokens: Sequence[int], tags: Sequence[int], *, vocab: Vocabulary,
                         layout: Layout = cls_first) -> Example:
    """Token classification with an encoder; label ``tags``, one per position (fig. 4 d).

    [CLS] and [SEP] have the tag IGNORE. For a word of several subwords, pass IGNORE for all but the first (§5.3).
    Raises ValueError unless there is one tag per token.
    """
    if len(tags) != len(tokens):
        raise ValueError(f"got {len(tokens)} tokens and {len(tags)} tags; give one tag per token (IGNORE for none)")
    example = layout(tokens, None, vocab)
    first, labels = _begins(example, 0, tokens), torch.full_like(example.tokens, IGNORE)
    labels[first:first + len(tags)] = torch.tensor(tags)
    return replace(example, labels={"tags": labels})


def span_qa(question: Sequence[int], text: Sequence[int], start: int | None, end: int | None = None, *,
            vocab: Vocabulary, layout: Layout = cls_first) -> Example:
    """Extractive question answering with an encoder; labels ``start`` and ``end`` (fig. 4 c).

    The answer is ``text[start:end]``; pass None if the text has no answer. The labels are positions in the whole input;
    ``end`` is the position of the answer's last token. Raises ValueError if the span is not within the text.
    """
    example, ends = layout(question, text, vocab), (IGNORE, IGNORE)
    if start is not None:
        if end is None or not 0 <= start < end <= len(text):
            raise ValueError(f"the answer is text[{start}:{end}], but the text has {len(text)} tokens; "
                             "give 0 ≤ start < end ≤ its length")
        first = _begins(example, 1, text)
        ends = (first + start, first + end - 1)
    labels = {name: torch.tensor(end) for name, end in zip(("start", "end"), ends, strict=True)}
    return replace(example, labels=labels)


def gpt_classification(tokens: Sequence[int], kind: int, *, vocab: Vocabulary, pair: Sequence[int] = ()) -> Example:
    """Classification with GPT: [START] A [END] or [START] A [SEP] B [END], classified at [END]; label ``class``.

    The paper's delimiter token is [SEP] here, and its extract token is [END]. As in pretraining, the targets are the
    next tokens; they are used by the auxiliary loss. There is no target at [END].
    """
    whole = [*tokens, *([vocab.need("sep"), *pair] if pair else []), vocab.need("end")]
    example = causal(whole, vocab=vocab, rng=Random(0))
    return replace(example, targets=torch.tensor([*whole, IGNORE]), labels={"class": torch.tensor(kind)})


def label_of(batch: Batch, name: str, maker: str) -> Int[Tensor, "..."]:
    """Get a label of a batch. ``maker`` is the function of plmlab that makes Examples with this label, for the error.
    Raises ValueError if the batch has no label of that name."""
    if name not in batch.labels:
        raise ValueError(f"this batch has no label {name!r}; its labels: {', '.join(batch.labels) or 'none'}. "
                         f"plmlab.{maker} makes Examples with the label {name!r}")
    return batch.labels[name]


def _begins(example: Example, segment: int, text: Sequence[int]) -> int:
    """Position of the first token of ``text``, which has the given segment and is followed by [SEP]."""
    return int((example.segments == segment).nonzero()[-1]) - len(text)
