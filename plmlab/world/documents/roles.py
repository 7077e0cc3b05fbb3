"""Roles of scenes and plots, and the entities and words that can fill them."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from plmlab.draws import shuffled
from plmlab.world.documents.templates import Bindings, Template, Thing
from plmlab.world.facts.relations import Entity
from plmlab.world.grammar.splits import HeldOut
from plmlab.world.lexicon import Lexicon, Word, suits
from plmlab.world.tables import Row, clash

ROLE = re.compile(r"(\w+):([\w.,]+?)(?:~(\w+))?")


@dataclass(frozen=True)
class Role:
    """A variable and its domain: the kinds of entities, word classes, or keys of words that can fill it."""

    name: str
    domain: tuple[str, ...]
    suits: str | None = None        # role of the noun that an adjective modifies


@dataclass
class Cast:
    """The entities and words available to one story."""

    entities: Mapping[str, Sequence[Entity]]       # "cast", "town", "book" … → the available entities
    lexicon: Lexicon
    held: HeldOut
    taken: set[str] = field(default_factory=set)   # surface forms reserved for the plot

    def pool(self, role: Role) -> list[Thing]:
        """All entities and words that can fill a role, except those reserved for the plot."""
        found: list[Thing] = []
        for name in role.domain:
            if name in self.entities:
                found += self.entities[name]
            else:
                found += [word for word in words_of(name, self.lexicon) if not self.taken & set(word.forms.values())]
        return found

    def fill(self, roles: Sequence[Role], rng: Random, bound: Bindings,
             avoid: Collection[Thing] = ()) -> Bindings | None:
        """Extend the bindings by a different player for each role; None if a role has no candidate.

        ``avoid`` lists players that must not be chosen.
        """
        bound = dict(bound)
        for role in sorted(roles, key=lambda role: role.suits is not None):
            out = [*bound.values(), *avoid]
            options = [thing for thing in self.pool(role) if thing not in out and self._goes(thing, role, bound)]
            if not options:
                return None
            bound[role.name] = shuffled(rng, options)[0]
        return bound

    def _goes(self, thing: Thing, role: Role, bound: Bindings) -> bool:
        noun = bound.get(role.suits) if role.suits else None
        if not isinstance(thing, Word) or not isinstance(noun, Word):
            return True
        return suits(thing, noun) and (thing.key, noun.key) not in self.held.combinations


def words_of(name: str, lexicon: Lexicon) -> list[Word]:
    """The words of a class, or the single word with this key."""
    return [lexicon[name]] if name in lexicon else list(lexicon.classes.get(name, ()))


def roles_of(template: Template, given: Collection[str] = ()) -> list[Role]:
    """The roles that a template declares with a domain, except those in ``given``."""
    return [Role(name, blank.domain, blank.suits) for name, blank in template.blanks.items()
            if blank.domain and name not in given]


def parse_roles(text: str, row: Row) -> list[Role]:
    """Parse roles written as ``o:trinket a:colour~o``. Raises a TableError that names the row for any other format."""
    found = []
    for part in text.split():
        match = ROLE.fullmatch(part)
        if match is None:
            raise clash(f"'{part}' is not a role; roles look like o:trinket or a:colour~o", row)
        found.append(Role(match[1], tuple(match[2].split(",")), match[3]))
    return found


def check_roles(roles: Sequence[Role], kinds: Collection[str], lexicon: Lexicon, row: Row) -> None:
    """Raise a TableError for a class or key with no members."""
    for role in roles:
        for name in role.domain:
            if name not in kinds and not words_of(name, lexicon):
                raise clash(f"unknown class '{name}' of '{role.name}'", row)
