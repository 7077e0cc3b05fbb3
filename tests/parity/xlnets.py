"""What the parity tests of XLNet share: sizes, both models, and our batches in the words of theirs."""

from collections.abc import Callable
from random import Random

import torch
from alike import shaken
from torch import Tensor, nn
from transformers import XLNetConfig

from plmlab.draws import shuffled
from plmlab.example import IGNORE, Batch, Example
from plmlab.hf import convert
from plmlab.text.vocabulary import Vocabulary

SIZES = [
    {"vocab_size": 51, "d_model": 8, "n_layer": 1, "n_head": 1, "d_inner": 12},
    {"vocab_size": 60, "d_model": 12, "n_layer": 3, "n_head": 3, "d_inner": 48},
    {"vocab_size": 50, "d_model": 16, "n_layer": 2, "n_head": 4, "d_inner": 20, "layer_norm_eps": 1e-3},
]
VOCAB = Vocabulary(50)
CLOSE = 1e-7
"""Theirs takes the sinusoids in float32."""


def both(kind: type, size: dict, **more: object) -> tuple[nn.Module, nn.Module]:
    """Ours and theirs, with the same weights in float64; theirs goes on in float64 from its sinusoids."""
    theirs = shaken(kind(XLNetConfig(**{"mem_len": 5, "dropout": 0.0, "summary_last_dropout": 0.0} | size | more)))
    encoder, sinusoids = theirs.base_model, theirs.base_model.relative_positional_encoding
    encoder.relative_positional_encoding = lambda *given, **named: sinusoids(*given, **named).double()
    return convert(theirs), theirs


def special_first(objective: Callable[..., Example], words: int, second: int = 0, seed: int = 0, predict: int = 3,
                  ) -> Example:
    """A text of so many words, or two, by an objective; [CLS] and [SEP] come first in the order, so that whoever asks
    sees something."""
    rng = Random(seed)
    tokens = [rng.randrange(40, 50) for _ in range(words + second)]
    last = words + second + (2 if second else 1)
    special = [last, last - 1, *([words] if second else [])]
    order = [*special, *shuffled(rng, (position for position in range(last) if position not in special))]
    return objective(tokens[:words], pair=tokens[words:], vocab=VOCAB, rng=rng, order=order,
                     predict=order[len(special):][-predict:])


def in_theirs(batch: Batch) -> dict[str, Tensor]:
    """A batch with a query stream as theirs is given it: 1 where one may not look; a row for each word asked."""
    time, asked = batch.size[1], batch.targets != IGNORE
    mapping = torch.zeros(len(asked), int(asked.sum(1).max()), time, dtype=torch.float64)
    labels = torch.full(mapping.shape[:2], IGNORE)
    for row, positions in enumerate(asked):
        for place, position in enumerate(positions.nonzero().flatten().tolist()):
            mapping[row, place, position], labels[row, place] = 1, batch.targets[row, position]
    return {
        "input_ids": batch.tokens, "token_type_ids": batch.segments, "attention_mask": batch.padding_mask.double(),
        "perm_mask": (~batch.query_stream_mask.dense(time, time)[:, 0]).double(), "target_mapping": mapping,
        "labels": labels,
    }
