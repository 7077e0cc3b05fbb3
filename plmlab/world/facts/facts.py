"""The facts of a world: its entities and triples, indexed by subject and by object."""

from collections import defaultdict
from collections.abc import Iterable

from plmlab.world.facts.relations import Entity, Relation, Triple


class FactError(ValueError):
    """Raised for a triple that its relation does not allow, and for a name unknown to the world."""


class Facts:
    """The entities and triples of a world, with lookup by subject and by object.

    Raises:
        FactError: for a triple with an unknown entity or one of the wrong kind, or a second object of a functional
            relation.
    """

    def __init__(self, relations: dict[str, Relation], entities: Iterable[Entity], triples: Iterable[Triple]):
        self.relations = relations
        self.entities: dict[str, Entity] = {entity.key: entity for entity in entities}
        self.triples: list[Triple] = []
        self._objects: dict[tuple[str, str], list[Entity]] = defaultdict(list)
        self._subjects: dict[tuple[str, str], list[Entity]] = defaultdict(list)
        self._kinds: dict[str, list[Entity]] = defaultdict(list)
        for entity in self.entities.values():
            self._kinds[entity.kind].append(entity)
        for triple in triples:
            self._add(triple)

    def _add(self, triple: Triple) -> None:
        relation = self.relation(triple.relation)
        subject, target = self[triple.subject], self[triple.object]
        if subject.kind not in relation.subjects or target.kind not in relation.objects:
            raise FactError(f"{triple}: {relation.name} leads from {'/'.join(relation.subjects)} "
                            f"to {'/'.join(relation.objects)}")
        known = self._objects[subject.key, relation.name]
        if target in known:
            return
        if relation.functional and known:
            raise FactError(f"{triple}: {relation.name} has one object, and {known[0].key} is already given")
        self.triples.append(triple)
        known.append(target)
        self._subjects[target.key, relation.name].append(subject)

    def __getitem__(self, key: str) -> Entity:
        """The entity with this key. Raises FactError for an unknown key."""
        if key not in self.entities:
            raise FactError(f"unknown entity {key!r:.60}; keys look like 'person:Anna Bell' or 'year:1952'")
        return self.entities[key]

    def relation(self, name: str) -> Relation:
        """The relation with this name.

        Raises:
            FactError: for an unknown relation.
        """
        if name not in self.relations:
            raise FactError(f"unknown relation {name!r:.60}; the relations are {', '.join(self.relations)}")
        return self.relations[name]

    def named(self, name: str) -> list[Entity]:
        """The named entities called ``name`` ("Milton" can be a town; people's names have two words)."""
        return [entity for entity in self.entities.values() if entity.named and entity.name == name]

    def kind(self, *kinds: str) -> list[Entity]:
        """All entities of these kinds, kind by kind, each kind in the order in which its entities were drawn."""
        return [entity for kind in kinds for entity in self._kinds.get(kind, ())]

    def objects(self, subject: Entity, relation: str) -> list[Entity]:
        """All entities o for which relation(subject, o) holds; derived relations are computed."""
        rule = self.relation(relation)
        if rule.derived:
            return [other for other in self.kind(*rule.objects) if self.holds(subject, relation, other)]
        return self._objects.get((subject.key, relation), [])

    def object(self, subject: Entity, relation: str) -> Entity | None:
        """The object of a functional, non-derived relation; None if the subject has no object."""
        found = self._objects.get((subject.key, relation), [])
        return found[0] if found else None

    def subjects(self, relation: str, target: Entity) -> list[Entity]:
        """All entities s for which relation(s, target) holds; derived relations are computed."""
        rule = self.relation(relation)
        if rule.derived:
            return [other for other in self.kind(*rule.subjects) if self.holds(other, relation, target)]
        return self._subjects.get((target.key, relation), [])

    def holds(self, subject: Entity, relation: str, target: Entity) -> bool:
        """Whether relation(subject, target) holds; a derived relation compares the values of the two entities."""
        rule = self.relation(relation)
        if rule.compared is None:
            return target in self._objects.get((subject.key, relation), [])
        left, right = self.object(subject, rule.compared), self.object(target, rule.compared)
        if left is None or right is None or subject == target:
            return False
        if rule.sign == "=":
            return left == right
        return left.number < right.number if rule.sign == "<" else left.number > right.number

    def about(self, subject: Entity) -> list[Triple]:
        """The triples whose subject is this entity."""
        return [triple for triple in self.triples if triple.subject == subject.key]
