"""The bidirectional language model: say what comes next, and what came before (双向语言模型)."""

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
    title="two language models, one from each side (ELMo)",
    chinese="双向语言模型",
    paper="Peters et al. 2018, §3.1",
    question="Both halves see, together, every word but the one to be said. Does any position see both sides of a "
             "word?",
    answer="No. A position of the left half has read what stands to the left, one of the right half what stands to the "
           "right. The two are put side by side when all has been said; nothing was learned from both at once.",
)
def bidirectional_lm(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random) -> BidirectionalExample:
    """From the left each position predicts the next token, from the right the one before; each sees what it has read.

    From the left [START] x₁ … xₙ → x₁ … xₙ [END], as in ``causal``; from the right [END] xₙ … x₁ → xₙ … x₁ [START].
    Positions count from [START], 0, in both. Nothing is drawn from ``rng``.
    """
    read = torch.tensor([vocab.need("end"), *reversed(tokens)])
    return BidirectionalExample(causal(tokens, vocab=vocab, rng=rng), Example(
        tokens=read,
        position_ids=torch.arange(len(read), 0, -1)[None],
        segments=torch.zeros_like(read),
        visible=reversed_causal(len(read)),
        targets=torch.tensor([*reversed(tokens), vocab.need("start")]),
    ))


def reversed_causal(time: int) -> Visibility:
    """A causal mask, of positions that are read from the last word to the first."""
    visible = Visibility.causal(time)
    [rule] = visible.rules
    return replace(visible, rules=(replace(
        rule, why="{key} was read by the time {query} must say what stood before.",
        unless="{key} stands further to the left, and is read later: to see it would be to see the answer."),))
