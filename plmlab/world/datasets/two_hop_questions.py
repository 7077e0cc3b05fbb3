"""The world's bridge questions of two hops, divided into training, development and test questions that have no needed
fact in common."""

from collections.abc import Iterable, Iterator
from functools import cache
from random import Random

from plmlab.draws import shuffled
from plmlab.world.facts.relations import Triple
from plmlab.world.questions.bank import Question
from plmlab.world.world import World

SPLITS = ("train", "development", "test")
DEVELOPMENT = 60
"""Maximum number of development questions."""


def two_hop_questions(world: World, split: str, seed: int = 0) -> list[Question]:
    """The questions of a split, in the order and the words of this seed.

    The last fact of a test question is stated in no training text of the world; the text that pretrained the bundled
    models may state the first. The questions of the bank's splits "train" and "test" that share a needed fact with a
    question of a later split are left out.

    Raises ValueError for an unknown split, or if there is no such question.
    """
    if split not in SPLITS:
        raise ValueError(f"unknown split {split!r:.60}; the splits are {', '.join(SPLITS)}")
    if split == "test":
        found = shuffled(Random(seed), (one for held in ("facts", "entities") for one in _two_hop(world, held, seed)
                                        if world.held.split_of(one.facts[-1]) != "train"))
    elif split == "train":
        found = _disjoint(_two_hop(world, "train", seed), facts_of_later_splits(world, split))
    else:
        chosen = _disjoint(_two_hop(world, "test", 0), facts_of_later_splits(world, split))[:DEVELOPMENT]
        cases = {(one.shape, one.facts) for one in chosen}
        found = [one for one in _two_hop(world, "test", seed) if (one.shape, one.facts) in cases]
    if not found:
        raise ValueError(f"this world has no question of two hops in the split {split!r}; use world.full()")
    return found


@cache
def facts_of_later_splits(world: World, split: str) -> frozenset[Triple]:
    """The facts, both directions of a mirrored relation, that the questions of the splits after this one need."""
    needed = {fact: None for later in SPLITS[SPLITS.index(split) + 1:] for one in two_hop_questions(world, later)
              for fact in one.facts}
    return with_mirrored(world, needed)


def with_mirrored(world: World, facts: Iterable[Triple]) -> frozenset[Triple]:
    """These facts, and the other direction of those whose relation is mirrored."""
    facts = tuple(facts)
    return frozenset(facts) | {Triple(fact.object, fact.relation, fact.subject) for fact in facts
                               if world.facts.relation(fact.relation).mirrored}


def _two_hop(world: World, split: str, seed: int) -> Iterator[Question]:
    return (question for question in world.questions("bridge", split, seed) if question.hops == 2)


def _disjoint(questions: Iterable[Question], facts: frozenset[Triple]) -> list[Question]:
    return [one for one in questions if facts.isdisjoint(one.facts)]
