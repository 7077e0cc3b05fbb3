"""Does the answer follow when a document is edited?

No weight was trained on the test worlds, so by construction correct answers come from the documents, and a document
that states a different fact leads to a different answer. The study measures how often this happens, and the reasons if
it does not.

- *everywhere*: each block that states the fact is edited, so that only the retriever and the reader can fail.
- *in one of several*: if more than one block states the fact, one of them is edited, and the documents disagree.
- *by heart*: the same as *everywhere*, with a model that has memorized this world (`by_heart`), on facts that it was
  trained on. The rule was fixed before the runs: the weights override the documents if the old answer stays for more
  than 25 % of the statements that were answered correctly; they do not if it stays for less than 5 %.
"""

from collections import Counter
from random import Random
from typing import Any

from plmlab.chapters.ch16.arms import FULL, SEEDS, questions, stored_model
from plmlab.chapters.ch16.corpora import TEST_WORLDS, Statement, corpus
from plmlab.chapters.ch16.editing import KINDS, Edit, edit
from plmlab.chapters.ch16.training import among
from plmlab.draws import choice
from plmlab.models.realm import REALM
from plmlab.recipes import Parts, seed_statistics


def edits(world: int, statements: tuple[Statement, ...], everywhere: bool) -> list[tuple[Statement, Edit]]:
    """The statements of a world whose facts can be edited, each with its edit."""
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
    """Counts of what became of the correct answers, by `KINDS`; of those for which an edited block is retrieved
    (``found``); of the statements that could be edited (``asked``); and of those that were answered correctly before
    the edit (``right``)."""
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
    """The counts of `KINDS` and ``found`` as fractions of the originally correct answers; and the counts ``asked`` and
    ``right``."""
    return {**{kind: counted[kind] / counted["right"] for kind in (*KINDS, "found")}, "asked": counted["asked"],
            "right": counted["right"]}


def of_all_worlds(folder: str, lr: float, seed: int, everywhere: bool) -> dict[str, float]:
    """What became of the answers to the test statements, over all test worlds."""
    model, told = stored_model(folder, FULL, lr, seed), Counter[str]()
    for world in TEST_WORLDS:
        told += followed(model, world, questions(world), everywhere)
    return shares(told)


def measure(parts: Parts, lr: float) -> dict[str, Any]:
    """*everywhere* and *in one of several* → the spread of `shares`."""
    folder = str(parts.folder)
    runs = parts(of_all_worlds, [(folder, lr, seed, everywhere) for seed in SEEDS for everywhere in (True, False)])
    return {name: seed_statistics({seed: runs[folder, lr, seed, everywhere] for seed in SEEDS})
            for name, everywhere in (("everywhere", True), ("in one of several", False))}
