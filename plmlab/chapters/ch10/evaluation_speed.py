"""Time per word with a memory and with a sliding window, for models with two layers of width 64."""

from typing import NamedTuple

import torch

from plmlab.example import Batch
from plmlab.models.gpt import GPT, GPTConfig
from plmlab.models.transformer_xl import TransformerXL, TransformerXLConfig
from plmlab.timing import fastest

SEGMENT, VOCAB = 64, 453
RUNS = 3
"""The fastest of so many runs counts."""


class Seconds(NamedTuple):
    """Seconds per word: of a sliding ``window`` that is recomputed for each word; with a memory, in one forward pass of
    a whole ``segment``; and with a memory, one ``word`` at a time."""

    window: float
    segment: float
    word: float


@torch.no_grad()
def measure(context: int) -> Seconds:
    """Time per word if each word attends to ``context`` positions."""
    text = torch.randint(VOCAB, (1, context + SEGMENT))
    window = GPT(GPTConfig(VOCAB, time=context, layers=2, model=64, heads=4, dropout=0.0)).eval()
    recurrent = TransformerXL(TransformerXLConfig(VOCAB, SEGMENT, context, 2, 64, 4, 256, dropout=0.0)).eval()
    state = recurrent.start()
    recurrent.step(text[:, :context], state)
    segment, first = Batch.continuing(text[:, context:], 0), Batch.continuing(text[:, :context], 0)
    return Seconds(fastest(lambda: window.hidden_states(first), RUNS),
                   fastest(lambda: recurrent.hidden_states(segment, state.memories), RUNS) / SEGMENT,
                   fastest(lambda: recurrent.step(text[:, -1:], state), RUNS))
