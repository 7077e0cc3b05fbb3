"""UniLM's network on the small world, trained with different mixtures of its four masks: inputs, and the loss under
each mask.

Every variant is trained on the same English and Chinese texts, the same number of times; half of the texts are single
sentences, half are passages of two sentences, each in one language. The variants differ in how often they use each
mask. All have two layers of width 64 and mask three words in ten, because the sentences have only eight words. They are
evaluated on masked words of English sentences from the plain test split under each of the four masks, and compared with
the Bayes-optimal predictor.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import islice
from random import Random
from typing import Any

import torch

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.chapters.ch12 import passage_translation
from plmlab.example import IGNORE, Batch, Example
from plmlab.models.unilm import UniLMConfig, UniLMPretraining
from plmlab.objectives import mask_mixture
from plmlab.objectives.prefix import MASKS, SHARES
from plmlab.train import History, fit
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.probability.example_floor import example_floor
from plmlab.world.probability.readers import positions_known

LAYERS, WIDTH, HEADS, TIME = 2, 64, 4, 64
BATCH, RATE = 32, 0.3
JUDGED, TEXTS, OTHERS = 16, 64, 77
"""The loss under a mask is measured on this many batches of this many held-out sentences, drawn with this seed."""
ARMS: dict[str, Mapping[str, float]] = {
    "mixture": SHARES, **{name: {name: 1.0} for name in MASKS},
    "half and half": {"both directions": 0.5, "sequence to sequence": 0.5},
}
"""Variant → proportion of each mask. Half and half omits the two triangular masks."""


def new_unilm(seed: int) -> UniLMPretraining:
    """The network with random weights, initialized with this seed."""
    torch.manual_seed(seed)
    return UniLMPretraining(UniLMConfig(len(passage_translation.tokenizer()), TIME, LAYERS, WIDTH, HEADS, 4 * WIDTH,
                                        dropout=0.0, attention_dropout=0.0))


def texts(name: str, seed: int) -> ExampleBatches:
    """The training batches of a variant."""
    vocab = passage_translation.tokenizer().vocab

    def draw(rng: Random) -> list[Example]:
        long = passage_translation.rows("train", rng, BATCH // 2)
        short = passage_translation.rows("train", rng, BATCH // 2, range(1, 2))
        return [mask_mixture(pair[rng.random() < 0.5], vocab=vocab, rng=rng, rate=RATE, shares=ARMS[name])
                for pair in (*long, *short)]

    return ExampleBatches(draw, seed, vocab.need("pad"))


def train(model: UniLMPretraining, name: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train the network as a variant for the given number of updates and return the history; ``options`` are passed to
    `fit`."""
    return fit(model, texts(name, seed), steps=updates, lr=lr, warmup=min(100, updates // 10), **options)


@cache
def evaluation_batches(mask: str, split: str) -> list[tuple[Batch, int]]:
    """The batches on which the loss under a mask is measured, each with its number of targets."""
    source = sentence_batches(world.small(), split, passage_translation.tokenizer(), _asked(mask), TEXTS, OTHERS)
    batches = [source(step) for step in range(JUDGED)]
    return [(batch, int((batch.targets != IGNORE).sum())) for batch in batches if isinstance(batch, Batch)]


def held_out_batches(name: str) -> list[Batch]:
    """Eight batches of a variant's own objective, on held-out English sentences."""
    source = sentence_batches(world.small(), "test", passage_translation.tokenizer(),
                              partial(mask_mixture, rate=RATE, shares=ARMS[name]), TEXTS, OTHERS)
    return [batch for batch in map(source, range(8)) if isinstance(batch, Batch)]


def _asked(mask: str) -> Callable[..., Example]:
    return partial(mask_mixture, rate=RATE, shares={mask: 1.0})


@torch.no_grad()
def losses_by_mask(model: UniLMPretraining, split: str = "test") -> dict[str, float]:
    """Map each mask to the loss under it on held-out sentences, in nats per masked word."""
    model.eval()
    losses = {}
    for mask in MASKS:
        by_batch = [(float(model.loss(batch)) * count, count) for batch, count in evaluation_batches(mask, split)]
        losses[mask] = sum(nats for nats, _ in by_batch) / sum(count for _, count in by_batch)
    return losses


def floors_by_mask() -> dict[str, float]:
    """Map each mask to the entropy lower bound under it, on the same Examples and given their position ids."""
    small, losses = world.small(), {}
    for mask in MASKS:
        nats, counts = 0.0, [count for _, count in evaluation_batches(mask, "test")]
        for step, count in enumerate(counts):
            rng = Random(f"{OTHERS}:{step}")
            sentences = islice(small.text("test", seed=int(rng.random() * 2**53)), TEXTS)
            nats += example_floor(small.automaton("test"), sentences, _asked(mask), rng, positions_known).mean * count
        losses[mask] = nats / sum(counts)
    return losses
