"""Pretraining with different noises: three of BART's, one at a time, and UniLM, on the same documents.

A document has at least two sentences, so that permutation changes it, and is in English or Chinese. All variants are
trained for the same number of updates on the same documents in the same order, so on equal real tokens. The compute is
not equal: BART reads each document twice, in the encoder and in the decoder, and predicts all of its tokens; UniLM
reads it once and predicts 30 % of its tokens, as in chapter 12. UniLM's single stack has as many layers as encoder and
decoder together. Learning rates are chosen by the variant's own loss on documents of test sentences; the world's
articles have no test split, so these documents contain none.
"""

from functools import partial
from typing import Any

import torch
from torch import nn

from plmlab import world
from plmlab.batches import ExampleBatches, bucketed
from plmlab.models.bart import BART, BARTConfig
from plmlab.models.unilm import UniLMConfig, UniLMPretraining
from plmlab.objectives import denoising, mask_mixture
from plmlab.recipes.study import Run, Study
from plmlab.train import History, fit
from plmlab.world.datasets.documents import document_batches
from plmlab.world.datasets.tokenizer import bilingual_tokenizer
from studies.ch13.held_out import SEED, held_out_loss

LAYERS, WIDTH, HEADS, TIME, LONGEST = 2, 96, 4, 200, 64
"""Layers per side, width, heads, positions, and maximum number of words of a document."""
NOISES: dict[str, dict[str, Any]] = {
    "token masking": {"masking": 0.3, "infilling": 0, "permutation": 0},
    "text infilling": {"masking": 0, "infilling": 0.3, "permutation": 0},
    "sentence permutation": {"masking": 0, "infilling": 0, "permutation": 1}}
UNILM, SCRATCH = "UniLM", "BART, not pretrained"
VARIANTS = (*NOISES, UNILM, SCRATCH)
BATCH, ACCUMULATE, WARMUP, UPDATES, PILOT, HELD_OUT = 8, 4, 100, 3000, 300, 32
"""Documents per batch, batches per update, warm-up updates, updates, updates of a pilot run, and held-out batches."""
RATES, FINE_TUNING_RATES, UNTRAINED_LOSS = (1e-3, 3e-3, 1e-2), (3e-4, 1e-3, 3e-3), 6.0
"""Initial learning rates of pretraining and of fine-tuning, and the loss above which a model has learned nothing; that
of word frequencies is 6.2."""


def batches(arm: str, split: str, seed: int) -> ExampleBatches:
    """Batches of documents under the objective of a variant; all documents of a batch are drawn before any noise."""
    objective: Any = partial(mask_mixture, rate=0.3) if arm == UNILM else partial(denoising, **NOISES[arm])
    return document_batches(world.full(), split, bilingual_tokenizer(), objective, BATCH, seed, longest=LONGEST,
                            bilingual=True, least=2)


def build(arm: str, seed: int) -> nn.Module:
    """A variant's network with random weights."""
    torch.manual_seed(seed)
    size: dict[str, Any] = {"vocab": len(bilingual_tokenizer()), "time": TIME, "model": WIDTH, "heads": HEADS,
                            "inner": 4 * WIDTH, "dropout": 0.0, "attention_dropout": 0.0}
    if arm == UNILM:
        return UniLMPretraining(UniLMConfig(**size, layers=2 * LAYERS))
    return BART(BARTConfig(**size, layers=LAYERS))


def train(model: nn.Module, arm: str, *, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Pretrain a variant, in place."""
    return fit(model, bucketed(batches(arm, "train", seed), ACCUMULATE), steps=updates, lr=lr, warmup=WARMUP,
               accumulate=ACCUMULATE, **options)


def test(run: Run) -> dict[str, float]:
    """``loss``: the `held_out_loss` of the variant's own objective."""
    [arm] = run.arm
    return {"loss": held_out_loss(run, batches(arm, "test", SEED), HELD_OUT)}


def development(run: Run) -> float:
    """The negative held-out loss."""
    return -test(run)["loss"]


STUDY: Study[Any] = Study(
    name="noises", arms={(arm,): RATES for arm in (*NOISES, UNILM)}, build=build, train=train, development=development,
    test=test, updates=(UPDATES,), nothing=-UNTRAINED_LOSS, pilots=(9,), pilot_updates=PILOT)
