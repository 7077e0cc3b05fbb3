"""Smaller BERTs, pretrained on the same texts in the same order with several objectives (Devlin et al. 2019, §5.1 and
C.2)."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import torch

from plmlab import world
from plmlab.batches import bucketed
from plmlab.example import IGNORE, Batch
from plmlab.models.bert import BERT, BERTConfig, BERTPretraining
from plmlab.objectives.masked import Corruption, always_mask_same_draws, bert_80_10_10, masked
from plmlab.recipes import none_if_diverged
from plmlab.recipes.stored_models import keep, with_kept
from plmlab.train import History, fit
from plmlab.transfer import batch_of
from plmlab.world.datasets.batches import mixed_batches, pair_batches, sentence_batches
from plmlab.world.datasets.segments import segment_pairs
from plmlab.world.datasets.tokenizer import ids, world_tokenizer
from studies.ch08.encoders import LeftToRight

TIME, LAYERS, WIDTH = 96, 3, 96
STEPS, BUCKETS, PAIRS, SENTENCES = 1200, 4, 4, 28
"""Updates, batches per update, and texts per batch: segment pairs, and single sentences."""
SHARE = 0.3
"""Masking rate; with the paper's 0.15 this few updates would leave BERT far from its floor."""
PILOT_STEPS, SAMPLE = 300, 200
"""Updates of a pilot run, and number of batches used to estimate the amount of training text."""
RATES = (1e-3, 3e-3, 1e-2)

Alter = Callable[[Batch], Batch]


class LeftToRightPretraining(BERTPretraining):
    """A left-to-right BERT with BERT's pretraining heads."""

    encoder_class: type[BERT] = LeftToRight


def unaltered(batch: Batch) -> Batch:
    """The unchanged batch: masked tokens and next-sentence prediction, as in the paper."""
    return batch


def unasked(batch: Batch) -> Batch:
    """The batch without pair labels: the same texts, but no next-sentence prediction."""
    return replace(batch, labels={})


def next_words(batch: Batch) -> Batch:
    """The batch as a causal language-modelling batch: without masked tokens and pair labels, and with the next token as
    the target at each position."""
    whole = torch.where(batch.targets == IGNORE, batch.tokens, batch.targets)
    targets = torch.full_like(whole, IGNORE)
    targets[:, :-1] = whole[:, 1:].masked_fill(whole[:, 1:] == world_tokenizer().vocab.need("pad"), IGNORE)
    return replace(batch, tokens=whole, targets=targets, labels={})


WAYS: dict[str, tuple[type[BERTPretraining], Alter, Corruption]] = {
    "BERT": (BERTPretraining, unaltered, bert_80_10_10), "no next sentence": (BERTPretraining, unasked, bert_80_10_10),
    "left to right": (LeftToRightPretraining, next_words, bert_80_10_10),
    "always [MASK]": (BERTPretraining, unaltered, always_mask_same_draws),
}
LIKE = {"BERT": "BERT", "no next sentence": "BERT", "always [MASK]": "BERT", "left to right": "left to right"}
"""Way of pretraining → the way whose learning rate it uses."""


def build(way: str, seed: int) -> BERTPretraining:
    """A model with random weights."""
    torch.manual_seed(seed)
    return WAYS[way][0](BERTConfig(len(world_tokenizer()), time=TIME, layers=LAYERS, model=WIDTH, inner=4 * WIDTH,
                                   dropout=0.0,
                                   attention_dropout=0.0))


def texts(way: str, seed: int) -> Callable[[int], Batch]:
    """Training batches: the seed determines the texts, and the way of pretraining the targets."""
    whole, (_, alter, corrupt) = world.full(), WAYS[way]
    mixed = bucketed(mixed_batches(
        pair_batches(whole, "train", world_tokenizer(), PAIRS, seed, rate=SHARE, corrupt=corrupt,
                     draw_pairs=partial(segment_pairs, longest=TIME - 3)),
        sentence_batches(whole, "train", world_tokenizer(), partial(masked, rate=SHARE, corrupt=corrupt),
                         SENTENCES, seed)), BUCKETS)
    return lambda step: alter(mixed(step))


def train(way: str, lr: float, seed: int, steps: int, **options: Any) -> tuple[BERTPretraining, History]:
    """Train a model for ``steps`` updates; return it with its training history."""
    model = build(way, seed)
    return model, fit(model, texts(way, seed), steps=steps, lr=lr, warmup=steps // 10, accumulate=BUCKETS, **options)


@none_if_diverged
def lr_score(way: str, lr: float, seed: int) -> float:
    """Score of a learning rate: the negative mean of the last 100 losses in ``PILOT_STEPS`` updates, in nats."""
    return -train(way, lr, seed, PILOT_STEPS, show=False)[1].smoothed(100)[-1]


def kept(folder: str, way: str, seed: int) -> Path:
    """The path of a saved pretrained model."""
    return Path(folder) / f"{way.replace(' ', '_')}.{seed}.safetensors"


def pretrain(folder: str, way: str, lr: float, seed: int) -> dict[str, float]:
    """Pretrain a model and save it; return its final ``loss`` in nats, its accuracy on visible words (``words in
    sight``), and the amount of training text in ``million`` words."""
    model, history = train(way, lr, seed, STEPS, show=False)
    keep(model, kept(folder, way, seed))
    read = texts(way, seed)
    some = [int((read(step).tokens != world_tokenizer().vocab.need("pad")).sum()) for step in range(SAMPLE)]
    return {"loss": history.smoothed(100)[-1], "words in sight": in_sight(model),
            "million": sum(some) / SAMPLE * BUCKETS * STEPS / 1e6}


def pretrained(folder: str, way: str, seed: int) -> BERT:
    """The encoder of a model that `pretrain` has saved."""
    return with_kept(build(way, seed), kept(folder, way, seed)).encoder


@cache
def whole_sentences() -> Batch:
    """A batch of 500 sentences of the plain test split without masking, in which each word is the target at its own
    position.
    """
    vocab = world_tokenizer().vocab

    def shown(words: list[str]) -> Any:
        read = ids(words)
        return masked(read, vocab=vocab, rng=Random(0), select=range(1, len(read) + 1), corrupt=lambda token, *_: token)
    return batch_of(shown, list(islice(world.full().text("test", seed=77), 500)))


@torch.no_grad()
def in_sight(model: BERTPretraining) -> float:
    """Accuracy of predicting visible words at their own positions."""
    asked = whole_sentences().targets != IGNORE
    said = model(whole_sentences()).argmax(-1)
    return float((said == whole_sentences().targets)[asked].float().mean())
