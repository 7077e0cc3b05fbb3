"""Parameters of BERT and ALBERT in the sizes of table 1 of Lan et al. (2020), counted without memory."""

from dataclasses import replace

import torch
from torch import nn

from plmlab.models.albert import ALBERT, ALBERTConfig
from plmlab.models.bert import BERT, BERTConfig

SIZES = {
    "BERT-base": (BERT, replace(BERTConfig.base(), vocab=30_000), 108),
    "BERT-large": (BERT, replace(BERTConfig.large(), vocab=30_000), 334),
    "ALBERT-base": (ALBERT, ALBERTConfig.base(), 12),
    "ALBERT-large": (ALBERT, ALBERTConfig.large(), 18),
    "ALBERT-xlarge": (ALBERT, replace(ALBERTConfig.large(), model=2048, inner=8192), 60),
    "ALBERT-xxlarge": (ALBERT, ALBERTConfig.xxlarge(), 235),
}
"""Name → class, configuration with the vocabulary of 30,000, millions of parameters in the paper."""


def millions(name: str) -> dict[str, float]:
    """Millions of parameters of each part of an encoder."""
    kind, config, _ = SIZES[name]
    with torch.device("meta"):
        encoder = kind(config)

    def count(part: nn.Module) -> float:
        return sum(weight.numel() for weight in part.parameters()) / 1e6

    projection = count(getattr(encoder.embeddings, "project", nn.Identity()))
    return {"embeddings": count(encoder.embeddings) - projection, "projection E × H": projection,
            "layers": count(encoder.layers), "pooler": count(encoder.pooler)}
