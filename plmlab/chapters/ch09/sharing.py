"""ALBERT's two savings taken apart (Lan et al. 2020, tables 3 and 4): factorized embeddings, and parameters shared
across layers.

All variants are masked language models without a second task. With embeddings as wide as the model there is no
projection, so that the variant that shares nothing is BERT.
"""

from collections.abc import Sequence
from functools import cache, partial
from itertools import islice
from random import Random
from time import perf_counter

import torch
from torch import nn

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.example import Batch
from plmlab.models.albert import ALBERT, ALBERTConfig, SharedAttentionALBERT, SharedFeedForwardALBERT, UnsharedALBERT
from plmlab.models.bert import MaskedLM
from plmlab.objectives.masked import always_mask_same_draws, masked
from plmlab.train import History, fit
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.texts import rows
from plmlab.world.datasets.tokenizer import world_tokenizer
from plmlab.world.probability.example_floor import example_floor

TIME, LAYERS, WIDTH, BATCH, RATE = 96, 4, 64, 64, 0.3
"""Learned positions, number and width of the layers, sentences per update, and the masking rate in training."""
TEST_SIZE = 600

all_masked = partial(masked, corrupt=always_mask_same_draws)
"""As ``masked``, but every selected position becomes [MASK]: with BERT's 80/10/10 the floor would not be exact."""


class UnsharedMaskedLM(MaskedLM):
    """Masked language model with a layer for each depth."""

    encoder_class = UnsharedALBERT


class SharedAttentionMaskedLM(MaskedLM):
    """Masked language model that shares the attention sublayers."""

    encoder_class = SharedAttentionALBERT


class SharedFeedForwardMaskedLM(MaskedLM):
    """Masked language model that shares the feed-forward sublayers."""

    encoder_class = SharedFeedForwardALBERT


class SharedMaskedLM(MaskedLM):
    """Masked language model with one layer, applied at every depth."""

    encoder_class = ALBERT


SHARED: dict[str, type[MaskedLM]] = {
    "none": UnsharedMaskedLM,
    "attention": SharedAttentionMaskedLM,
    "feed-forward": SharedFeedForwardMaskedLM,
    "all": SharedMaskedLM,
}
"""What the layers share → the model."""
EMBEDDINGS = {"E = H": 1, "E = H/4": 4}
"""Width of the embeddings → width of the model relative to it."""


def build(embeddings: str, shared: str, seed: int) -> MaskedLM:
    """A variant with random weights."""
    torch.manual_seed(seed)
    return SHARED[shared](
        ALBERTConfig(
            len(world_tokenizer()),
            time=TIME,
            layers=LAYERS,
            model=WIDTH,
            inner=4 * WIDTH,
            dropout=0.0,
            attention_dropout=0.0,
            embedding=WIDTH // EMBEDDINGS[embeddings],
        )
    )


def batches(seed: int) -> ExampleBatches:
    """The training batches, the same for all variants: sentences of the world's training text."""
    return sentence_batches(world.full(), "train", world_tokenizer(), partial(masked, rate=RATE), BATCH, seed)


def train(
    model: nn.Module,
    embeddings: str,
    shared: str,
    *,
    updates: int,
    lr: float,
    seed: int,
    **options: object,
) -> History:
    """Pretrain a variant; a tenth of the updates, at most 50, are warmup."""
    return fit(model, batches(seed), steps=updates, lr=lr, warmup=min(50, updates // 10), **options)  # type: ignore[arg-type]


def parameters(model: nn.Module) -> dict[str, int]:
    """Number of parameters, each shared one counted once: of the ``embeddings`` with their projection, of the
    ``layers``, of the ``rest`` (masked-LM head and pooler), and ``all``."""

    def count(module: nn.Module) -> int:
        return sum(weight.numel() for weight in module.parameters())

    encoder = model.encoder
    parts = {"embeddings": count(encoder.embeddings), "layers": count(encoder.layers)}
    return {**parts, "rest": count(model) - sum(parts.values()), "all": count(model)}


def masked_sentences(sentences: Sequence[Sequence[str]], seed: int) -> tuple[Batch, float]:
    """Sentences with 15 % of the positions replaced by [MASK], and the Bayes-optimal loss on these masks, in nats per
    masked word."""
    tokenizer, draw = world_tokenizer(), Random(seed)
    examples = [all_masked(row, vocab=tokenizer.vocab, rng=draw) for row in rows(tokenizer, sentences)]
    floor = example_floor(world.full().automaton(), sentences, all_masked, Random(seed)).mean
    return Batch.of(examples, pad=tokenizer.vocab.need("pad")), floor


@cache
def masked_set(seed: int) -> tuple[Batch, float]:
    """`masked_sentences` of the world's text with this seed; no seed of a training batch gives the same sentences."""
    return masked_sentences(list(islice(world.full().text("train", seed=seed), TEST_SIZE)), seed)


@torch.no_grad()
def excess_loss(model: MaskedLM, seed: int) -> float:
    """Loss above the floor on a `masked_set`, in nats per masked word."""
    batch, floor = masked_set(seed)
    return float(model.eval().loss(batch)) - floor


def update_seconds(embeddings: str, shared: str, repeats: int = 5) -> float:
    """Seconds of the fastest of some updates (forward and backward) of a variant."""
    model, text = build(embeddings, shared, 0), batches(0)
    times = []
    for step in range(repeats):
        batch = text(step)
        began = perf_counter()
        model.loss(batch).backward()
        times.append(perf_counter() - began)
        model.zero_grad()
    return min(times)
