"""What the parity tests of MPNet share: sizes, and texts whose padding is token 1, as theirs takes it to be."""

from dataclasses import replace

import torch
from texts import text
from torch import Tensor

from plmlab.example import IGNORE, Batch

SIZES = [
    {"vocab_size": 31, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 12},
    {"vocab_size": 50, "hidden_size": 12, "num_hidden_layers": 3, "num_attention_heads": 3, "intermediate_size": 48},
    {"vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 20,
     "max_position_embeddings": 19, "layer_norm_eps": 1e-3},
]
PADDING = 1


def text_of(vocab: int, lengths: list[int]) -> tuple[Batch, dict[str, Tensor]]:
    """Random texts of these lengths, for both, with tokens from 2 on."""
    batch, given = text(vocab - 1, lengths)
    tokens = batch.tokens + PADDING
    targets = torch.where(batch.targets == IGNORE, IGNORE, batch.targets + PADDING)
    return (replace(batch, tokens=tokens, targets=targets, labels={}),
            {"input_ids": tokens, "attention_mask": given["attention_mask"]})
