"""A document is edited, and the answer follows, or does not.

By construction, since no weight has seen the exam's worlds, what is answered there has been read: a document that
says something else is another answer. What is measured is how often, and why not.

- *everywhere*: each block that tells the fact tells another one; the retriever and the reader are what may fail.
- *in one of several*: where more than one block tells the fact, one is edited, and the documents disagree.
- *by heart*: the same *everywhere*, of a model that has learned this world by heart (`by_heart`), and of facts that it
  was trained on. Written before: weights outvote documents if the old answer stays in more than a quarter of those that
  it had right; they do not if in fewer than one in twenty.
"""

from collections import Counter
from random import Random
from typing import Any

from plmlab.chapters.ch16.arms import FULL, SEEDS, kept, questions
from plmlab.chapters.ch16.corpora import TEST_WORLDS, Statement, corpus
from plmlab.chapters.ch16.editing import KINDS, Edit, edit
from plmlab.chapters.ch16.training import among
from plmlab.draws import choice
from plmlab.models.realm import REALM
from plmlab.recipes import Parts, seed_statistics


def edits(world: int, statements: tuple[Statement, ...], everywhere: bool) -> list[tuple[Statement, Edit]]:
    """The statements of a world whose fact can be told otherwise, each with the edit."""
    told, found = corpus(world), []
    for number, statement in enumerate(statements):
        rng = Random(f"{world}:{number}")
        tellers = sorted(statement.tell)
        if not everywhere and len(tellers) < 2:
            continue
        made = edit(told, statement, rng, None if everywhere else [choice(rng, tellers)])
        if made is not None:
            found.append((statement, made))
    return found


def followed(model: REALM, world: int, statements: tuple[Statement, ...], everywhere: bool) -> Counter[str]:
    """How many of the answers that were right became what, of `KINDS`; for how many an edited block is ``found``;
    ``asked``, how many could be edited; ``right``, how many of these were right before."""
    told, lookup = Counter[str](), among(model, world)
    for statement, made in edits(world, statements, everywhere):
        told["asked"] += 1
        if lookup.read([statement.query()])[0].answers[0] != statement.answer:
            continue
        told["right"] += 1
        reading = made.applied(lookup).read([statement.query()])[0]
        told["found"] += not set(made.blocks).isdisjoint(reading.numbers)
        told[_kind(reading.answers[0], statement, made)] += 1
    return told


def _kind(answer: tuple[int, ...], statement: Statement, made: Edit) -> str:
    if answer == made.answer:
        return "follows"
    return "old answer" if answer == statement.answer else "another answer"


def shares(counted: Counter[str]) -> dict[str, float]:
    """What became of the answers that were right, and whether an edited block was ``found``, as shares of these; and
    how many were ``asked`` and ``right``."""
    return {**{kind: counted[kind] / counted["right"] for kind in (*KINDS, "found")}, "asked": counted["asked"],
            "right": counted["right"]}


def of_all_worlds(folder: str, lr: float, seed: int, everywhere: bool) -> dict[str, float]:
    """What became of the answers to the exam's statements."""
    model, told = kept(folder, FULL, lr, seed), Counter[str]()
    for world in TEST_WORLDS:
        told += followed(model, world, questions(world), everywhere)
    return shares(told)


def measure(parts: Parts, lr: float) -> dict[str, Any]:
    """*everywhere* and *in one of several* → the spread of `shares`."""
    folder = str(parts.folder)
    runs = parts(of_all_worlds, [(folder, lr, seed, everywhere) for seed in SEEDS for everywhere in (True, False)])
    return {name: seed_statistics({seed: runs[folder, lr, seed, everywhere] for seed in SEEDS})
            for name, everywhere in (("everywhere", True), ("in one of several", False))}
