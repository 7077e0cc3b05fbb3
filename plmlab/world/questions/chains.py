"""Chains of facts behind the questions: they are enumerated exhaustively, every hop is unambiguous, and each chain is
assigned to a split."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from plmlab.world.facts.facts import Facts
from plmlab.world.facts.relations import Entity, Triple
from plmlab.world.grammar.splits import HeldOut
from plmlab.world.questions.cognitive_graph import Clue
from plmlab.world.questions.corpora import Corpora
from plmlab.world.questions.shapes import Shape, held_compositions

TEST_PART = 8


@dataclass(frozen=True, eq=False)
class Chain:
    """A path from a named entity along facts; each of its hops was the only one possible."""

    entities: tuple[Entity, ...]          # the start, the intermediate ones, the end
    facts: tuple[Triple, ...]             # one per hop

    @property
    def start(self) -> Entity:
        """The named entity at which the path starts."""
        return self.entities[0]

    @property
    def end(self) -> Entity:
        """The entity to which the last hop leads."""
        return self.entities[-1]


Case = tuple[Chain, ...]      # subject of one question: a chain, or two to be compared (the winner of < > first)


def facts_of(case: Case) -> tuple[Triple, ...]:
    """The facts that a case needs, in the order of its chains."""
    return tuple(dict.fromkeys(fact for chain in case for fact in chain.facts))


def walk(facts: Facts, start: Entity, shape: Shape) -> Chain | None:
    """Follow the chain from ``start``. Returns None if a hop has no continuation or several, or returns to an entity
    visited before."""
    entities, triples = [start], []
    for step in shape.steps:
        here = entities[-1]
        found = facts.subjects(step.relation, here) if step.backward else facts.objects(here, step.relation)
        if len(found) != 1 or found[0] in entities:
            return None
        ends = (found[0].key, here.key) if step.backward else (here.key, found[0].key)
        triples.append(Triple(ends[0], step.relation, ends[1]))
        entities.append(found[0])
    return Chain(tuple(entities), tuple(triples))


def find_words(words: Sequence[object], wanted: Sequence[object]) -> int | None:
    """The index of the first occurrence of one sequence of words or token ids in another; None if it does not occur."""
    size = len(wanted)
    return next((at for at in range(len(words) - size + 1) if tuple(words[at:at + size]) == tuple(wanted)), None)


def names(words: tuple[str, ...], entity: Entity) -> bool:
    """Whether the words contain the name of the entity: all its words, in sequence."""
    return find_words(words, entity.words) is not None


@dataclass(frozen=True, eq=False)
class Need:
    """A fact needed by a question: the split that may state it, and its code. Both directions of a mirrored relation
    share one Need."""

    held: str             # "train", or the only split whose text may state it
    code: int             # below TEST_PART, identical on every machine


class Parting:
    """Assigns each question to a split, based only on the set of facts that it needs.

    All questions about the same set of facts are in the same split, whatever their wording and direction. The plain
    test asks about facts that the training text states but no training question covers: the sets whose codes add up to
    a multiple of 8.
    """

    def __init__(self, facts: Facts, held: HeldOut):
        self.facts = facts
        self.held = held
        self._needs: dict[Triple, Need] = {}

    def plain(self, fact: Triple) -> Triple:
        """The canonical form of a fact: a fixed one of the two directions if its relation is mirrored, otherwise the
        fact itself."""
        if self.facts.relation(fact.relation).mirrored and fact.object < fact.subject:
            return Triple(fact.object, fact.relation, fact.subject)
        return fact

    def need(self, fact: Triple) -> Need:
        """The `Need` of a fact."""
        plain = self.plain(fact)
        if plain not in self._needs:
            name = f"{plain.subject} {plain.relation} {plain.object}"
            code = hashlib.sha256(name.encode()).digest()[0] % TEST_PART
            self._needs[plain] = Need(self.held.split_of(plain), code)
        return self._needs[plain]

    def split_of(self, needed: Iterable[Need], composes_held: bool = False) -> str | None:
        """The split of a question that needs these facts; None if facts of two different held-out splits are involved.

        ``composes_held``: whether the chain composes relations that training questions never compose
        ("combinations").
        """
        needed = set(needed)
        held = {need.held for need in needed if need.held != "train"}
        if composes_held:
            held.add("combinations")
        if held:
            return held.pop() if len(held) == 1 else None
        return "test" if sum(need.code for need in needed) % TEST_PART == 0 else "train"


class Cases:
    """All questions that a world supports, shape by shape.

    A question is included only if every hop is stated in the article of the entity it starts from, and if neither the
    bridge nor the answer is revealed by a name in the question ("The Road to Milton").
    """

    def __init__(self, facts: Facts, held: HeldOut, shapes: list[Shape], corpora: Corpora):
        self.facts = facts
        self.parting = Parting(facts, held)
        self.corpora = corpora
        self.held = held_compositions(shapes)
        self.clues = cache(self._clues)
        self._parts = cache(self._parted)
        self._needs = cache(lambda chain: tuple(map(self.parting.need, chain.facts)))

    def of(self, shape: Shape, split: str) -> list[Case]:
        """All cases of the shape in the split."""
        return self._parts(shape).get(split, [])

    def _parted(self, shape: Shape) -> dict[str, list[Case]]:
        parts: dict[str, list[Case]] = {}
        held = bool(shape.compositions & self.held)
        for case in self._all(shape):
            split = self.parting.split_of((need for chain in case for need in self._needs(chain)), held)
            if split and all(None not in self.clues(chain, split) for chain in case):
                parts.setdefault(split, []).append(case)
        return parts

    def _clues(self, chain: Chain, split: str) -> tuple[Clue | None, ...]:
        """The sentence that states each hop."""
        return tuple(self.corpora.clue(here.key, fact, split)
                     for here, fact in zip(chain.entities, chain.facts, strict=False))

    def _all(self, shape: Shape) -> Iterator[Case]:
        walks = (walk(self.facts, start, shape) for start in self.facts.kind(shape.about))
        chains = [chain for chain in walks if chain is not None]
        sought = dict.fromkeys(entity for chain in chains for entity in chain.entities[1:] if entity.named)
        named = {chain: {entity for entity in sought if names(chain.start.words, entity)} for chain in chains}
        telling = {chain: entities for chain, entities in named.items() if entities}
        for case in ((chain,) for chain in chains) if shape.sign is None else _compared(chains, shape.sign):
            if telling.keys().isdisjoint(case) or all(
                    telling[one].isdisjoint(chain.entities[1:]) for one in case if one in telling for chain in case):
                yield case


def _compared(chains: list[Chain], sign: str) -> Iterator[Case]:
    """Yield every pair of chains. For < and >, the chain for which the comparison holds comes first, and ties are left
    out."""
    for one, other in combinations(chains, 2):
        if sign == "=":
            yield one, other
        elif one.end.number != other.end.number:
            first_wins = (one.end.number < other.end.number) == (sign == "<")
            yield (one, other) if first_wins else (other, one)
