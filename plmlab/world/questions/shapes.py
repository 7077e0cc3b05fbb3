"""Question shapes (chains of relations) and their wordings, read from the question tables and validated."""

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from plmlab.world.facts.relations import NAMED, Relation
from plmlab.world.grammar.patterns import ATOM, GENDER_WORDS
from plmlab.world.tables import TABLES, Row, clash, read_table, unique

KINDS = {"one-hop": "one-hop", "bridge": "bridge", "either-or": "comparison", "yes-no": "comparison"}
ORDERED = ("year", "number")
START, OTHER = "a", "b"


@dataclass(frozen=True)
class Step:
    """One hop: along a relation, from its subject to its object, or ``backward``, from its object to its subject."""

    relation: str
    backward: bool
    variable: str           # the variable it leads to

    @property
    def name(self) -> str:
        """The relation's name, prefixed with "~" for a backward hop."""
        return f"~{self.relation}" if self.backward else self.relation


@dataclass(frozen=True)
class Wording:
    """One wording of a question, in both languages, as templates over the shape's variables."""

    english: tuple[str, ...]
    chinese: tuple[str, ...]


@dataclass(frozen=True)
class Shape:
    """A question shape, one row of question_shapes.tsv with its wordings: the chain of hops, and the variable to be
    found."""

    name: str
    form: str                           # one-hop, bridge, either-or, yes-no
    about: str                          # the kind of entity it starts at
    steps: tuple[Step, ...]
    sign: str | None                    # <, > or = for comparisons
    held: bool
    wordings: tuple[Wording, ...]
    row: Row

    @property
    def kind(self) -> str:
        """The kind of question: "one-hop", "bridge" or "comparison"."""
        return KINDS[self.form]

    @property
    def compositions(self) -> frozenset[tuple[str, str]]:
        """The pairs of consecutive relations in the chain, by the names of its steps."""
        names = [step.name for step in self.steps]
        return frozenset(pairwise(names))

    def __hash__(self) -> int:
        return hash(self.name)


def read_shapes(relations: dict[str, Relation], folder: Path = TABLES) -> list[Shape]:
    """Read all question shapes, in the table's order.

    Raises:
        TableError: for a duplicate, an unknown kind, relation or variable, a disconnected chain, a shape without a
            wording, or a held-out relation that training questions never compose; the message names file and rows.
    """
    rows = read_table("question_shapes.tsv", required=("shape", "kind", "about", "facts", "asks"), folder=folder)
    wording_rows = read_table("question_wordings.tsv", required=("shape", "english", "chinese"), folder=folder)
    unique(rows, "shape")
    unique(wording_rows, "english")
    wordings: dict[str, list[Row]] = defaultdict(list)
    for row in wording_rows:
        wordings[row["shape"]].append(row)
    shapes = [_shape(row, wordings.pop(row["shape"], []), relations) for row in rows]
    for name, orphans in wordings.items():
        raise clash(f"'{name}' is not a shape of question_shapes.tsv", *orphans)
    _check_held(shapes)
    return shapes


def held_compositions(shapes: list[Shape]) -> frozenset[tuple[str, str]]:
    """The pairs of relations that training questions never compose."""
    return frozenset(pair for shape in shapes if shape.held for pair in shape.compositions)


def _shape(row: Row, wording_rows: list[Row], relations: dict[str, Relation]) -> Shape:
    if row["kind"] not in KINDS:
        raise clash(f"unknown kind of question '{row['kind']}'; the kinds are {', '.join(KINDS)}", row)
    if row["about"] not in NAMED:
        raise clash(f"questions are about named things ({', '.join(NAMED)}), not '{row['about']}'", row)
    if row["held"] not in ("", "yes"):
        raise clash(f"'{row['held']}' in the column 'held'; it must be yes or empty", row)
    steps, kinds = _steps(row, relations)
    variable, *sign = row.words("asks")
    if variable != steps[-1].variable:
        raise clash(f"the question asks for '{variable}', but its facts lead to '{steps[-1].variable}'", row)
    _check_form(row, len(steps), sign, kinds)
    if not wording_rows:
        raise clash(f"'{row['shape']}' has no wording in question_wordings.tsv", row)
    compares = KINDS[row["kind"]] == "comparison"
    names = {START, OTHER} if compares else {START}
    people = {START} | {step.variable for step in steps}
    wordings = tuple(_wording(each, row, names, people) for each in wording_rows)
    return Shape(row["shape"], row["kind"], row["about"], steps, sign[0] if sign else None, row["held"] == "yes",
                 wordings, row)


def _steps(row: Row, relations: dict[str, Relation]) -> tuple[tuple[Step, ...], set[str]]:
    """The chain formed by the facts, starting from variable a, and the kinds of entity at its end."""
    here, kinds, known = START, {row["about"]}, {START, OTHER}
    steps: list[Step] = []
    for text in row.words("facts"):
        match = ATOM.fullmatch(text)
        if match is None:
            raise clash(f"'{text}' is not a fact; facts look like born_in(a,t)", row)
        name, subject, target = match.groups()
        relation = relations.get(name)
        if relation is None:
            raise clash(f"unknown relation '{name}'; the relations are {', '.join(relations)}", row)
        if relation.derived:
            raise clash(f"'{name}' is derived, and no article states it; ask for '{relation.compared}'", row)
        backward = target == here
        new = subject if backward else target
        if here not in (subject, target) or new in known:
            raise clash(f"'{text}' does not lead from '{here}' to a new variable", row)
        leaves, reaches = (relation.objects, relation.subjects) if backward else (relation.subjects, relation.objects)
        if not kinds <= set(leaves):
            raise clash(f"'{text}' starts from {'/'.join(leaves)}, not from {'/'.join(sorted(kinds))}",
                        relation.row, row)
        steps.append(Step(name, backward, new))
        here, kinds = new, set(reaches)
        known.add(new)
    return tuple(steps), kinds


def _check_form(row: Row, hops: int, sign: list[str], kinds: set[str]) -> None:
    form = row["kind"]
    if (form == "one-hop" and hops != 1) or (form == "bridge" and hops not in (2, 3)):
        raise clash(f"{hops} facts: a one-hop question needs 1, a bridge question 2 or 3", row)
    allowed = {"either-or": ("<", ">"), "yes-no": ("<", ">", "=")}.get(form)
    if allowed is None and sign:
        raise clash(f"'{row['asks']}' compares, but '{form}' does not; give the variable alone", row)
    if allowed and (len(sign) != 1 or sign[0] not in allowed):
        raise clash(f"'{row['asks']}' does not compare; give the variable and one of {' '.join(allowed)}", row)
    if sign and sign[0] in "<>" and not kinds <= set(ORDERED):
        raise clash(f"{'/'.join(sorted(kinds))} cannot be compared by {sign[0]}; years and numbers can", row)
    if row["held"] and (form, hops) != ("bridge", 2):
        raise clash("only a bridge question over two facts can be held out", row)


def _wording(wording_row: Row, row: Row, names: set[str], people: set[str]) -> Wording:
    for column, words in (("english", GENDER_WORDS), ("chinese", ("he", "spouse"))):
        found = set()
        for text in wording_row.words(column):
            if not text.startswith("{"):
                continue
            left, mark, right = text[1:-1].partition("@" if column == "english" else ".")
            word, variable = (left, right) if column == "english" else (right, left)
            if mark and (word not in words or variable not in people | names):
                raise clash(f"'{text}' agrees with no variable; the variables are {', '.join(sorted(people | names))}, "
                            f"the words {', '.join(words)}", wording_row, row)
            if not mark and left not in names:
                raise clash(f"'{text}' must not be named; a question names {' and '.join(sorted(names))}",
                            wording_row, row)
            found.add(text)
        for name in sorted(names):
            if f"{{{name}}}" not in found:
                raise clash(f"the {column} wording does not name {{{name}}}", wording_row, row)
    return Wording(wording_row.words("english"), wording_row.words("chinese"))


def _check_held(shapes: list[Shape]) -> None:
    """Check that each relation of a held-out composition is composed with other relations in training."""
    held = held_compositions(shapes)
    trained = {name for shape in shapes if not shape.compositions & held
               for pair in shape.compositions for name in pair}
    for shape in shapes:
        missing = [step.name for step in shape.steps if step.name not in trained] if shape.held else []
        if missing:
            raise clash(f"'{shape.name}' is held out, but no other bridge question uses {', '.join(missing)}",
                        shape.row)
