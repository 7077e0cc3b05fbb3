"""Retrieval if the network can memorize the documents: REALM, from the same checkpoint, trained on the statements of a
single world instead of all worlds.

The model is evaluated on statements of facts that it was trained on (*trained*), and of facts that occur only in its
documents (*held out*). The rule was fixed before the runs: the model has memorized the world if its closed-book
accuracy on the former is above 90 %, and *looking up fails* if its accuracy on the latter is below 50 %.
"""

from random import Random
from statistics import fmean
from typing import Any

import torch

from plmlab.chapters.ch16.arms import ARMS, BATCH, EVERY, FULL, SEEDS, fit_model, initialized, means, outcome_rows
from plmlab.chapters.ch16.corpora import Statement, corpus
from plmlab.chapters.ch16.training import RetrievalBatches, TrainingSet, with_corpus
from plmlab.draws import shuffled
from plmlab.models.realm import REALM
from plmlab.recipes import Parts, seed_statistics
from plmlab.retrieval import NULL, Retrieved
from plmlab.world.datasets.fact_documents import TEST_WORLDS
from studies.ch16.edited import edit_outcomes, proportions

WORLD = TEST_WORLDS[0]
TEST_SIZE = 150
HELD_OUT = "test"


def is_trained(statement: Statement) -> bool:
    """Return whether the statement's fact is among the training facts."""
    return statement.cloze.split != HELD_OUT


def statements(trained: bool) -> tuple[Statement, ...]:
    """The world's statements of training facts, or its other statements, in random order."""
    some = [one for one in corpus(WORLD).statements if is_trained(one) == trained]
    return tuple(shuffled(Random(0), some))


def memorized(lr: float, seed: int) -> dict[str, Any]:
    """Train on the single world. Returns, for *trained* and *held out* statements, the variant's outcomes
    (`arms.outcome`), its closed-book accuracy (``nothing``), and what became of edited answers (``edited``)."""
    torch.manual_seed(seed)
    model = initialized(FULL)
    facts = TrainingSet.of(WORLD, is_trained)
    batches = RetrievalBatches(model, lambda turn: facts, ARMS[FULL], seed=seed, batch=BATCH, every=EVERY)
    fit_model(model, batches, lr, precision="float32", show=False)
    return {name: evaluated(model, statements(name == "trained")[:TEST_SIZE]) for name in ("trained", "held out")}


def evaluated(model: REALM, some: tuple[Statement, ...]) -> dict[str, Any]:
    """The results of a model on statements of the world."""
    lookup = with_corpus(model, WORLD)
    alone = [lookup.read_with(one.query(), Retrieved.of([[NULL]])).answers[0] == one.answer for one in some]
    return {**means(outcome_rows(lookup, some, True)), "nothing": fmean(alone),
            "edited": proportions(edit_outcomes(model, WORLD, some, everywhere=True))}


def measure(parts: Parts, lr: float) -> dict[str, Any]:
    """*trained* and *held out* → the spread of `evaluated`."""
    runs = parts(memorized, [(lr, seed) for seed in SEEDS])
    return seed_statistics({seed: runs[lr, seed] for seed in SEEDS})
