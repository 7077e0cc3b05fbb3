"""A world whose facts change: statements in which the object of a fact is masked, where each fact occurs in training,
and changes of facts, both in a fact memory and in documents."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import cache, cached_property
from random import Random
from typing import NamedTuple

from plmlab.draws import choice, shuffled
from plmlab.retrieval.facts import Fact, facts_of
from plmlab.text import Text
from plmlab.world.datasets.changed_documents import Changes, changed_documents
from plmlab.world.datasets.fact_documents import FactDocuments
from plmlab.world.datasets.linked_texts import RELATIONS, LinkedText, entity_ids, linked_text, names
from plmlab.world.datasets.tokenizer import ids, world_tokenizer
from plmlab.world.facts.relations import Entity, Triple
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.questions.cloze import Cloze
from plmlab.world.world import World

GROUPS = STATED, STORED, UNSEEN = ("text and memory", "memory only", "neither")
"""Where a fact occurs in training: in the text and in the memory, only in the memory, or in neither."""
SHARES = (0.6, 0.8)
"""The fraction of the facts that are stated, and of those that are stated or stored."""
CHANGED = 0.5
"""The largest fraction of the facts that are changed together."""


class FactStatement(NamedTuple):
    """A sentence that states ``fact`` with the name of its object, the name with the index ``mention``."""

    fact: Triple
    sentence: Sentence
    mention: int


class FactWorld:
    """A medium world and its `FactStatement`s whose masked object only one entity can be.

    One statement of each fact is kept for the ``test``; the ``text`` consists of all other sentences with names that
    state no `STORED` and no `UNSEEN` fact.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.documents = FactDocuments(World("medium", seed))
        self.world = self.documents.world
        self.ids = entity_ids(self.world)
        self.entities = [self.world.facts[key] for key in self.ids]

    @cached_property
    def statements(self) -> Mapping[Triple, tuple[FactStatement, ...]]:
        """Canonical fact (`FactDocuments.plain`) → its statements, which are sentences of the grammar."""
        found: dict[Triple, list[FactStatement]] = defaultdict(list)
        for cloze in self._clozes:
            fact = self._towards(cloze)
            if fact is not None and cloze.source is None:
                sentence = self.world.parse(cloze.words)
                starts = [mention.start for mention in names(self.world, sentence)]
                found[self.documents.plain(fact)].append(FactStatement(fact, sentence, starts.index(cloze.span[0])))
        return {fact: tuple(some) for fact, some in found.items()}

    @cached_property
    def groups(self) -> Mapping[Triple, str]:
        """Canonical fact → its group, at random. Facts without a statement are `STATED`."""
        facts = shuffled(Random(f"groups:{self.seed}"), self.statements)
        ends = [round(share * len(facts)) for share in SHARES]
        return {fact: GROUPS[sum(i >= end for end in ends)] for i, fact in enumerate(facts)}

    def group(self, fact: Triple) -> str:
        """The group of a fact in either direction."""
        return self.groups.get(self.documents.plain(fact), STATED)

    @cached_property
    def test(self) -> tuple[FactStatement, ...]:
        """One statement of each fact."""
        rng = Random(f"test:{self.seed}")
        return tuple(choice(rng, some) for some in self.statements.values())

    @cached_property
    def text(self) -> tuple[Sentence, ...]:
        """The sentences of the training text."""
        tested = {one.sentence.words for one in self.test}
        words = dict.fromkeys(cloze.words for cloze in self._clozes if cloze.source is None)
        return tuple(one for one in map(self.world.parse, words) if one.words not in tested
                     and any(names(self.world, one)) and all(self.group(fact) == STATED for fact in one.facts))

    def linked(self, *sentences: Sentence) -> LinkedText:
        """Sentences as one text with linked names."""
        return linked_text(self.world, sentences, self.ids, world_tokenizer())

    def memory(self, changes: Changes | None = None, without: Collection[str] = ()) -> list[Fact]:
        """The facts of the world after ``changes``, except those of the groups ``without``. A changed fact of a
        symmetric relation is removed in the other direction."""
        changes = changes or {}
        touched, triples = {*map(self.documents.plain, changes)}, list[tuple[int, int, int]]()
        for fact in self.world.facts.triples:
            after: Entity | None = self.world.facts[fact.object]
            if self.documents.plain(fact) in touched:
                after = changes.get(fact)
            if after is not None and {fact.subject, after.key} <= {*self.ids} and self.group(fact) not in without:
                triples.append((*self.key(fact), self.ids[after.key]))
        return facts_of(triples)

    def key(self, fact: Triple) -> tuple[int, int]:
        """The key of a fact in a memory: the ids of its subject and relation."""
        return self.ids[fact.subject], RELATIONS.index(fact.relation)

    def alike(self, entity: Entity) -> list[Entity]:
        """The entities with a name of the same kind, gender and length, including the entity itself."""
        return [one for one in self.entities if _form(one) == _form(entity)]

    @cached_property
    def changes(self) -> tuple[dict[Triple, Entity], ...]:
        """Two sets of changes without a common fact. In each, at most half of the facts of `statements` have another
        object; the changed documents still state all facts, and if the changed facts are removed, all others."""
        rng, facts = Random(f"changes:{self.seed}"), [one.fact for one in self.test]
        left, sets = shuffled(rng, facts), []
        for _ in range(2):
            made = dict[Triple, Entity]()
            for fact in left:
                subject, old = self.world.facts[fact.subject], self.world.facts[fact.object]
                excluded = {subject, *self.world.facts.objects(subject, fact.relation)}
                others = [one for one in self.alike(old) if one not in excluded]
                if others and len(made) < int(CHANGED * len(facts)):
                    tried = made | {fact: choice(rng, others)}
                    changed = changed_documents(self.documents, tried).tellers
                    removed = changed_documents(self.documents, dict.fromkeys(tried)).tellers
                    if all(one in changed and (one in tried or one in removed) for one in facts):
                        made = tried
            sets.append(made)
            left = [fact for fact in left if fact not in made]
        return tuple(sets)

    def renaming(self, rng: Random) -> list[int]:
        """A random permutation of the entities that keeps kind, gender and length: entity → entity, by id."""
        new = [0] * len(self.ids)
        for some in dict.fromkeys(tuple(self.alike(one)) for one in self.entities):
            for one, other in zip(some, shuffled(rng, some), strict=True):
                new[self.ids[one.key]] = self.ids[other.key]
        return new

    def renamed(self, linked: LinkedText, new: Sequence[int]) -> LinkedText:
        """A text in which each name is replaced by that of the entity ``new[link]``, which has the same length."""
        row = [*linked.text]
        for (start, end), link in zip(linked.text.entities or (), linked.links, strict=True):
            row[start:end] = self._names[new[link]]
        return LinkedText(Text(row, entities=linked.text.entities), tuple(new[link] for link in linked.links))

    @cached_property
    def _names(self) -> list[list[int]]:
        return [ids(one.words) for one in self.entities]

    @cached_property
    def _clozes(self) -> list[Cloze]:
        return [cloze for split in ("train", "test") for cloze in self.world.cloze(split)]

    def _towards(self, cloze: Cloze) -> Triple | None:
        """The fact in the direction in which the masked name is its object; None if it has no such direction, or if an
        entity of the fact has no name."""
        fact = cloze.fact
        if fact.relation not in RELATIONS or not {fact.subject, fact.object} <= {*self.ids}:
            return None
        if cloze.entity == fact.object:
            return fact
        mirrored = self.world.facts.relation(fact.relation).mirrored
        return Triple(fact.object, fact.relation, fact.subject) if mirrored else None


def _form(entity: Entity) -> tuple[str, str | None, int]:
    return entity.kind, entity.traits.get("gender"), len(entity.words)


def joined(one: LinkedText, other: LinkedText) -> LinkedText:
    """Two texts in succession."""
    return LinkedText(one.text + other.text, one.links + other.links)


@cache
def fact_world(seed: int) -> FactWorld:
    """The world with this seed."""
    return FactWorld(seed)
