"""What an order costs: how far above its floor each arm stands after how many words, and which floor is its own.

Two floors for each objective, of the very Examples by which an arm's loss is told: that of a reader who is told how
long the sentence is, which nobody can beat; and that of one who knows the positions in sight alone.
"""

from itertools import islice
from random import Random
from typing import Any

from plmlab import world
from plmlab.chapters.ch11.arms import ARMS, BATCH, JUDGED_SEED, JUDGED_TEXTS, judged
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from plmlab.world.probability.example_floor import example_floor
from plmlab.world.probability.readers import length_known, positions_known

READERS = {"told the length": length_known, "positions in sight": positions_known}
COUNTED = 100
"""Updates whose words are counted."""


def floors(name: str) -> dict[str, float]:
    """Reader → the floor of an arm's objective, in nats a word, on the Examples of `arms.loss`."""
    small, counts = world.small(), [count for _, count in judged(name, "test")]
    found = {}
    for title, reader in READERS.items():
        nats = 0.0
        for step, count in enumerate(counts):
            rng = Random(f"{JUDGED_SEED}:{step}")
            sentences = islice(small.text("test", seed=int(rng.random() * 2**53)), JUDGED_TEXTS)
            nats += example_floor(small.automaton("test"), sentences, ARMS[name].objective, rng, reader).mean * count
        found[title] = nats / sum(counts)
    return found


def words_read(name: str) -> dict[str, float]:
    """Of `COUNTED` updates: the real tokens that an arm reads, in thousands, and of these the share that it is asked.
    """
    source = sentence_batches(world.small(), "train", small_world_tokenizer(), ARMS[name].objective, BATCH, 0)
    tokens = asked = 0
    for step in range(COUNTED):
        for example in source.examples(step):
            tokens += len(set(example.position_ids[0].tolist()))  # type: ignore[union-attr]
            asked += int((example.targets >= 0).sum())  # type: ignore[union-attr]
    return {"thousand": tokens / 1000, "asked": asked / tokens}


def told() -> dict[str, Any]:
    """Arm → its floors and what it reads."""
    return {name: {"floors": floors(name), **words_read(name)} for name in ARMS}

