"""Which sentences should be the gaps in pretraining (Zhang et al. 2020, figure 4a)?

Networks of PEGASUS are pretrained with gap sentences that are selected by ROUGE-1, at random, or from the beginning of
the text, on the same articles in the same order. The articles are about the entities of other worlds, with other facts
and other combinations of the same names: in a trial, 2,000 updates on the articles of one world memorized its facts,
and the loss on other articles rose. So no variant has seen an article of the summarization task. ``bart-world`` has: it
was pretrained on the training text of that world, without the summaries. It has as many layers, and more updates.
Learning rates are chosen by the variant's own loss on the articles of another world.
"""

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

import torch
from torch import nn

from plmlab.batches import ExampleBatches
from plmlab.draws import randint
from plmlab.models.pegasus import PEGASUS, PEGASUSConfig
from plmlab.objectives.gap_sentences import gap_sentences, independent, lead_sentences, random_sentences
from plmlab.recipes.study import Run, Study
from plmlab.text import Text
from plmlab.train import History, fit
from plmlab.world import World
from plmlab.world.datasets.texts import document_text
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch13.held_out import SEED, held_out_loss

LAYERS, WIDTH, HEADS = 3, 96, 4
"""Layers per side, width and heads: those of ``bart-world``."""
SELECTIONS = {"highest ROUGE-1": independent, "random sentences": random_sentences, "lead sentences": lead_sentences}
"""The paper's Ind-Orig, Random and Lead."""
RATE, WORLDS = 0.3, {"train": range(2, 22), "development": range(22, 23)}
"""Proportion of gap sentences, as in figure 4a, and the seeds of the worlds; that of the task has seed 1."""
BATCH, WARMUP, UPDATES, PILOT, HELD_OUT = 32, 100, 1000, 200, 8
"""Articles per update, warm-up updates, updates, updates of a pilot run, and held-out batches."""
RATES, UNTRAINED_LOSS = (3e-3, 1e-2, 3e-2), 5.0
"""Initial learning rates of Adafactor, and the loss above which a model has learned nothing."""


@cache
def articles(part: str) -> Sequence[Text]:
    """The articles about all entities of the worlds of a ``part``."""
    tokenizer = world_tokenizer()
    return [document_text(article.sentences, tokenizer)
            for seed in WORLDS[part] for article in World("full", seed).articles()]


def batches(variant: str, part: str, seed: int) -> ExampleBatches:
    """Batches of articles with gap sentences; all articles of a batch are drawn before any selection."""
    vocab = world_tokenizer().vocab

    def draw(rng: Random) -> list[Any]:
        texts = [articles(part)[randint(rng, len(articles(part)))] for _ in range(BATCH)]
        return [gap_sentences(text, vocab=vocab, rng=rng, rate=RATE, selection=SELECTIONS[variant]) for text in texts]
    return ExampleBatches(draw, seed, vocab.need("pad"))


def build(variant: str, seed: int) -> nn.Module:
    """A PEGASUS with random weights."""
    torch.manual_seed(seed)
    return PEGASUS(PEGASUSConfig(len(world_tokenizer()), layers=LAYERS, model=WIDTH, heads=HEADS, inner=4 * WIDTH,
                                 dropout=0.0))


def train(model: nn.Module, variant: str, *, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Pretrain a variant, in place."""
    return fit(model, batches(variant, "train", seed), steps=updates, lr=lr, warmup=WARMUP, optimizer="adafactor",
               **options)


def test(run: Run) -> dict[str, float]:
    """``loss``: the `held_out_loss` of the variant's own gap sentences."""
    [variant] = run.arm
    return {"loss": held_out_loss(run, batches(variant, "development", SEED), HELD_OUT)}


def development(run: Run) -> float:
    """The negative held-out loss."""
    return -test(run)["loss"]


STUDY: Study[Any] = Study(
    name="gap sentences", arms={(variant,): RATES for variant in SELECTIONS}, build=build, train=train,
    development=development, test=test, updates=(UPDATES,), nothing=-UNTRAINED_LOSS, pilots=(9,), pilot_updates=PILOT)
