"""UniLM's network on the small world, under shares of its four masks: what it reads, and what it pays under each.

Each arm reads the same texts, English and Chinese, as often; half of them are single sentences, half passages of two,
in one language each. What differs is how often under which mask. All have two layers of 64 and hide three words in ten,
as the sentences have eight words. An arm is asked for hidden words of sentences of the plain test, in English, under
each of the four masks, beside the exact reader.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import islice
from random import Random
from typing import Any

import torch

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.chapters.ch12 import small_writing
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
"""So many batches of so many other sentences tell what is paid under a mask, drawn by a seed."""
ARMS: dict[str, Mapping[str, float]] = {
    "the mix": SHARES, **{name: {name: 1.0} for name in MASKS},
    "half and half": {"both directions": 0.5, "sequence to sequence": 0.5},
}
"""Arm → how often it reads under which mask. Half and half leaves the two triangles out."""


def new(seed: int) -> UniLMPretraining:
    """The network with random weights of this seed."""
    torch.manual_seed(seed)
    return UniLMPretraining(UniLMConfig(len(small_writing.tokenizer()), TIME, LAYERS, WIDTH, HEADS, 4 * WIDTH,
                                        dropout=0.0, attention_dropout=0.0))


def texts(name: str, seed: int) -> ExampleBatches:
    """What an arm reads."""
    vocab = small_writing.tokenizer().vocab

    def draw(rng: Random) -> list[Example]:
        long = small_writing.rows("train", rng, BATCH // 2)
        short = small_writing.rows("train", rng, BATCH // 2, range(1, 2))
        return [mask_mixture(pair[rng.random() < 0.5], vocab=vocab, rng=rng, rate=RATE, shares=ARMS[name])
                for pair in (*long, *short)]

    return ExampleBatches(draw, seed, vocab.need("pad"))


def train(model: UniLMPretraining, name: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train the network as an arm for so many updates; its history. ``options`` go to `fit`."""
    return fit(model, texts(name, seed), steps=updates, lr=lr, warmup=min(100, updates // 10), **options)


def learn(name: str, updates: int, lr: float, seed: int, **options: Any) -> tuple[UniLMPretraining, History]:
    """An arm after so many updates, and its history."""
    model = new(seed)
    return model, train(model, name, updates, lr, seed, **options)


@cache
def judged(mask: str, split: str) -> list[tuple[Batch, int]]:
    """The batches by which is told what is paid under a mask, and how many words each asks."""
    source = sentence_batches(world.small(), split, small_writing.tokenizer(), _asked(mask), TEXTS, OTHERS)
    batches = [source(step) for step in range(JUDGED)]
    return [(batch, int((batch.targets != IGNORE).sum())) for batch in batches if isinstance(batch, Batch)]


def english(name: str) -> list[Batch]:
    """What an arm is asked in English, in other sentences: eight batches."""
    source = sentence_batches(world.small(), "test", small_writing.tokenizer(),
                              partial(mask_mixture, rate=RATE, shares=ARMS[name]), TEXTS, OTHERS)
    return [batch for batch in map(source, range(8)) if isinstance(batch, Batch)]


def _asked(mask: str) -> Callable[..., Example]:
    return partial(mask_mixture, rate=RATE, shares={mask: 1.0})


@torch.no_grad()
def paid(model: UniLMPretraining, split: str = "test") -> dict[str, float]:
    """Mask → the loss under it on other sentences, in nats a hidden word."""
    model.eval()
    found = {}
    for mask in MASKS:
        told = [(float(model.loss(batch)) * count, count) for batch, count in judged(mask, split)]
        found[mask] = sum(nats for nats, _ in told) / sum(count for _, count in told)
    return found


def floors() -> dict[str, float]:
    """Mask → the least that can be paid under it on the same Examples, by who takes their positions as they are."""
    small, found = world.small(), {}
    for mask in MASKS:
        nats, counts = 0.0, [count for _, count in judged(mask, "test")]
        for step, count in enumerate(counts):
            rng = Random(f"{OTHERS}:{step}")
            sentences = islice(small.text("test", seed=int(rng.random() * 2**53)), TEXTS)
            nats += example_floor(small.automaton("test"), sentences, _asked(mask), rng, positions_known).mean * count
        found[mask] = nats / sum(counts)
    return found
