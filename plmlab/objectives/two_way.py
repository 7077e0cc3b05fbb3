"""The bidirectional language model: say what comes next, and what came before (双向语言模型)."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import torch

from plmlab.example import Example, TwoWayExample
from plmlab.objectives.causal import causal
from plmlab.objectives.registry import objective
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Visibility


@objective(
    title="two language models, one from each side (ELMo)",
    chinese="双向语言模型",
    paper="Peters et al. 2018, §3.1",
    question="Both halves see, together, every word but the one to be said. Does any slot see both sides of a word?",
    answer="No. A slot of the left half has read what stands to the left, one of the right half what stands to the "
           "right. The two are put side by side when all has been said; nothing was learned from both at once.",
)
def two_way(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random) -> TwoWayExample:
    """From the left each slot predicts the next token, from the right the one before; each sees what it has read.

    From the left [START] x₁ … xₙ → x₁ … xₙ [END], as in ``causal``; from the right [END] xₙ … x₁ → xₙ … x₁ [START].
    Positions count from [START], 0, in both. Nothing is drawn from ``rng``.
    """
    read = torch.tensor([vocab.need("end"), *reversed(tokens)])
    return TwoWayExample(causal(tokens, vocab=vocab, rng=rng), Example(
        tokens=read,
        positions=torch.arange(len(read), 0, -1)[None],
        segments=torch.zeros_like(read),
        visible=from_the_right(len(read)),
        targets=torch.tensor([*reversed(tokens), vocab.need("start")]),
    ))


def from_the_right(time: int) -> Visibility:
    """A causal mask, of slots that are read from the last word to the first."""
    visible = Visibility.causal(time)
    [rule] = visible.rules
    return replace(visible, rules=(replace(
        rule, why="{key} was read by the time {query} must say what stood before.",
        unless="{key} stands further to the left, and is read later: to see it would be to see the answer."),))
