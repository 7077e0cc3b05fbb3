"""Time per word with a memory and with a sliding window, for models with two layers of width 64."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from plmlab.example import Batch
from plmlab.models.gpt import GPT, GPTConfig
from plmlab.models.transformer_xl import TransformerXL, TransformerXLConfig

SEGMENT, VOCAB = 64, 453
RUNS = 3


class Seconds(NamedTuple):
    """Seconds per word: of a sliding ``window`` that is recomputed for each word; with a memory, in one forward pass of
    a whole ``segment``; and with a memory, one ``word`` at a time."""

    window: float
    segment: float
    word: float


def seconds_per_word(work: Callable[[], Any], words: int) -> float:
    """The shortest of `RUNS` runs of ``work``, which processes a number of words."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) / words)
    return min(times)


@torch.no_grad()
def measure(context: int) -> Seconds:
    """Time per word if each word attends to ``context`` positions."""
    text = torch.randint(VOCAB, (1, context + SEGMENT))
    window = GPT(GPTConfig(VOCAB, time=context, layers=2, model=64, heads=4, dropout=0.0)).eval()
    recurrent = TransformerXL(TransformerXLConfig(VOCAB, SEGMENT, context, 2, 64, 4, 256, dropout=0.0)).eval()
    state = recurrent.start()
    recurrent.step(text[:, :context], state)
    segment, first = Batch.continuing(text[:, context:], 0), Batch.continuing(text[:, :context], 0)
    return Seconds(seconds_per_word(lambda: window.hidden_states(first), 1),
                   seconds_per_word(lambda: recurrent.hidden_states(segment, state.memories), SEGMENT),
                   seconds_per_word(lambda: recurrent.step(text[:, -1:], state), 1))
