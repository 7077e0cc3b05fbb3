"""Answers found by scanning facts and the table's rows, with nothing of plmlab's own walks; all cases of a split."""

import re
from collections import defaultdict
from functools import cache
from itertools import product

from plmlab.world import World
from plmlab.world.facts.relations import Triple
from plmlab.world.grammar.splits import SPLITS
from plmlab.world.questions.bank import KINDS, Question
from plmlab.world.questions.shapes import Shape
from plmlab.world.tables import TABLES

ASKED = [(kind, split) for kind, split in product(KINDS, SPLITS) if split != "combinations" or kind == "bridge"]
Binding = dict[str, str]


def joined(facts: list[Triple], atoms: list[tuple[str, str, str]], bound: Binding) -> list[Binding]:
    """Every binding of the variables that makes all atoms true, by scanning the facts: nothing of plmlab's walks."""
    found = [bound]
    for relation, subject, target in atoms:
        longer = []
        for binding in found:
            for fact in facts:
                if fact.relation == relation and binding.get(subject, fact.subject) == fact.subject \
                        and binding.get(target, fact.object) == fact.object:
                    longer.append({**binding, subject: fact.subject, target: fact.object})
        found = longer
    return found


def row_of(shape: str) -> tuple[list[tuple[str, str, str]], str, str | None]:
    """The atoms of a row of the table, the variable asked for and the comparison, read from the file."""
    lines = (TABLES / "question_shapes.tsv").read_text(encoding="utf-8").splitlines()
    cells = next(line.split("\t") for line in lines if line.split("\t")[0] == shape)
    asked, *sign = cells[4].split()
    return [match.groups() for match in re.finditer(r"(\w+)\((\w+),(\w+)\)", cells[3])], asked, (sign or [None])[0]


def answered(facts: list[Triple], made: World, question: Question) -> str | None:
    """The answer (an entity's key, yes or no) that follows from the facts alone; None unless exactly one does."""
    atoms, asked, sign = row_of(question.shape)
    ends = []
    for start in question.graph.start:
        found = {binding[asked] for binding in joined(facts, atoms, {"a": start.key})}
        if len(found) != 1:
            return None
        ends.append(found.pop())
    if sign is None:
        return ends[0]
    left, right = ends
    if sign == "=":
        return "yes" if left == right else "no"
    sizes = [int(made.facts[key].traits["value"]) for key in ends]
    holds = sizes[0] < sizes[1] if sign == "<" else sizes[0] > sizes[1]
    if question.form == "yes-no":
        return "yes" if holds else "no"
    return question.graph.start[0 if holds else 1].key


def both_ways(made: World, facts: list[Triple]) -> list[Triple]:
    turned = [Triple(fact.object, fact.relation, fact.subject) for fact in facts
              if made.facts.relation(fact.relation).mirrored]
    return list(dict.fromkeys(facts + turned))


@cache
def cases(made: World, split: str) -> list[tuple[Shape, frozenset[Triple], tuple]]:
    """Exhaustively, all that is asked in a split; mirrored facts in one direction."""
    one_way = cache(lambda fact: min(both_ways(made, [fact])))
    found = []
    for shape in made.question_bank.shapes:
        for case in made.question_bank.cases.of(shape, split):
            facts = frozenset(one_way(fact) for chain in case for fact in chain.facts)
            found.append((shape, facts, case))
    return found


def joined_all(facts: list[Triple], atoms: list[tuple[str, str, str]]) -> list[Binding]:
    """As :func:`joined` from every start at once, by an index of the facts."""
    index: dict[tuple, list[Triple]] = defaultdict(list)
    for fact in dict.fromkeys(facts):
        for ends in ((None, None), (fact.subject, None), (None, fact.object)):
            index[fact.relation, *ends].append(fact)
    found: list[Binding] = [{}]
    for relation, subject, target in atoms:
        found = [{**binding, subject: fact.subject, target: fact.object} for binding in found
                 for fact in index[relation, binding.get(subject), binding.get(target)]]
    return found
