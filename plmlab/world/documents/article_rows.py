"""The table rows from which articles are generated: each row gives one sentence and the facts that it states about the
article's entity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from plmlab.world.documents.templates import Blank, Template, parse_template
from plmlab.world.facts.relations import NAMED, Relation, Triple
from plmlab.world.grammar.patterns import ATOM, Agreeing, Atom
from plmlab.world.lexicon import Lexicon
from plmlab.world.tables import TABLES, Row, TableError, clash, read_table, unique

TABLE = "article_sentences.tsv"
WHEN = ("first", "also", "last", "else", "gist")


@dataclass(frozen=True)
class ArticleRow:
    """A possible sentence of an article, one row of article_sentences.tsv. In its template, the variable e is the
    article's entity."""

    kind: str
    topic: str
    stage: int
    weight: int
    when: tuple[str, ...]
    template: Template
    atoms: dict[str, list[Atom]]      # variable → the facts that tie it to e

    def may_follow(self, count: int) -> bool:
        """Whether the row can be used after ``count`` sentences on its topic."""
        return "also" not in self.when if not count else "first" not in self.when

    @property
    def states(self) -> tuple[str, ...]:
        """The relations that the row states with the article's entity as subject."""
        return tuple(atom.relation for atoms in self.atoms.values() for atom in atoms if atom.subject == "e")

    def facts(self, bound: Mapping[str, Sequence[str]], relations: Mapping[str, Relation]) -> tuple[Triple, ...]:
        """The facts that the row states if its variables, e among them, denote the entities with these keys; a mirrored
        relation in both directions."""
        found = []
        for name, atoms in self.atoms.items():
            for other in bound[name]:
                for atom in atoms:
                    subject, target = (bound["e"][0], other) if atom.subject == "e" else (other, bound["e"][0])
                    found.append(Triple(subject, atom.relation, target))
                    if relations[atom.relation].mirrored:
                        found.append(Triple(target, atom.relation, subject))
        return tuple(found)

    def kinds(self, variable: str, relations: Mapping[str, Relation]) -> tuple[str, ...]:
        """The kinds of entities that a variable can denote."""
        if variable == "e":
            return (self.kind,)
        atom = self.atoms[variable][0]
        relation = relations[atom.relation]
        return self.template.blanks[variable].domain or (relation.objects if atom.subject == "e" else relation.subjects)

    @property
    def last(self) -> bool:
        """Whether the row is used only if it completes its topic."""
        return "last" in self.when

    @property
    def otherwise(self) -> bool:
        """Whether the row is used only if no other row is applicable."""
        return "else" in self.when

    @property
    def gist(self) -> bool:
        """Whether the row's sentence may be part of the article's gist, together with the defining sentence."""
        return "gist" in self.when

    @cached_property
    def opens_with_his(self) -> bool:
        """Whether the first reference to a person is a possessive, which cannot be replaced by the name."""
        first = next((element for element in self.template.english
                      if (isinstance(element, Agreeing) and element.agrees == "e")
                      or (isinstance(element, Blank) and element.name == "e")), None)
        return self.kind == "person" and isinstance(first, Agreeing) and first.word == "his"


def read_article_rows(lexicon: Lexicon, relations: dict[str, Relation],
                      folder: Path = TABLES) -> dict[str, dict[str, list[ArticleRow]]]:
    """Read article_sentences.tsv: kind of entity → topic → rows.

    Raises:
        TableError: for a duplicate, an unknown word, kind or relation, a fact that does not involve the article's
            entity, rows of one topic at two stages, or a kind without a defining row; the message names file and rows.
    """
    table = read_table(TABLE, required=("id", "stage", "weight", "english", "chinese"), folder=folder)
    unique(table, "id")
    found: dict[str, dict[str, list[ArticleRow]]] = {}
    for row in table:
        parsed = _parsed(row, lexicon, relations)
        group = found.setdefault(parsed.kind, {}).setdefault(parsed.topic, [])
        if group and group[0].stage != parsed.stage:
            raise clash(f"the topic '{parsed.topic}' has two stages", group[0].template.row, row)
        for other in group:
            if other.template.row["english"] == row["english"]:
                raise clash(f"'{row['english']}' occurs twice in '{parsed.topic}'", other.template.row, row)
        group.append(parsed)
    _check_gaps(found, relations)
    return found


def _check_gaps(found: dict[str, dict[str, list[ArticleRow]]], relations: dict[str, Relation]) -> None:
    """Check that every kind of entity can be defined without a fact, and that every fact can be stated by itself."""
    for kind in NAMED:
        if all(row.atoms for row in found.get(kind, {}).get("define", ())):
            raise TableError(f"{TABLE} needs a row {kind}.define without facts, used where nothing else about an "
                             "entity may be stated")
    for relation in relations.values():
        for kind in relation.subjects if not relation.derived else ():
            alone = [row for topic, rows in found[kind].items() if topic != "define" for row in rows
                     if row.states == (relation.name,) and "also" not in row.when]
            if not alone:
                raise clash(f"{TABLE} has no row that states {relation.name} of a {kind} alone", relation.row)


def _parsed(row: Row, lexicon: Lexicon, relations: dict[str, Relation]) -> ArticleRow:
    kind, _, rest = row["id"].partition(".")
    topic = rest.partition(".")[0]
    if kind not in NAMED or not topic:
        raise clash(f"the id '{row['id']}' does not have the form kind.topic.number; the kinds are "
                    f"{', '.join(NAMED)}", row)
    for column in ("stage", "weight"):
        if not row[column].isdigit() or int(row[column]) < 1:
            raise clash(f"the {column} {row[column]!r} is not a positive integer", row)
    for name in row.items("when"):
        if name not in WHEN:
            raise clash(f"'{name}' in the column 'when' is unknown; the known values are  {', '.join(WHEN)}", row)
    template = parse_template(row["id"], row.words("english"), row.words("chinese"), row, lexicon, known=("e",))
    return ArticleRow(kind, topic, int(row["stage"]), int(row["weight"]), row.items("when"), template,
                      _atoms(row, kind, template, relations))


def _atoms(row: Row, kind: str, template: Template, relations: dict[str, Relation]) -> dict[str, list[Atom]]:
    atoms: dict[str, list[Atom]] = {}
    for match in ATOM.finditer(row["facts"]):
        atom = Atom(*match.groups())
        relation = relations.get(atom.relation)
        if relation is None or relation.derived:
            raise clash(f"'{atom.relation}' is not a base relation", row)
        if "e" not in atom.variables:
            raise clash(f"{match[0]} does not involve e, the article's entity", row)
        if kind not in (relation.subjects if atom.subject == "e" else relation.objects):
            raise clash(f"{match[0]}: {relation.name} leads from {'/'.join(relation.subjects)} to "
                        f"{'/'.join(relation.objects)}, but e is a {kind}", relation.row, row)
        atoms.setdefault(atom.other("e"), []).append(atom)
    loose = sorted(set(atoms) ^ (template.variables - {"e"}))
    if loose:
        raise clash(f"the variables {', '.join(loose)} occur in the sentence or in the facts, but not in both", row)
    return atoms
