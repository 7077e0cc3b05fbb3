"""Entities, relations and triples: the knowledge of the Small World."""

from dataclasses import dataclass, field
from pathlib import Path

from plmlab.world.tables import TABLES, Row, clash, read_table, unique

NAMED = ("person", "town", "country", "river", "film", "book", "cafe", "company")
VALUES = ("year", "number", "craft", "instrument", "food", "pet", "product")


@dataclass(frozen=True)
class Entity:
    """An entity of the world: either named (a person, a town, …) or a value (a year, a craft, a food, …)."""

    key: str                           # "person:Anna Bell", "year:1952", "craft:baker"
    kind: str                          # one of NAMED or VALUES
    words: tuple[str, ...]             # its name: one or several tokens
    chinese: tuple[str, ...]           # its name, segmented
    traits: dict[str, str] = field(default_factory=dict, compare=False)   # a person's "gender"; a value's "word"

    @property
    def named(self) -> bool:
        """Whether the entity has a name of its own and therefore counts as a mention in a sentence."""
        return self.kind in NAMED

    @property
    def name(self) -> str:
        """The words of the name, joined by spaces."""
        return " ".join(self.words)

    @property
    def number(self) -> int:
        """The numeric value of a year or number, for comparisons. Raises KeyError for other entities."""
        return int(self.traits["value"])

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"<{self.key}>"


@dataclass(frozen=True, order=True)
class Triple:
    """A fact: the keys of its subject and object, and the name of its relation."""

    subject: str
    relation: str
    object: str


@dataclass(frozen=True)
class Relation:
    """A relation, with its domain (``subjects``), range (``objects``) and names."""

    name: str
    subjects: tuple[str, ...]          # kinds
    objects: tuple[str, ...]           # kinds
    functional: bool                   # at most one object per subject
    mirrored: bool                     # (a, r, b) means (b, r, a)
    english: str
    chinese: str
    compared: str | None               # a derived relation compares this functional relation of both …
    sign: str | None                   # … by <, > or =
    row: Row

    @property
    def derived(self) -> bool:
        """Whether the relation is computed by comparing another relation of both entities (older_than: birth_year)
        instead of being sampled."""
        return self.compared is not None


def read_relations(folder: Path = TABLES) -> dict[str, Relation]:
    """Read relations.tsv: name → relation.

    Raises:
        TableError: for a duplicate, an unknown kind, or a derived relation whose base is unknown, derived or not
            functional.
    """
    rows = read_table("relations.tsv", folder=folder,
                      required=("name", "subject", "object", "objects", "mirror", "english", "chinese"))
    unique(rows, "name")
    relations = {row["name"]: _relation(row) for row in rows}
    for relation in relations.values():
        if relation.compared is None:
            continue
        base = relations.get(relation.compared)
        if base is None or base.derived or not base.functional:
            raise clash(f"'{relation.name}' compares '{relation.compared}', which is not a functional relation",
                        relation.row)
    return relations


def _relation(row: Row) -> Relation:
    for kind in row.items("subject") + row.items("object"):
        if kind not in NAMED + VALUES:
            raise clash(f"unknown kind '{kind}'; the kinds are {', '.join(NAMED + VALUES)}", row)
    compared, sign = row.words("rule") if row["rule"] else (None, None)
    if sign not in (None, "<", ">", "="):
        raise clash(f"'{row['rule']}' is not a rule; write RELATION followed by <, > or =", row)
    return Relation(row["name"], row.items("subject"), row.items("object"), row["objects"] == "one",
                    row["mirror"] == "yes", row["english"], row["chinese"], compared, sign, row)
