"""The causal language model: say what comes next (因果语言模型)."""

from collections.abc import Sequence
from random import Random

import torch

from plmlab.example import Example
from plmlab.objectives.registry import objective
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Visibility


@objective(
    title="causal language model (GPT)",
    chinese="因果语言模型",
    paper="Radford et al. 2018, eq. (1)",
    question="The first slot reads only [START]. How many words does it see when it must say the first word?",
    answer="None. All it can say is how likely each word is to begin a text.",
)
def causal(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random) -> Example:
    """Each slot predicts the next token and sees none that come later.

    The text is wrapped, [START] x₁ … x_n → x₁ … x_n [END]. Positions count from 0. Nothing is drawn from ``rng``.
    """
    read = torch.tensor([vocab.need("start"), *tokens])
    return Example(
        tokens=read,
        positions=torch.arange(len(read))[None],
        segments=torch.zeros_like(read),
        visible=Visibility.causal(len(read)),
        targets=torch.tensor([*tokens, vocab.need("end")]),
    )
