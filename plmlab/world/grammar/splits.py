"""What is held out of the training text: facts, entities, word combinations, and sentences of open patterns."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from random import Random

from plmlab.draws import sample, shuffled
from plmlab.world.facts.facts import Facts
from plmlab.world.facts.relations import Entity, Triple
from plmlab.world.grammar.patterns import Pattern
from plmlab.world.lexicon import Lexicon, Word, suits
from plmlab.world.probability.automaton import Automaton

SPLITS = ("train", "test", "facts", "entities", "combinations")
HELD_KINDS = ("person", "film", "book", "cafe", "company")
MODULUS = 32
OPEN_FROM = 128


class SplitError(ValueError):
    """Raised if the requested split does not exist."""


def checked(split: str) -> str:
    """Return the split if it is one of ``SPLITS``.

    Raises:
        SplitError: for an unknown split.
    """
    if split not in SPLITS:
        raise SplitError(f"unknown split {split!r:.60}; the splits are {', '.join(SPLITS)}")
    return split


@cache
def word_code(word: str) -> int:
    """A code from 0 to 31 for a word, identical on every machine: the first byte of its SHA-256, modulo ``MODULUS``."""
    return hashlib.sha256(word.encode()).digest()[0] % MODULUS


def is_test(words: Iterable[str]) -> bool:
    """Whether the codes of the words add up to a multiple of 32.

    For an *open* pattern (one that states no fact and has at least 128 sentences), these sentences form the plain test
    and are left out of the training text. Sentences of the other patterns occur in both parts, because no model can be
    expected to predict a fact that it was never given (that is the split "facts"). Each pattern is equally frequent in
    both parts. The sum can be tracked by a finite automaton, so every statistic of both parts stays exact. A predictor
    that knows the grammar but not the codes cannot beat the grammar's own distribution; its loss is the floor. Knowing
    the codes as well would gain at most −log(31/32), about 0.03 nats per sentence of training text.
    """
    return sum(map(word_code, words)) % MODULUS == 0


def open_patterns(automaton: Automaton, patterns: Iterable[Pattern]) -> frozenset[str]:
    """The ids of the open patterns, which state no fact and have at least 128 sentences, so that some sentences are
    reserved for the plain test."""
    free = {pattern.id for pattern in patterns if not pattern.facts}
    return frozenset(start.label for start in automaton.starts
                     if start.label in free and automaton.counts[start.state] >= OPEN_FROM)


@dataclass(frozen=True)
class HeldOut:
    """What the training text never states: facts, entities (by key), and combinations (pairs of the keys of an
    adjective or verb and a noun)."""

    facts: frozenset[Triple]
    entities: frozenset[str]                        # keys
    combinations: frozenset[tuple[str, str]]        # keys of an adjective or verb, and of a noun

    def split_of(self, triple: Triple) -> str:
        """The split whose text may state this fact: 'entities', 'facts' or 'train'."""
        if triple.subject in self.entities or triple.object in self.entities:
            return "entities"
        return "facts" if triple in self.facts else "train"


def draw_held_out(facts: Facts, lexicon: Lexicon, shares: dict[str, float], rng: Random) -> HeldOut:
    """Sample what is held out. ``shares`` gives the proportion (0 to 1) for 'facts', 'entities' and 'combinations'."""
    entities = _entities(facts, shares["entities"], rng)
    return HeldOut(_facts(facts, entities, shares["facts"], rng), entities,
                   _combinations(lexicon, shares["combinations"], rng))


def _entities(facts: Facts, share: float, rng: Random) -> frozenset[str]:
    """A proportion of the entities of every kind; each word of a held-out name also occurs in a name that is not held
    out."""
    uses = Counter(word for entity in facts.entities.values() if entity.named for word in set(entity.words))
    held: set[str] = set()
    for kind in HELD_KINDS:
        wanted = round(share * len(facts.kind(kind)))
        for entity in shuffled(rng, facts.kind(kind)):
            if wanted > 0 and all(uses[word] > 1 for word in entity.words):
                wanted -= 1
                held.add(entity.key)
                uses.subtract(set(entity.words))
    return frozenset(held)


def _facts(facts: Facts, entities: frozenset[str], share: float, rng: Random) -> frozenset[Triple]:
    """A proportion of the facts of every relation; a mirrored fact is held out in both directions."""
    held: set[Triple] = set()
    for name, relation in facts.relations.items():
        triples = [triple for triple in facts.triples if triple.relation == name
                   and triple.subject not in entities and triple.object not in entities]
        for triple in sample(rng, triples, round(share * len(triples))):
            held.add(triple)
            if relation.mirrored:
                held.add(Triple(triple.object, name, triple.subject))
    return frozenset(held)


def _combinations(lexicon: Lexicon, share: float, rng: Random) -> frozenset[tuple[str, str]]:
    """Pairs of an adjective or verb and a suitable noun, such that each word keeps at least two thirds of its
    combinations."""
    in_use = [word for word in lexicon if word.classes]
    pairs = [(word, noun) for word in in_use if word.suits for noun in in_use if suits(word, noun)]
    partners = Counter(word for pair in pairs for word in pair)
    room = {word: count // 3 for word, count in partners.items()}
    held: set[tuple[str, str]] = set()
    for word, noun in shuffled(rng, pairs):
        if len(held) >= share * len(pairs):
            break
        if room[word] and room[noun]:
            held.add((word.key, noun.key))
            room[word] -= 1
            room[noun] -= 1
    return frozenset(held)


class Allowed:
    """What the text of one split may state.

    Training text states nothing that is held out. In the other splits, a pattern's *first* fact, entity or combination
    is held out, and the rest of the sentence is as in training (in "entities": any fact about the held-out entity).
    """

    def __init__(self, held: HeldOut, split: str):
        self.held = held
        self.split = checked(split)

    def entity(self, entity: Entity, first: bool) -> bool:
        """Whether the text may name the entity.

        A held-out entity is allowed (and then required) only as the pattern's ``first`` in the split "entities".
        """
        held = entity.key in self.held.entities
        return held if self.split == "entities" and first else not held

    def fact(self, triple: Triple, first: bool) -> bool:
        """Whether the text may state the fact.

        A held-out fact is allowed (and then required) only as the pattern's ``first`` in the split "facts".
        """
        if self.split == "entities":
            return triple not in self.held.facts
        held = triple in self.held.facts
        return held if self.split == "facts" and first else not held

    def combination(self, word: Word, noun: Word, first: bool) -> bool:
        """Whether a word may be combined with a noun.

        A held-out pair is allowed (and then required) only as the pattern's ``first`` in the split "combinations".
        """
        held = (word.key, noun.key) in self.held.combinations
        return held if self.split == "combinations" and first else not held
