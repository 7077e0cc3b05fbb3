"""Does the answer follow when a document is edited?

No weight was trained on the test worlds, so by construction correct answers come from the documents, and a document
that states a different fact leads to a different answer. The study measures how often this happens, and the reasons if
it does not.

- *everywhere*: each block that states the fact is edited, so that only the retriever and the reader can fail.
- *in one of several*: if more than one block states the fact, one of them is edited, and the documents disagree.
- *memorization*: the same as *everywhere*, with a model that has memorized this world (`memorization`), on facts that
  it was trained on. The rule was fixed before the runs: the weights override the documents if the old answer stays for
  more than 25 % of the statements that were answered correctly; they do not if it stays for less than 5 %. At that time
  *no edited block is retrieved* was an outcome of its own; after the runs it became a separate count. Both counts are
  recorded, because a document that is not read cannot be overridden.
"""

from collections import Counter
from random import Random
from typing import Any

from plmlab.chapters.ch16.arms import FULL, SEEDS, questions, stored_model
from plmlab.chapters.ch16.corpora import Statement, corpus
from plmlab.chapters.ch16.editing import KINDS, Edit, edit, outcome
from plmlab.chapters.ch16.training import with_corpus
from plmlab.draws import choice
from plmlab.models.realm import REALM
from plmlab.recipes import Parts, seed_statistics
from plmlab.world.datasets.fact_documents import TEST_WORLDS

RETRIEVED = "{}, an edited block retrieved"
"""Key of a kind's count if an edited block is among the retrieved ones."""


def edits(world: int, statements: tuple[Statement, ...], everywhere: bool) -> list[tuple[Statement, Edit]]:
    """The statements of a world whose facts can be edited, each with its edit."""
    documents, editable = corpus(world), []
    for number, statement in enumerate(statements):
        rng = Random(f"{world}:{number}")
        tellers = sorted(statement.tell)
        if not everywhere and len(tellers) < 2:
            continue
        edited = edit(documents, statement, rng, None if everywhere else [choice(rng, tellers)])
        if edited is not None:
            editable.append((statement, edited))
    return editable


def edit_outcomes(model: REALM, world: int, statements: tuple[Statement, ...], everywhere: bool) -> Counter[str]:
    """Counts of what became of the correct answers, by `KINDS`, and the same by `RETRIEVED` for those of them for which
    an edited block is retrieved; of the latter in total (``found``); of the statements that could be edited
    (``editable``); and of those that were answered correctly before the edit (``right``)."""
    counts, lookup = Counter[str](), with_corpus(model, world)
    for statement, edited in edits(world, statements, everywhere):
        counts["editable"] += 1
        if lookup.read([statement.query()])[0].answers[0] != statement.answer:
            continue
        reading = edited.applied(lookup).read([statement.query()])[0]
        kind = outcome(reading.answers[0], statement, edited)
        retrieved = not set(edited.blocks).isdisjoint(reading.numbers)
        counts.update({"right": 1, kind: 1, "found": int(retrieved), RETRIEVED.format(kind): int(retrieved)})
    return counts


def proportions(counts: Counter[str]) -> dict[str, Any]:
    """The counts of `KINDS` and ``found`` as fractions of the originally correct answers; the counts ``editable`` and
    ``right``; and the counts of `KINDS` for ``all`` correct answers and for those for which an edited block is
    ``retrieved``."""
    return {**{kind: counts[kind] / counts["right"] for kind in (*KINDS, "found")}, "editable": counts["editable"],
            "right": counts["right"], "all": {kind: counts[kind] for kind in KINDS},
            "retrieved": {kind: counts[RETRIEVED.format(kind)] for kind in KINDS}}


def of_all_worlds(folder: str, lr: float, seed: int, everywhere: bool) -> dict[str, Any]:
    """What became of the answers to the test statements, over all test worlds."""
    model, counts = stored_model(folder, FULL, lr, seed), Counter[str]()
    for world in TEST_WORLDS:
        counts += edit_outcomes(model, world, questions(world), everywhere)
    return proportions(counts)


def measure(parts: Parts, lr: float) -> dict[str, Any]:
    """*everywhere* and *in one of several* → the spread of `proportions`."""
    folder = str(parts.folder)
    runs = parts(of_all_worlds, [(folder, lr, seed, everywhere) for seed in SEEDS for everywhere in (True, False)])
    return {name: seed_statistics({seed: runs[folder, lr, seed, everywhere] for seed in SEEDS})
            for name, everywhere in (("everywhere", True), ("in one of several", False))}
