"""Pretraining with different settings of T5's span corruption: the proportion of dropped tokens, and the mean length of
a span.

Only one of the two settings differs from the paper's final choice, 15 % and 3. All variants are trained for the same
number of updates on the same texts: documents of the world, one after another, cut into 64 tokens, half of them in
Chinese. Spans may lie anywhere. Raffel et al. (2020) vary the proportion with single tokens (table 6), and the mean
length at 15 % (table 7). Learning rates are chosen by the variant's own loss on texts of test sentences.
"""

from collections.abc import Mapping
from functools import partial
from random import Random
from typing import Any

import torch
from torch import nn

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.models.t5 import T5, T5Config, span_corruption_anywhere
from plmlab.recipes.study import Run, Study
from plmlab.timing import fastest_in_turn
from plmlab.train import History, fit
from plmlab.world.datasets.documents import documents
from plmlab.world.datasets.generation_tasks import bilingual_ids
from plmlab.world.datasets.tokenizer import bilingual_tokenizer
from studies.ch13.held_out import SEED, held_out_loss

LAYERS, WIDTH, HEADS, LENGTH = 2, 96, 4, 64
"""Layers per side, width, heads, and tokens of a text."""
SETTINGS = {"15 %, 3": (0.15, 3.0), "25 %, 3": (0.25, 3.0), "50 %, 3": (0.5, 3.0), "15 %, 1": (0.15, 1.0),
            "15 %, 10": (0.15, 10.0)}
"""Proportion of dropped tokens and mean length of a span; the first are the paper's."""
BASELINE, SCRATCH = "15 %, 3", "not pretrained"
VARIANTS = (*SETTINGS, SCRATCH)
BATCH, WARMUP, UPDATES, PILOT, HELD_OUT = 16, 100, 2000, 300, 16
"""Texts per update, warm-up updates, updates, updates of a pilot run, and held-out batches."""
RATES, FINE_TUNING_RATES, UNTRAINED_LOSS = (1e-2, 3e-2, 1e-1), (3e-3, 1e-2, 3e-2), 5.0
"""Initial learning rates of Adafactor, in pretraining and in fine-tuning, and the loss above which a model has learned
nothing."""


def text(rng: Random, split: str) -> list[int]:
    """`LENGTH` tokens of consecutive documents, in one language; of the split "test", of sentences only."""
    chinese, tokens = rng.random() < 0.5, list[int]()
    for document in documents(world.full(), split, rng, LENGTH):
        tokens += [id for one in document for id in bilingual_ids(one.chinese if chinese else one.words)]
        if len(tokens) >= LENGTH:
            break
    return tokens[:LENGTH]


def batches(variant: str, split: str, seed: int) -> ExampleBatches:
    """Batches of texts under a variant of span corruption; all texts of a batch are drawn before any span."""
    rate, mean = SETTINGS[variant]
    vocab = bilingual_tokenizer().vocab

    def draw(rng: Random) -> list[Any]:
        texts = [text(rng, split) for _ in range(BATCH)]
        return [span_corruption_anywhere(one, vocab=vocab, rng=rng, rate=rate, mean=mean) for one in texts]
    return ExampleBatches(draw, seed, vocab.need("pad"))


def build(variant: str, seed: int) -> nn.Module:
    """A T5 with random weights."""
    torch.manual_seed(seed)
    return T5(T5Config(len(bilingual_tokenizer()), layers=LAYERS, model=WIDTH, heads=HEADS, inner=4 * WIDTH,
                       dropout=0.0))


def train(model: nn.Module, variant: str, *, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Pretrain a variant, in place."""
    return fit(model, batches(variant, "train", seed), steps=updates, lr=lr, warmup=WARMUP,
               optimizer="adafactor", **options)


def test(run: Run) -> dict[str, float]:
    """``loss``: the `held_out_loss` of the variant's own objective."""
    [variant] = run.arm
    return {"loss": held_out_loss(run, batches(variant, "test", SEED), HELD_OUT)}


def development(run: Run) -> float:
    """The negative held-out loss."""
    return -test(run)["loss"]


STUDY: Study[Any] = Study(
    name="spans", arms={(variant,): RATES for variant in SETTINGS}, build=build, train=train, development=development,
    test=test, updates=(UPDATES,), nothing=-UNTRAINED_LOSS, pilots=(9,), pilot_updates=PILOT)


def step_seconds(rounds: int) -> dict[str, float]:
    """Variant → seconds of the fastest of some forward and backward passes of a batch, measured in turn."""
    model: Any = build(BASELINE, 0)

    def step(batch: Any) -> None:
        model.loss(batch).backward()
    return fastest_in_turn({variant: partial(step, batches(variant, "train", 0)(0)) for variant in SETTINGS}, rounds)


def lengths(variant: str) -> Mapping[str, float]:
    """Number of tokens of a ``source`` and of a ``target``, [END] and sentinels included: the means of a batch."""
    batch: Any = batches(variant, "train", 0)(0)
    pad = bilingual_tokenizer().vocab.need("pad")
    return {name: float((part.tokens != pad).sum(1).float().mean())
            for name, part in (("source", batch.source), ("target", batch.target))}
