"""Sentence patterns: an English template, its Chinese counterpart, and the facts that the sentence states.

The template language (data/world/README.md has it with examples)::

    {s:person}  {c:craft}  {n:furniture}  {n:tool.pl}     a variable, its domain, and its form
    {v:act@n}   {is@n}   {his@s}                          agrees with n in number, or with s in gender
    {a:quality~n}   {v:handle.past~o}                     selected to suit the noun n (the table's ``suits``)
    {an+c:craft}    {n}                                   with its article; the same variable again
    word   work/VERB   bank/bank.river                    a literal word; with a tag or sense if it is ambiguous
"""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from plmlab.world.facts.relations import NAMED, Relation
from plmlab.world.lexicon import Lexicon, Word
from plmlab.world.tables import TABLES, Row, clash, read_table, unique

NUMBER_WORDS = {"is": ("is", "are"), "was": ("was", "were"), "has": ("has", "have"), "does": ("does", "do"),
                "this": ("this", "these"), "it": ("it", "they"), "its": ("its", "their")}
GENDER_WORDS = {"he": ("he", "she"), "his": ("his", "her"), "him": ("him", "her"),
                "husband": ("husband", "wife")}
SLOT = re.compile(r"\{(?P<article>an\+)?(?P<name>\w+)(:(?P<domain>[\w,]+))?(\.(?P<form>\w+))?"
                  r"(@(?P<agrees>\w+))?(~(?P<suits>\w+))?\}")
ATOM = re.compile(r"(\w+)\((\w+),(\w+)\)")
CHINESE_FORMS = ("", "that", "this", "one", "m", "pred", "so", "he", "spouse")


@dataclass(frozen=True)
class Literal:
    """A literal word of the template."""

    surface: str
    word: Word
    form: str


@dataclass(frozen=True)
class Agreeing:
    """A function word that agrees with a variable: is/are in number, he/she in gender."""

    word: str
    agrees: str


@dataclass(frozen=True)
class Slot:
    """A placeholder in a template: its variable, domain and form, the variable that it agrees with, and whether it
    takes an article."""

    name: str
    domain: tuple[str, ...]       # kinds of entities or word classes; empty where the variable is repeated
    form: str
    agrees: str | None
    article: bool


@dataclass(frozen=True)
class Atom:
    """A fact over variables: relation(subject, object)."""

    relation: str
    subject: str
    object: str

    def other(self, name: str) -> str:
        """The variable of the fact other than ``name``."""
        return self.object if name == self.subject else self.subject

    @property
    def variables(self) -> tuple[str, str]:
        """The two variables, the subject first."""
        return self.subject, self.object


Element = Literal | Agreeing | Slot


@dataclass(frozen=True)
class Pattern:
    """A sentence pattern, one row of a pattern table: templates in both languages, and the facts that the sentence
    states."""

    id: str
    weight: int
    english: tuple[Element, ...]
    chinese: tuple[str, ...]
    facts: tuple[Atom, ...]               # what the sentence states (derived relations too)
    pairs: tuple[tuple[str, str], ...]    # (adjective or verb, noun): combinations
    row: Row

    def __hash__(self) -> int:
        return hash(self.id)

    @cached_property
    def slots(self) -> dict[str, Slot]:
        """Variable → its first placeholder, in the order of the English template."""
        found: dict[str, Slot] = {}
        for element in self.english:
            if isinstance(element, Slot):
                found.setdefault(element.name, element)
        return found

    @cached_property
    def entity_variables(self) -> frozenset[str]:
        """The variables that denote entities: named entities, and values that occur in a fact."""
        in_facts = {name for atom in self.facts for name in atom.variables}
        return frozenset(name for name, slot in self.slots.items()
                         if name in in_facts or any(kind in NAMED for kind in slot.domain))


PATTERN_TABLES = ("pattern_facts.tsv", "pattern_agreement.tsv", "pattern_senses.tsv", "pattern_scenes.tsv",
                  "pattern_dialogue.tsv")


def read_patterns(lexicon: Lexicon, relations: dict[str, Relation], folder: Path = TABLES) -> list[Pattern]:
    """Read all patterns of the pattern tables, in order.

    Raises:
        TableError: for a duplicate, or an unknown word, class, relation or variable; the message names file and row.
    """
    rows = [row for name in PATTERN_TABLES
            for row in read_table(name, required=("id", "weight", "english", "chinese"), folder=folder)]
    unique(rows, "id")
    unique(rows, "english")
    return [parse_pattern(row, lexicon, relations) for row in rows]


def parse_pattern(row: Row, lexicon: Lexicon, relations: dict[str, Relation]) -> Pattern:
    """Parse and check the pattern of one row.

    Raises:
        TableError: for an invalid placeholder, weight, word, class, relation or variable; the message names the row.
    """
    pairs: list[tuple[str, str]] = []
    english = tuple(_element(text, row, lexicon, pairs) for text in row.words("english"))
    facts = tuple(Atom(*match.groups()) for match in ATOM.finditer(row.cells.get("facts", "")))
    if not row["weight"].isdigit() or int(row["weight"]) < 1:
        raise clash(f"the weight {row['weight']!r} is not a positive integer", row)
    pattern = Pattern(row["id"], int(row["weight"]), english, row.words("chinese"), facts, tuple(pairs), row)
    _check(pattern, relations)
    return pattern


def _element(text: str, row: Row, lexicon: Lexicon, pairs: list[tuple[str, str]]) -> Element:
    if not text.startswith("{"):
        return _literal(text, row, lexicon)
    match = SLOT.fullmatch(text)
    if match is None:
        raise clash(f"'{text}' is not a placeholder; placeholders look like {{n:furniture.pl}} or {{v:act@n}}", row)
    part = match.groupdict()
    if part["agrees"] and not part["domain"]:
        if part["name"] not in NUMBER_WORDS | GENDER_WORDS:
            raise clash(f"'{part['name']}' is not a word that agrees; these are:  "
                        f"{', '.join(NUMBER_WORDS | GENDER_WORDS)}", row)
        return Agreeing(part["name"], part["agrees"])
    if part["suits"]:
        pairs.append((part["name"], part["suits"]))
    domain = tuple(part["domain"].split(",")) if part["domain"] else ()
    for name in domain:
        if name not in NAMED and name not in lexicon.classes and name not in ("year", "number"):
            raise clash(f"unknown class '{name}' in '{text}'", row)
    return Slot(part["name"], domain, part["form"] or "", part["agrees"], bool(part["article"]))


def _literal(text: str, row: Row, lexicon: Lexicon) -> Literal:
    surface, _, wanted = text.partition("/")
    readings = [(word, form) for word, form in lexicon.readings.get(surface, [])
                if not wanted or wanted in (word.tag, word.sense)]
    if not readings:
        raise clash(f"the lexicon has no word '{text}'", row)
    if len(readings) > 1:
        choices = " or ".join(f"{surface}/{word.sense or word.tag}" for word, _ in readings)
        raise clash(f"'{text}' has several readings: write {choices}", row, *(word.row for word, _ in readings))
    return Literal(surface, *readings[0])


def _check(pattern: Pattern, relations: dict[str, Relation]) -> None:
    row, slots = pattern.row, pattern.slots
    for name, slot in slots.items():
        if not slot.domain:
            raise clash(f"{{{name}}} is repeated before it is introduced", row)
    mentioned = [name for pair in pattern.pairs for name in pair]
    mentioned += [name for atom in pattern.facts for name in atom.variables]
    mentioned += [element.agrees for element in pattern.english
                  if not isinstance(element, Literal) and element.agrees]
    for name in mentioned:
        if name not in slots:
            raise clash(f"the variable '{name}' has no placeholder in the English template", row)
    for atom in pattern.facts:
        relation = relations.get(atom.relation)
        if relation is None:
            raise clash(f"unknown relation '{atom.relation}'; the relations are {', '.join(relations)}", row)
        if not set(slots[atom.subject].domain) <= set(relation.subjects) \
                or not set(slots[atom.object].domain) <= set(relation.objects):
            raise clash(f"{atom.relation} leads from {'/'.join(relation.subjects)} to "
                        f"{'/'.join(relation.objects)}, not from {'/'.join(slots[atom.subject].domain)} to "
                        f"{'/'.join(slots[atom.object].domain)}", relation.row, row)
    for text in pattern.chinese:
        if text.startswith("{"):
            name, _, form = text[1:-1].partition(".")
            if name not in slots or form not in CHINESE_FORMS:
                raise clash(f"'{text}' in the Chinese template: no such variable or form", row)
