"""Training of FaE on one world, whose facts its weights can memorize, or on many, in which only the memory helps."""

from collections.abc import Collection, Sequence
from functools import cached_property
from random import Random
from typing import Any

import torch

from plmlab.draws import choice
from plmlab.models.fae import FaE, FaEConfig
from plmlab.objectives.entity_mentions import masked_mention
from plmlab.objectives.fact_batches import FactBatch
from plmlab.retrieval.facts import Fact
from plmlab.train import History, fit
from plmlab.world.datasets.fact_worlds import UNSEEN, FactWorld, joined
from plmlab.world.datasets.linked_texts import RELATIONS, LinkedText
from plmlab.world.datasets.tokenizer import world_tokenizer

ONE, MANY = "one world", "many worlds"
BATCH, WIDTH = 32, 64
"""Texts per update; the size of all vectors."""
CONTEXTS = (0.5, 0.25)
"""The fractions of the texts that are one sentence, and that have a first sentence about an entity of the second; in
the other texts, the first sentence states a fact of the second in other words."""


def build(world: FactWorld, seed: int) -> FaE:
    """A FaE with two layers and random weights, for the entities of a world."""
    torch.manual_seed(seed)
    return FaE(FaEConfig(vocab=len(world_tokenizer()), time=64, layers=2, model=WIDTH, heads=4, inner=4 * WIDTH,
                         entities=len(world.ids), entity_width=WIDTH, entity_std=WIDTH ** -0.5,
                         relations=len(RELATIONS)))


class FactBatches:
    """Function from a step to texts of a world with one masked name each, and to the facts of the memory, which are the
    world's except the `UNSEEN` ones.

    With ``worlds`` = `MANY`, the names of the world are exchanged at random in each batch, in the texts and in the
    memory (`FactWorld.renaming`). ``left_out`` is the probability with which a fact is missing in a batch.
    """

    def __init__(self, world: FactWorld, worlds: str, left_out: float, seed: int) -> None:
        self.world, self.worlds, self.left_out, self.seed = world, worlds, left_out, seed
        self.facts = world.memory(without={UNSEEN})

    def __call__(self, step: int) -> FactBatch:
        """The batch of a step."""
        rng, vocab = Random(f"{self.seed}:{step}"), world_tokenizer().vocab
        new = self.world.renaming(rng) if self.worlds == MANY else range(len(self.world.ids))
        facts = [Fact(new[one.subject], one.relation, tuple(new[each] for each in one.objects))
                 for one in self.facts if rng.random() >= self.left_out]
        texts = [self.world.renamed(self._drawn(rng), new) for _ in range(BATCH)]
        return FactBatch.of([masked_mention(text, vocab=vocab, rng=rng, links=links) for text, links in texts], facts,
                            pad=vocab.need("pad"))

    def _drawn(self, rng: Random) -> LinkedText:
        number, kind = choice(rng, range(len(self._linked))), rng.random()
        before = self._about if kind < sum(CONTEXTS) else self._restating
        if kind < CONTEXTS[0] or not before[number]:
            return self._linked[number]
        return joined(self._linked[choice(rng, before[number])], self._linked[number])

    @cached_property
    def _linked(self) -> list[LinkedText]:
        return [self.world.linked(sentence) for sentence in self.world.text]

    @cached_property
    def _about(self) -> list[list[int]]:
        return overlapping([text.links for text in self._linked])

    @cached_property
    def _restating(self) -> list[list[int]]:
        return overlapping([sentence.facts for sentence in self.world.text])


def overlapping(groups: Sequence[Collection[Any]]) -> list[list[int]]:
    """For each group, the numbers of the other groups that have an element in common with it."""
    return [[number for number, other in enumerate(groups) if other is not one and not {*one}.isdisjoint(other)]
            for one in groups]


def train(model: FaE, world: FactWorld, worlds: str, left_out: float, updates: int, lr: float, seed: int,
          **options: Any) -> History:
    """Train on `FactBatches`; ``options`` are passed to `fit`."""
    return fit(model, FactBatches(world, worlds, left_out, seed), steps=updates, lr=lr, warmup=updates // 10,
               compile=False, **options)
