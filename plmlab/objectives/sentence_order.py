"""Sentence-order prediction (SOP, 句序预测): are two consecutive segments in their original order? ALBERT's second
pretraining task, instead of next-sentence prediction."""

import dataclasses
from collections.abc import Sequence
from random import Random

import torch

from plmlab.draws import randint
from plmlab.example import IGNORE, Example
from plmlab.objectives.masked import Corruption, bert_80_10_10, masked
from plmlab.objectives.registry import Choice, objective
from plmlab.text.text import spans
from plmlab.text.vocabulary import Vocabulary

IN_ORDER, SWAPPED = 0, 1
NEEDED_FOR = "sentence-order prediction"


@objective(
    title="sentence-order prediction (ALBERT)",
    chinese="句序预测",
    paper="Lan et al. 2020, §3.1",
    choices=(Choice("rate", "proportion of tokens to predict", 0.15, 0.05, 0.6, 0.05),),
    question="Both segments are from the same document. Can the model tell their order from the topic alone, as it can "
             "in next-sentence prediction?",
    answer="No. A random sentence usually has another topic, which is enough for next-sentence prediction. Here the "
           "topic is the same, so the model needs the coherence between the segments.",
)
def sentence_order(tokens: Sequence[int], second: Sequence[int] = (), follows: bool = True, *, vocab: Vocabulary,
                   rng: Random, rate: float = 0.15, split: int | None = None, swapped: bool | None = None,
                   select: Sequence[int] | None = None, corrupt: Corruption = bert_80_10_10) -> Example:
    """Sentence-order prediction with masked language modelling: [CLS] A [SEP] B [SEP], where A and B are consecutive
    segments in their original order or swapped, each with probability ½.

    The label ``sentence_order`` is 0 for the original order and 1 for the swapped one (Lan et al. 2020, §3.1; authors'
    code). The text is split after a sentence: ``split`` is the number of sentences in its first segment, uniform from 1
    to all but one unless given. Two segments can also be given, as from ``next_sentence``'s corpora: ``tokens`` and
    ``second``; if ``second`` does not follow ``tokens`` in its document, the label is IGNORE. ``swapped`` sets the
    order and ``select`` the masked positions of the input, both instead of sampling them. Random draws: the split, the
    order, then those of `masked`.

    Differences from the authors' code: single tokens are masked, whereas ALBERT masks n-grams of up to 3 words, with
    p(n) = (1/n) / Σ_k (1/k) (§4.1), so p(1), p(2), p(3) = 6/11, 3/11, 2/11; a text with a single segment is refused,
    whereas the authors pair it with a segment of another document and label the pair as swapped.

    Raises ValueError if the text has fewer than two sentences, its sentences are unknown, or ``split`` leaves a segment
    empty.
    """
    if not second:
        tokens, second = _segments(tokens, split, rng)
    elif split is not None:
        raise ValueError(f"split={split} divides one text, but two segments are given; omit split, or the second one")
    if swapped is None:
        swapped = rng.random() < 0.5
    first, second = (second, tokens) if swapped else (tokens, second)
    example = masked(first, pair=second, vocab=vocab, rng=rng, rate=rate, select=select, corrupt=corrupt)
    order = (SWAPPED if swapped else IN_ORDER) if follows else IGNORE
    return dataclasses.replace(example, labels={"sentence_order": torch.tensor(order)})


def _segments(tokens: Sequence[int], split: int | None, rng: Random) -> tuple[Sequence[int], Sequence[int]]:
    """Divide a text after its ``split``-th sentence."""
    sentences = spans(tokens, "sentences", NEEDED_FOR)
    if len(sentences) < 2:
        raise ValueError(f"{NEEDED_FOR} needs a text of at least two sentences, but this one has {len(sentences)}; "
                         "give a longer text, or a second segment")
    if split is None:
        split = 1 + randint(rng, len(sentences) - 1)
    if not 0 < split < len(sentences):
        raise ValueError(f"split={split} leaves one segment empty: the text has {len(sentences)} sentences; give 1 to "
                         f"{len(sentences) - 1}")
    cut = sentences[split][0]
    return tokens[:cut], tokens[cut:]
