"""A small model for the tests of the Next-token Lab, what it says by its own forward, and how the lab is asked."""

from collections.abc import Iterator
from itertools import count

import numpy as np
import torch
from torch import nn

from plmlab import world
from plmlab.example import Batch
from plmlab.labs import NextTokenLab
from plmlab.models.gpt import GPT, GPTConfig
from plmlab.world.datasets.tokenizer import build_world_tokenizer

SMALL = world.small()
WORDS = build_world_tokenizer(SMALL)
TEXT = "the cups near the chair"
wishes: Iterator[int] = count()


def seeded(cls: type[GPT], size: int = len(WORDS), time: int = 24, layers: int = 3) -> GPT:
    """A model of loud random weights, whose layers disagree."""
    generator = torch.Generator().manual_seed(0)
    made = cls(GPTConfig(size, time=time, layers=layers, model=16, heads=2))
    for parameter in made.parameters():
        nn.init.normal_(parameter, std=0.5, generator=generator)
    return made.eval()


def sent(lab: NextTokenLab) -> np.ndarray:
    return np.frombuffer(lab.state["logits"], dtype="<f4").astype(np.float64)


@torch.no_grad()
def logits_of(model: GPT, ids: list[int]) -> torch.Tensor:
    """What the model says after each position, by its own forward."""
    return model(Batch.causal(torch.tensor([[*ids, 0]])))[0].double()


def ask(lab: NextTokenLab, do: str, **more: int) -> None:
    lab.request = {"do": do, **more, "number": next(wishes)}
