"""REALM after four times as many updates: the bundled `realm-world`, compared with BM25.

Each of the two retrievers, BM25 and `realm-world`'s, gives its documents to `realm-world`'s reader, and to a rule
without a network (`rule_baseline`), so that four documents are compared with four, and one with one. The model is one
run with one seed. The comparison after 400 updates, with three seeds, is in `baselines`.
"""

from statistics import fmean
from typing import Any

from plmlab.chapters.ch16.arms import FULL, outcomes, questions
from plmlab.chapters.ch16.baselines import Given, by_bm25, gold_document
from plmlab.chapters.ch16.corpora import Statement, corpus
from plmlab.chapters.ch16.training import with_corpus
from plmlab.checkpoints import load
from plmlab.models.realm import REALM
from plmlab.models.retrieve_and_read import TOP_K
from plmlab.recipes import Parts
from plmlab.retrieval import Retrieved
from plmlab.world.datasets.fact_documents import TEST_WORLDS
from studies.ch16.baselines import best_temperature, shown
from studies.ch16.rule_baseline import rule_baseline

NAME = "realm-world"


def retrieved_by(model: REALM, top_k: int) -> Given:
    """A model's own top ``top_k`` documents."""
    lookups = {world: with_corpus(model, world) for world in TEST_WORLDS}

    def given(world: int, statement: Statement) -> Retrieved:
        return lookups[world].retrieve([statement.query()], top_k)
    return given


def by_the_rule(given: Given) -> float:
    """Accuracy of the rule with the documents of a retriever, over all test worlds."""
    return fmean(rule_baseline(corpus(world), one, given(world, one).lists()[0]) == one.answer
                 for world in TEST_WORLDS for one in questions(world))


def converged() -> dict[str, Any]:
    """The `outcomes` of `realm-world` (``own``); those of its reader with BM25's four documents (and their
    ``temperature``), with BM25's best one, and with the gold document; and the accuracy of the ``rule`` with the
    documents of each."""
    model, _ = load(NAME, expect="realm")
    temperature = best_temperature(model)
    givens = {"BM25's four": by_bm25(TOP_K, temperature), "BM25's best": by_bm25(1), "gold document": gold_document}
    return {"temperature": temperature, "own": outcomes(FULL, model),
            **{name: shown(model, given, TEST_WORLDS) for name, given in givens.items()},
            "rule": {name: by_the_rule(given) for name, given in (
                *givens.items(), ("realm-world's four", retrieved_by(model, TOP_K)),
                ("realm-world's best", retrieved_by(model, 1)))}}


def measure(parts: Parts) -> dict[str, Any]:
    """The results of `converged`."""
    return parts(converged, [()])[()]
