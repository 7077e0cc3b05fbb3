"""What the parity tests of BERT share: sizes, and random texts for both sides."""

import torch
from torch import Tensor

from plmlab.example import IGNORE, Batch
from plmlab.visibility import AttentionMask

SIZES = [
    {"vocab_size": 31, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 12},
    {"vocab_size": 50, "hidden_size": 12, "num_hidden_layers": 3, "num_attention_heads": 3, "intermediate_size": 48},
    {"vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 20,
     "hidden_act": "gelu_new", "type_vocab_size": 3, "max_position_embeddings": 17, "layer_norm_eps": 1e-3},
]


def text(vocab: int, lengths: list[int], segments: int = 2) -> tuple[Batch, dict[str, Tensor]]:
    """Random texts of these lengths, for both; padding is never looked at."""
    generator = torch.Generator().manual_seed(5)
    time = max(lengths)
    tokens = torch.randint(1, vocab, (len(lengths), time), generator=generator)
    real = torch.arange(time)[None] < torch.tensor(lengths)[:, None]
    tokens[~real] = 0
    sides = torch.randint(0, segments, tokens.shape, generator=generator)
    targets = torch.where(real & (torch.rand(tokens.shape, generator=generator) < 0.5), tokens, IGNORE)
    targets[:, 0] = tokens[:, 0]
    place = torch.arange(time).expand(len(lengths), 1, -1)
    batch = Batch(tokens, place, sides, AttentionMask(keys=None if real.all() else real), targets,
                  {"next_sentence": torch.arange(len(lengths)) % 2})
    return batch, {"input_ids": tokens, "attention_mask": real.long(), "token_type_ids": sides}
