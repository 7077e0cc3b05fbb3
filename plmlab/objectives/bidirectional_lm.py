"""The bidirectional language model: predict the next and the previous token (双向语言模型)."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import torch

from plmlab.example import BidirectionalExample, Example
from plmlab.objectives.causal import causal
from plmlab.objectives.registry import objective
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Visibility


@objective(
    title="bidirectional language model (ELMo)",
    chinese="双向语言模型",
    paper="Peters et al. 2018, §3.1",
    question="Together, the two halves see every word except the target. Does any position see both sides of a word?",
    answer="No. In the forward half, a position sees the left context; in the backward half, the right context. The "
           "two are only concatenated afterwards; no prediction uses both.",
)
def bidirectional_lm(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random) -> BidirectionalExample:
    """A forward language model predicts the next token, a backward one the previous token, each from its own context.

    Forward, [START] x₁ … xₙ predicts x₁ … xₙ [END], as in ``causal``; backward, [END] xₙ … x₁ predicts xₙ … x₁ [START].
    Position ids count from [START] = 0 in both. ``rng`` is not used.
    """
    inputs = torch.tensor([vocab.need("end"), *reversed(tokens)])
    return BidirectionalExample(causal(tokens, vocab=vocab, rng=rng), Example(
        tokens=inputs,
        position_ids=torch.arange(len(inputs), 0, -1)[None],
        segments=torch.zeros_like(inputs),
        visible=reversed_causal(len(inputs)),
        targets=torch.tensor([*reversed(tokens), vocab.need("start")]),
    ))


def reversed_causal(time: int) -> Visibility:
    """Causal mask for a text in reverse order (right to left)."""
    visible = Visibility.causal(time)
    [rule] = visible.rules
    return replace(visible, rules=(replace(
        rule, why="{key} is not to the left of {query}, which predicts the previous token.",
        unless="{key} is to the left of {query}: attending to it would leak a target."),))
