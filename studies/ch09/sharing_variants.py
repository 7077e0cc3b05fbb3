"""ALBERT's two savings taken apart (Lan et al. 2020, tables 3 and 4): factorized embeddings, and parameters shared
across layers.

All variants are masked language models without a second task. With embeddings as wide as the model there is no
projection, so that the variant that shares nothing is BERT.
"""

from functools import partial
from typing import Any

import torch
from torch import nn

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.models.albert import ALBERT, ALBERTConfig, SharedAttentionALBERT, SharedFeedForwardALBERT, UnsharedALBERT
from plmlab.models.bert import MaskedLM
from plmlab.objectives import masked
from plmlab.timing import fastest_in_turn
from plmlab.train import History, fit
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import world_tokenizer

TIME, LAYERS, WIDTH, BATCH, RATE = 96, 4, 64, 64, 0.3
"""Learned positions, number and width of the layers, sentences per update, and the masking rate in training."""


SHARED = {"none": UnsharedALBERT, "attention": SharedAttentionALBERT, "feed-forward": SharedFeedForwardALBERT,
          "all": ALBERT}
"""What the layers share → the encoder."""
EMBEDDINGS = {"E = H": 1, "E = H/4": 4}
"""Width of the embeddings → width of the model relative to it."""
VARIANTS = (("E = H", "none"), ("E = H", "all"), *(("E = H/4", shared) for shared in SHARED))
"""Embeddings and what is shared: BERT, one saving at a time, and ALBERT."""


def build(embeddings: str, shared: str, seed: int) -> MaskedLM:
    """A variant with random weights."""
    class Variant(MaskedLM):
        encoder_class = SHARED[shared]

    torch.manual_seed(seed)
    return Variant(ALBERTConfig(len(world_tokenizer()), time=TIME, layers=LAYERS, model=WIDTH, inner=4 * WIDTH,
                                dropout=0.0, attention_dropout=0.0, embedding=WIDTH // EMBEDDINGS[embeddings]))


def batches(seed: int) -> ExampleBatches:
    """The training batches, the same for all variants: sentences of the world's training text."""
    return sentence_batches(world.full(), "train", world_tokenizer(), partial(masked, rate=RATE), BATCH, seed)


def train(model: nn.Module, embeddings: str, shared: str, *, updates: int, lr: float, seed: int, **options: Any,
          ) -> History:
    """Pretrain a variant; a tenth of the updates, at most 50, are warmup."""
    return fit(model, batches(seed), steps=updates, lr=lr, warmup=min(50, updates // 10), **options)


def parameters(model: MaskedLM) -> dict[str, int]:
    """Number of parameters, each shared one counted once: of the ``embeddings`` with their projection, of the
    ``layers``, and ``all``, which includes the masked-LM head and the pooler."""
    return {name: sum(weight.numel() for weight in module.parameters()) for name, module in (
        ("embeddings", model.encoder.embeddings), ("layers", model.encoder.layers), ("all", model))}


def update_seconds(rounds: int = 10) -> dict[str, float]:
    """What is shared, "none" or "all" → seconds of the fastest of some updates (forward and backward), measured in
    turn."""
    batch: Any = batches(0)(0)
    return fastest_in_turn({shared: partial(_update, build("E = H/4", shared, 0), batch)
                            for shared in ("none", "all")}, rounds)


def _update(model: MaskedLM, batch: Any) -> None:
    model.loss(batch).backward()
