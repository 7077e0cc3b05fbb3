"""The causal language model: say what comes next (因果语言模型)."""

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
    question="The first position reads only [START]. How many words does it see when it must say the first word?",
    answer="None. All it can say is how likely each word is to begin a text.",
)
def causal(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random) -> Example:
    """Each position predicts the next token and sees none that come later.

    The text is wrapped, [START] x₁ … x_n → x₁ … x_n [END]. Positions count from 0. Nothing is drawn from ``rng``.
    """
    read = torch.tensor([vocab.need("start"), *tokens])
    return Example(
        tokens=read,
        position_ids=torch.arange(len(read))[None],
        segments=torch.zeros_like(read),
        visible=Visibility.causal(len(read)),
        targets=torch.tensor([*tokens, vocab.need("end")]),
    )


@objective(
    title="causal language model, segment by segment (Transformer-XL)",
    chinese="分段的因果语言模型",
    paper="Dai et al. 2019, §3.2",
    choices=(Choice("segment", "positions a segment", 4.0, 1.0, 64.0, 1.0),
             Choice("memory", "positions remembered", 4.0, 0.0, 256.0, 1.0)),
    question="Which position looks furthest back, and which position of a segment sees least?",
    answer="The last position of a segment sees furthest: its whole segment and the whole memory. The first sees least "
           "of "
           "the segment, and as much of the memory. With same-length evaluation all see equally many.",
)
def segmented(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, segment: float = 4.0, memory: float = 4.0,
              ) -> Example:
    """As ``causal``, but each position sees its own segment up to itself, and the last ``memory`` positions before it.

    A layer looks no further; what lies beyond can reach it through the layers below. Nothing is drawn from ``rng``.
    """
    example = causal(tokens, vocab=vocab, rng=rng)
    return replace(example, visible=Visibility.segmented(len(example.tokens), int(segment), int(memory)))
