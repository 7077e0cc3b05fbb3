"""The causal language model: predict the next token (因果语言模型)."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import torch

from plmlab.example import Example
from plmlab.objectives.registry import Choice, objective
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Visibility


@objective(
    title="causal language model (GPT)",
    chinese="因果语言模型",
    paper="Radford et al. 2018, eq. (1)",
    question="The input at the first position is [START]. How many words are visible when it predicts the first word?",
    answer="None. It can only predict how likely each word is to begin a text.",
)
def causal(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random) -> Example:
    """Next-token prediction: each position attends only to itself and to earlier positions.

    The input is [START] x₁ … x_n, the targets are x₁ … x_n [END]. Position ids count from 0. ``rng`` is not used.
    """
    inputs = torch.tensor([vocab.need("start"), *tokens])
    return Example(
        tokens=inputs,
        position_ids=torch.arange(len(inputs))[None],
        segments=torch.zeros_like(inputs),
        visible=Visibility.causal(len(inputs)),
        targets=torch.tensor([*tokens, vocab.need("end")]),
    )


@objective(
    title="causal language model with segment-level recurrence (Transformer-XL)",
    chinese="分段的因果语言模型",
    paper="Dai et al. 2019, §3.2",
    choices=(Choice("segment", "positions per segment", 4.0, 1.0, 64.0, 1.0),
             Choice("memory", "positions in the memory", 4.0, 0.0, 256.0, 1.0)),
    question="Which position of a segment has the longest context, and which has the shortest?",
    answer="The last position has the longest: the whole segment and the whole memory. The first has the shortest: "
           "itself and the whole memory. With same-length evaluation all contexts are equally long.",
)
def segmented(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, segment: float = 4.0, memory: float = 4.0,
              ) -> Example:
    """Like ``causal``, but a position attends only to its own segment, up to itself, and to ``memory`` positions before
    it.

    This limits a single layer; information from further back can still arrive through the layers below. ``rng`` is not
    used.
    """
    example = causal(tokens, vocab=vocab, rng=rng)
    return replace(example, visible=Visibility.segmented(len(example.tokens), int(segment), int(memory)))
