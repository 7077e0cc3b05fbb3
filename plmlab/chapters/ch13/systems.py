"""Parameters and costs: the five systems of chapter 13, and an encoder–decoder compared with a decoder-only model."""

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import torch
from torch import nn

from plmlab import objectives
from plmlab.example import Batch, PairBatch, PairExample
from plmlab.flops import flops
from plmlab.models.bart import BART, BARTConfig
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.models.mass import MASS, MASSConfig
from plmlab.models.palm import PALM, PALMConfig
from plmlab.models.pegasus import PEGASUS, PEGASUSConfig
from plmlab.models.t5 import T5, T5Config
from plmlab.text import Text
from plmlab.text.vocabulary import SPECIALS, Vocabulary

TOKENS, SENTENCE_LENGTH, VOCAB = 512, 16, 60
"""Length of the text whose cost is counted, and that of its sentences; and a small vocabulary."""
SYSTEMS: dict[str, tuple[Any, Any, Callable[..., PairExample], tuple[str, str, str]]] = {
    "MASS": (MASS, MASSConfig.base(), objectives.masked_span,
             ("one span of half of the tokens", "the span", "learned")),
    "T5": (T5, T5Config.base(), objectives.span_corruption,
             ("15 % of the tokens, in spans", "the spans, between sentinels", "relative bias")),
    "BART": (BART, BARTConfig.base(), objectives.denoising,
             ("30 % of the tokens by infilling; sentence order", "the whole text", "learned")),
    "PEGASUS": (PEGASUS, PEGASUSConfig.base(), objectives.gap_sentences,
             ("30 % of the sentences", "these sentences", "sinusoidal")),
    "PALM": (PALM, PALMConfig.base(), objectives.continuation,
             ("nothing (stage 1: masked tokens)", "the last 20 %", "learned")),
}
"""Name → network, configuration of the base model, objective with the settings of the ablations, and in words what is
corrupted, what the decoder generates, and the kind of positions."""


class Cost(NamedTuple):
    """Parameters of the base model; source and target tokens of a text of `TOKENS` tokens, special tokens included; and
    the FLOPs of a forward pass over both in the network of BART's base model, the same for all systems."""

    parameters: int
    source: int
    target: int
    flops: int


@torch.no_grad()
def forward_flops(model: nn.Module, batch: Batch | PairBatch) -> int:
    """`flops` of a forward pass."""
    return flops(lambda: model(batch))


def costs() -> dict[str, Cost]:
    """The cost of each system. Nothing is computed: the networks are on PyTorch's "meta" device, without values."""
    vocab = Vocabulary(BARTConfig.base().vocab)
    text = Text(range(len(SPECIALS), len(SPECIALS) + TOKENS),
                sentences=[(begin, begin + SENTENCE_LENGTH) for begin in range(0, TOKENS, SENTENCE_LENGTH)])
    with torch.device("meta"):
        network = BART(BARTConfig.base())
        bases = {name: build(config) for name, (build, config, *_) in SYSTEMS.items()}
    found = {}
    for name, (_, _, objective, _) in SYSTEMS.items():
        batch = PairBatch.of([objective(text, vocab=vocab, rng=Random(0))], pad=vocab.need("pad"))
        parameters = sum(weight.numel() for weight in bases[name].parameters())
        found[name] = Cost(parameters, batch.source.size[1], batch.target.size[1],
                           forward_flops(network, batch.to("meta")))
    return found


def similar_networks() -> tuple[T5, GPT2]:
    """An encoder–decoder and a decoder-only model with six equal layers per stack, and a small output layer."""
    size: dict[str, Any] = {"layers": 6, "model": 256, "heads": 4}
    return T5(T5Config(VOCAB, inner=1024, **size)), GPT2(GPTConfig(VOCAB, 1024, **size))


def compared(source: int, target: int) -> list[int]:
    """FLOPs of `similar_networks` for texts of these lengths, which the decoder-only model processes as one text."""
    vocab, tokens = Vocabulary(VOCAB), [len(SPECIALS)] * (source + target)
    pair = objectives.sequence_to_sequence(tokens[1:source], tokens[1:target], vocab=vocab)
    both = objectives.causal(tokens[1:], vocab=vocab, rng=Random(0))
    batches: list[Any] = [PairBatch.of([pair], pad=0), Batch.of([both], pad=0)]
    return [forward_flops(model.eval(), batch) for model, batch in zip(similar_networks(), batches, strict=True)]
