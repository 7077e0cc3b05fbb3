"""Which sentences should be the gaps in pretraining (Zhang et al. 2020, figure 4a)?

Networks of PEGASUS are pretrained with gap sentences that are selected by ROUGE-1, at random, or from the beginning of
the text, on the same articles of the full world in the same order. Only articles about the entities of the labelled
training rows are used, in other wordings than those rows, so no variant has seen a test article. ``bart-world`` has: it
was pretrained on all articles of the training text, without their summaries. It has as many layers, and more updates.
Learning rates are chosen by the variant's own loss on the articles of the development rows.
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
from plmlab.world.datasets.generation_tasks import WORDINGS, summarization_entities, wordings
from plmlab.world.datasets.texts import document_text
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch13.held_out import SEED, held_out_loss

LAYERS, WIDTH, HEADS = 3, 96, 4
"""Layers per side, width and heads: those of ``bart-world``."""
SELECTIONS = {"highest ROUGE-1": independent, "random sentences": random_sentences, "lead sentences": lead_sentences}
"""The paper's Ind-Orig, Random and Lead."""
RATE, VERSIONS = 0.3, 8
"""Proportion of gap sentences, as in figure 4a, and wordings of an article in the pretraining text."""
BATCH, WARMUP, UPDATES, PILOT, HELD_OUT = 32, 100, 2000, 300, 8
"""Articles per update, warm-up updates, updates, updates of a pilot run, and held-out batches."""
RATES, UNTRAINED_LOSS = (3e-3, 1e-2, 3e-2), 5.0
"""Initial learning rates of Adafactor, and the loss above which a model has learned nothing."""


@cache
def articles(part: str) -> Sequence[Text]:
    """The articles about the entities of a ``part`` of the summarization task, in `VERSIONS` wordings that its rows do
    not have."""
    tokenizer, entities = world_tokenizer(), getattr(summarization_entities(), part)
    return [document_text(article.sentences, tokenizer)
            for article in wordings(entities, range(WORDINGS, WORDINGS + VERSIONS))]


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
