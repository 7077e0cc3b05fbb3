"""The models compared in chapter 11: three networks, each with several pretraining objectives.

All models are trained on the same sentences of the small world in the same order and have two layers of width 64. A
variant is a network and an objective: a masked LM (masked words are predicted independently), a permutation LM (each
word is predicted given the words before it in a factorization order), or both. The ablation in the XLNet paper (Yang et
al. 2019, table 6) compares a masked and a permutation LM on one network ("DAE + Transformer-XL"); the ablation in the
MPNet paper (Song et al. 2020) removes the masks.

The following was fixed before the runs. Every objective predicts one word in three: the sentences have eight words, so
at the papers' rate, one in six or 15 %, there would mostly be a single target, and a single word has no order. Learning
rates are chosen by the variant's own loss on held-out sentences, with two seeds; variants in ``LR_FROM`` use the
learning rate of another variant with the same network. Each training budget is a separate run, at the end of which the
learning rate has decayed to 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import torch
from torch import nn

from plmlab import world
from plmlab.example import IGNORE, Batch, Example
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.models.mpnet import MPNetConfig, MPNetPretraining
from plmlab.models.xlnet import XLNetConfig, XLNetPretraining
from plmlab.objectives import causal, masked, masked_and_permuted, permuted, permuted_targets
from plmlab.objectives.masked import Corruption, always_mask, always_mask_same_draws
from plmlab.recipes import none_if_diverged
from plmlab.recipes.stored_models import keep, with_kept
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import fit
from plmlab.visibility import Visibility
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import small_world_tokenizer

LAYERS, WIDTH, HEADS, TIME = 2, 64, 4, 32
BATCH = 32
"""Sentences per update."""
K, RATE = 3.0, 0.3
"""One word in ``K`` is predicted, or a fraction ``RATE`` of all positions, [CLS] and [SEP] included."""
PILOT, BUDGETS = 800, (400, 1200, 3600)
"""Updates of the runs that choose the learning rates, and of the others."""
SEEDS, PILOTS = (0, 1, 2), (8, 9)
RATES = (1e-3, 3e-3, 1e-2)
EVAL_BATCHES, EVAL_BATCH_SIZE, EVAL_SEED = 32, 64, 77
"""A variant's loss is measured on this many batches of this many held-out sentences, drawn with this seed."""

Cloze = Callable[..., Example]
"""(tokens, indices of the masked words in their order) → the Example in which a model has to predict them."""


def bert(vocab: int) -> BERTPretraining:
    """BERT's network: absolute positions."""
    return BERTPretraining(BERTConfig(vocab, TIME, LAYERS, WIDTH, HEADS, 4 * WIDTH, dropout=0.0, attention_dropout=0.0))


def mpnet(vocab: int) -> MPNetPretraining:
    """MPNet's network, with absolute position embeddings and a relative position bias."""
    return MPNetPretraining(MPNetConfig(vocab, TIME, LAYERS, WIDTH, HEADS, 4 * WIDTH, dropout=0.0,
                                        attention_dropout=0.0))


def xlnet(vocab: int) -> XLNetPretraining:
    """XLNet's network: Transformer-XL's relative positions."""
    return XLNetPretraining(XLNetConfig(vocab, LAYERS, WIDTH, HEADS, 4 * WIDTH, dropout=0.0))


def gpt(vocab: int) -> GPT2:
    """GPT-2's network: absolute positions."""
    return GPT2(GPTConfig(vocab, TIME, LAYERS, WIDTH, HEADS, dropout=0.0))


def masked_in_xlnet_layout(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, rate: float = RATE,
                           **options: Any) -> Example:
    """BERT's masking in XLNet's layout, A [SEP] [CLS]: a denoising auto-encoder on XLNet's network. ``options`` are
    passed on to ``masked``."""
    example = masked(tokens, vocab=vocab, rng=rng, rate=rate, **options)
    return replace(example, tokens=example.tokens.roll(-1), targets=example.targets.roll(-1),
                   segments=torch.tensor([0] * (len(tokens) + 1) + [2]))


def without_position_compensation(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, rate: float = RATE,
                                  predict: Sequence[int] | None = None,
                                  corrupt: Corruption = always_mask_same_draws) -> Example:
    """MPNet's factorization order without visible masks: the positions of words that are still to be predicted are
    unknown, except for the position of the target itself.

    This is the ablation "− position compensation" of the MPNet paper (Song et al. 2020), that is, XLNet's objective on
    MPNet's network.
    """
    example = masked_and_permuted(tokens, vocab=vocab, rng=rng, rate=rate, predict=predict, corrupt=corrupt)

    def without_masks(visible: Visibility | None) -> Visibility:
        assert visible is not None
        return replace(visible, rules=tuple(rule for rule in visible.rules if "masks" not in rule.name))

    return replace(example, visible=without_masks(example.visible),
                   query_stream_mask=without_masks(example.query_stream_mask))


def _masked_cloze(make: Callable[..., Example], chosen: str = "select") -> Cloze:
    def cloze(tokens: Sequence[int], masked_positions: Sequence[int], vocab: Vocabulary) -> Example:
        return make(tokens, vocab=vocab, rng=Random(0), corrupt=always_mask,
                    **{chosen: [1 + position for position in masked_positions]})
    return cloze


def _permuted_cloze(tokens: Sequence[int], masked_positions: Sequence[int], vocab: Vocabulary) -> Example:
    """[SEP] and [CLS] come first in the order, so that the length is known, as it is to BERT."""
    ends = [len(tokens), len(tokens) + 1]
    context = [position for position in range(len(tokens)) if position not in masked_positions]
    order = [*ends, *context, *masked_positions]
    return permuted_targets(tokens, vocab=vocab, rng=Random(0), order=order, predict=masked_positions)


class Arm(NamedTuple):
    """A variant: the network, the training objective, how the model is queried for masked words (``cloze``; None if
    this is impossible), and whether it predicts them sequentially (``sequential``)."""

    network: Callable[[int], nn.Module]
    objective: Callable[..., Example]
    cloze: Cloze | None
    sequential: bool = True


ARMS = {
    "BERT": Arm(bert, partial(masked, rate=RATE), _masked_cloze(masked), sequential=False),
    "MPNet's network, masked LM (80/10/10)": Arm(
        mpnet, partial(masked, rate=RATE), _masked_cloze(masked), sequential=False),
    "MPNet's network, masked LM (always [MASK])": Arm(
        mpnet, partial(masked, rate=RATE, corrupt=always_mask), _masked_cloze(masked), sequential=False),
    "MPNet's network, permutation LM": Arm(
        mpnet, without_position_compensation, _masked_cloze(without_position_compensation, "predict")),
    "MPNet": Arm(mpnet, partial(masked_and_permuted, rate=RATE), _masked_cloze(masked_and_permuted, "predict")),
    "XLNet's network, masked LM (80/10/10)": Arm(
        xlnet, masked_in_xlnet_layout, _masked_cloze(masked_in_xlnet_layout), sequential=False),
    "XLNet's network, masked LM (always [MASK])": Arm(
        xlnet, partial(masked_in_xlnet_layout, corrupt=always_mask), _masked_cloze(masked_in_xlnet_layout),
        sequential=False),
    "XLNet": Arm(xlnet, partial(permuted_targets, k=K), _permuted_cloze),
    "XLNet, single-word targets": Arm(xlnet, partial(permuted_targets, k=K, longest=1.0), _permuted_cloze),
    "XLNet, ordered context": Arm(xlnet, partial(permuted, k=K), _permuted_cloze),
    "XLNet, one target in six": Arm(xlnet, partial(permuted_targets, k=6.0), _permuted_cloze),
    "GPT": Arm(gpt, causal, None),
}
LR_FROM = {"MPNet's network, permutation LM": "MPNet", "XLNet, single-word targets": "XLNet",
           "XLNet, ordered context": "XLNet", "XLNet, one target in six": "XLNet"}
"""Variants that use the learning rate of another."""
ALL_BUDGETS = ("GPT", "BERT", "MPNet", "XLNet")
"""Variants that are trained with every budget; the others with those in `LONG_BUDGETS`."""
LONG_BUDGETS = (1200, 3600)


def budgets(name: str) -> tuple[int, ...]:
    """The numbers of updates that a variant is trained for, each in a separate run."""
    return BUDGETS if name in ALL_BUDGETS else LONG_BUDGETS


def untrained(name: str, seed: int) -> nn.Module:
    """The network of a variant, with random weights initialized with this seed."""
    torch.manual_seed(seed)
    return ARMS[name].network(len(small_world_tokenizer()))


def train(name: str, updates: int, lr: float, seed: int, **options: Any) -> nn.Module:
    """Train a variant for the given number of updates and return it."""
    model = untrained(name, seed)
    batches = sentence_batches(world.small(), "train", small_world_tokenizer(), ARMS[name].objective, BATCH, seed)
    fit(model, batches, steps=updates, lr=lr, warmup=min(100, updates // 10), show=False, **options)
    return model


@cache
def evaluation_batches(name: str, split: str) -> list[tuple[Batch, int]]:
    """The batches on which the loss of a variant is measured, each with its number of targets."""
    source = sentence_batches(world.small(), split, small_world_tokenizer(), ARMS[name].objective, EVAL_BATCH_SIZE,
                              EVAL_SEED)
    batches = [source(step) for step in range(EVAL_BATCHES)]
    return [(batch, int((batch.targets != IGNORE).sum())) for batch in batches if isinstance(batch, Batch)]


@torch.no_grad()
def loss(name: str, model: nn.Module, split: str = "test") -> float:
    """The loss of a variant under its own objective on held-out sentences, in nats per word."""
    model.eval()
    losses = [(float(model.loss(batch)) * count, count)  # type: ignore[operator]
              for batch, count in evaluation_batches(name, split)]
    return sum(nats for nats, _ in losses) / sum(count for _, count in losses)


@none_if_diverged
def lr_score(name: str, lr: float, seed: int) -> float:
    """Score of a learning rate: the negative loss after `PILOT` updates, on new sentences from the training
    distribution.
    """
    return -loss(name, train(name, PILOT, lr, seed), "train")


def stored_weights(folder: str, name: str, updates: int, seed: int) -> Path:
    """The path of a variant's saved weights."""
    return Path(folder) / f"{name} {updates} {seed}.safetensors"


def train_and_save(folder: str, name: str, updates: int, lr: float, seed: int) -> float:
    """Train a variant and save its weights; return the loss on held-out sentences, in nats per word."""
    model = train(name, updates, lr, seed)
    keep(model, stored_weights(folder, name, updates, seed))
    return loss(name, model)


def load_trained(folder: str, name: str, updates: int, seed: int) -> nn.Module:
    """Load a variant from its saved weights."""
    return with_kept(untrained(name, seed), stored_weights(folder, name, updates, seed))
