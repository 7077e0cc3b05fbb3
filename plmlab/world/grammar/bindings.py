"""Variable bindings: assignments of values to the variables of a pattern such that every stated fact is true."""

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from plmlab.world.facts.facts import Facts
from plmlab.world.facts.relations import Entity, Triple
from plmlab.world.grammar.patterns import GENDER_WORDS, Agreeing, Atom, Pattern, Slot
from plmlab.world.grammar.splits import HELD_KINDS, Allowed
from plmlab.world.lexicon import Lexicon, Word, suits


class Form(NamedTuple):
    """The value of a word-class variable: a word in one of its forms."""

    word: Word
    form: str

    @property
    def surface(self) -> str:
        """The surface form of the word."""
        return self.word.forms[self.form]


Value = Entity | Form
Bindings = dict[str, Value]


class PatternBindings:
    """The values that the variables of one pattern can take in the text of one split."""

    def __init__(self, pattern: Pattern, facts: Facts, lexicon: Lexicon, allowed: Allowed):
        self.pattern = pattern
        self.facts = facts
        self.lexicon = lexicon
        self.allowed = allowed
        self._needs: dict[tuple[int, frozenset[str]], dict[str, str]] = {}

    @cached_property
    def candidates(self) -> dict[str, list[Value]]:
        """Variable → all values in its domain, before any variable is bound."""
        return {name: self._candidates(name, slot) for name, slot in self.pattern.slots.items()}

    @cached_property
    def _pools(self) -> dict[str, frozenset[Value]]:
        return {name: frozenset(values) for name, values in self.candidates.items()}

    @cached_property
    def rivals(self) -> dict[str, list[str]]:
        """Variable → the other variables whose value must be different, because they have a candidate in common."""
        return {name: [other for other in self.pattern.slots if other != name and self._rivals(name, other)]
                for name in self.pattern.slots}

    @cached_property
    def _first_fact(self) -> Atom | None:
        return next((atom for atom in self.pattern.facts if not self.facts.relation(atom.relation).derived), None)

    @cached_property
    def _first_entity(self) -> str | None:
        return next((name for name, slot in self.pattern.slots.items()
                     if name in self.pattern.entity_variables and slot.domain[0] in HELD_KINDS), None)

    @property
    def relevant(self) -> bool:
        """Whether the pattern can express something held out for this split (always True for training text)."""
        has = {"facts": self._first_fact, "entities": self._first_entity, "combinations": self.pattern.pairs}
        return bool(has.get(self.allowed.split, True))

    def _candidates(self, name: str, slot: Slot) -> list[Value]:
        if name in self.pattern.entity_variables:
            first = name == self._first_entity
            return [entity for entity in self.facts.kind(*slot.domain) if self.allowed.entity(entity, first)]
        words = {word: None for part in slot.domain for word in self.lexicon.classes.get(part, ())}
        return [Form(word, form) for word in words for form in forms(word, slot)]

    def _rivals(self, name: str, other: str) -> bool:
        for atom in self.pattern.facts:
            if {name, other} == set(atom.variables) and self.facts.relation(atom.relation).sign in ("<", ">"):
                return False
        mine = {thing(value) for value in self.candidates[name]}
        return any(thing(value) in mine for value in self.candidates[other])

    def features(self, position: int, bindings: Bindings) -> tuple:
        """The part of the bindings that affects elements from ``position`` on; bindings with equal features share a
        state."""
        needs = self._needed(position, frozenset(bindings))
        return tuple((name, self._feature(bindings[name], needs[name])) for name in sorted(needs))

    def _needed(self, position: int, bound: frozenset[str]) -> dict[str, str]:
        """Bound variable → the feature of it that is needed: 'all', 'number', 'gender', or the relation that is
        compared."""
        if (position, bound) not in self._needs:
            needs: dict[str, str] = {}
            for name, need in self._uses(position, bound):
                if name in bound:
                    needs[name] = need if needs.get(name, need) == need else "all"
            self._needs[position, bound] = needs
        return self._needs[position, bound]

    def _uses(self, position: int, bound: frozenset[str]) -> Iterator[tuple[str, str]]:
        for element in self.pattern.english[position:]:
            if isinstance(element, Slot):
                yield element.name, "all"
            if isinstance(element, (Slot, Agreeing)) and element.agrees:
                by_gender = isinstance(element, Agreeing) and element.word in GENDER_WORDS
                yield element.agrees, "gender" if by_gender else "number"
        for atom in self.pattern.facts:
            for name in atom.variables:
                if atom.other(name) not in bound:
                    yield name, self.facts.relation(atom.relation).compared or "all"
        for pair in self.pattern.pairs:
            for name in pair:
                if not bound.issuperset(pair):
                    yield name, "all"
        for name in self.pattern.slots:
            if not bound.issuperset(self.rivals[name]):
                yield name, "all"

    def _feature(self, value: Value, need: str) -> object:
        if need == "all":
            return value.key if isinstance(value, Entity) else (value.word.key, value.form)
        if need == "number":
            return plural(value)
        if need == "gender":
            return gender(value)
        assert isinstance(value, Entity)
        return self.facts.object(value, need)

    def bind(self, name: str, bindings: Bindings) -> Iterator[Bindings]:
        """Iterate over the ways to bind a variable. Each is given as the complete bindings, including implied ones;
        there is only one if the variable is already bound."""
        if name in bindings:
            yield bindings
            return
        agrees = self.pattern.slots[name].agrees
        for value in self._narrowed(name, bindings):
            if agrees and not (isinstance(value, Form)
                               and value.form == ("base" if plural(bindings[agrees]) else "third")):
                continue
            bound = self._consequences(name, {**bindings, name: value})
            if bound is not None:
                yield bound

    def _narrowed(self, name: str, bindings: Bindings) -> list[Value]:
        """The candidates compatible with a fact about a variable that is already bound, by an index lookup before the
        full checks."""
        for atom in self.pattern.facts:
            if self.facts.relation(atom.relation).derived or name not in atom.variables:
                continue
            other = bindings.get(atom.other(name))
            if isinstance(other, Entity):
                pool = self.facts.objects(other, atom.relation) if name == atom.object \
                    else self.facts.subjects(atom.relation, other)
                return [value for value in pool if value in self._pools[name]]
        return self.candidates[name]

    def _consequences(self, name: str, bindings: Bindings) -> Bindings | None:
        """The bindings extended by those that they imply (the object of a functional relation); None if they
        conflict."""
        if not self._consistent(name, bindings):
            return None
        for atom in self.pattern.facts:
            relation = self.facts.relation(atom.relation)
            if atom.subject != name or atom.object in bindings or not relation.functional or relation.derived:
                continue
            subject = bindings[name]
            assert isinstance(subject, Entity)
            target = self.facts.object(subject, atom.relation)
            if target is None or target not in self._pools[atom.object]:
                return None
            following = self._consequences(atom.object, {**bindings, atom.object: target})
            if following is None:
                return None
            bindings = following
        return bindings

    def _consistent(self, name: str, bindings: Bindings) -> bool:
        """Whether the newly bound variable is compatible with all other bound variables."""
        value = thing(bindings[name])
        if any(rival in bindings and thing(bindings[rival]) == value for rival in self.rivals[name]):
            return False
        for atom in self.pattern.facts:
            if name in atom.variables and atom.other(name) in bindings and not self._true(atom, bindings):
                return False
        return all(self._suits(pair, bindings, place == 0) for place, pair in enumerate(self.pattern.pairs)
                   if name in pair and all(part in bindings for part in pair))

    def _true(self, atom: Atom, bindings: Bindings) -> bool:
        subject, target = bindings[atom.subject], bindings[atom.object]
        assert isinstance(subject, Entity) and isinstance(target, Entity)
        return (self.facts.holds(subject, atom.relation, target)
                and self.allowed.fact(Triple(subject.key, atom.relation, target.key), atom == self._first_fact))

    def _suits(self, pair: tuple[str, str], bindings: Bindings, first: bool) -> bool:
        word, noun = bindings[pair[0]], bindings[pair[1]]
        assert isinstance(word, Form) and isinstance(noun, Form)
        return suits(word.word, noun.word) and self.allowed.combination(word.word, noun.word, first)


def forms(word: Word, slot: Slot) -> list[str]:
    """The forms of a word that can fill a placeholder.

    These are the placeholder's fixed form, if it has one; otherwise third person and base form for a verb that agrees,
    the base form for any other verb, and all forms for other words.
    """
    if slot.form:
        return [slot.form] if slot.form in word.forms else []
    if slot.agrees:
        return ["third", "base"]
    return ["base"] if word.tag == "VERB" else list(word.forms)


def thing(value: Value) -> str:
    """The key of an entity, or of a word regardless of its form; two variables must not have values with the same
    key."""
    return value.key if isinstance(value, Entity) else value.word.key


def plural(value: Value) -> bool:
    """Whether the value is a plural word; False for every entity."""
    return isinstance(value, Form) and value.form == "pl"


def gender(value: Value) -> str:
    """A person's gender, "woman" or "man"; "" for all other values."""
    return value.traits.get("gender", "") if isinstance(value, Entity) else ""
