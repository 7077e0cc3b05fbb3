"""The floor of each variant's objective, and the number of tokens and targets in its training text.

Each objective has two floors, on the same Examples on which the loss of the variant is measured: that of the
Bayes-optimal predictor given the length of the sentence, which no model can beat; and that of the Bayes-optimal
predictor given only the positions of visible tokens.
"""

from itertools import islice
from random import Random
from typing import Any

from plmlab import world
from plmlab.chapters.ch11.arms import ARMS, BATCH, EVAL_BATCH_SIZE, EVAL_SEED, evaluation_batches
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from plmlab.world.probability.example_floor import example_floor
from plmlab.world.probability.readers import length_known, positions_known

PREDICTORS = {"length known": length_known, "positions known": positions_known}
UPDATES_COUNTED = 100
"""Number of updates whose words are counted."""


def floors(name: str) -> dict[str, float]:
    """Map each predictor to the floor of a variant's objective, in nats per word, on the Examples of `arms.loss`."""
    small, counts = world.small(), [count for _, count in evaluation_batches(name, "test")]
    by_predictor = {}
    for title, predictor in PREDICTORS.items():
        nats = 0.0
        for step, count in enumerate(counts):
            rng = Random(f"{EVAL_SEED}:{step}")
            sentences = islice(small.text("test", seed=int(rng.random() * 2**53)), EVAL_BATCH_SIZE)
            nats += example_floor(small.automaton("test"), sentences, ARMS[name].objective, rng, predictor).mean * count
        by_predictor[title] = nats / sum(counts)
    return by_predictor


def training_tokens(name: str) -> dict[str, float]:
    """The number of real tokens in a variant's input over `UPDATES_COUNTED` updates, in thousands, and the fraction of
    them that are targets."""
    source = sentence_batches(world.small(), "train", small_world_tokenizer(), ARMS[name].objective, BATCH, 0)
    tokens = targets = 0
    for step in range(UPDATES_COUNTED):
        for example in source.examples(step):
            tokens += len(set(example.position_ids[0].tolist()))  # type: ignore[union-attr]
            targets += int((example.targets >= 0).sum())  # type: ignore[union-attr]
    return {"thousand tokens": tokens / 1000, "target fraction": targets / tokens}


def floors_and_tokens() -> dict[str, Any]:
    """Map each variant to its floors and the amount of its training text."""
    return {name: {"floors": floors(name), **training_tokens(name)} for name in ARMS}

