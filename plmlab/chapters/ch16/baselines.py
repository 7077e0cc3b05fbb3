"""Retrieval baselines for REALM: BM25's top documents, or a document that states the fact.

A ``gold document`` states the fact, but some blocks only do so with their title, which the reader does not see.
"""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from plmlab.chapters.ch16.corpora import Statement
from plmlab.chapters.ch16.warm_start import ranking
from plmlab.draws import choice
from plmlab.retrieval import Retrieved

Given = Callable[[int, Statement], Retrieved]
"""(world, statement) → its documents; the softmax of their scores, at temperature 1, is p(z|x)."""


def by_bm25(top_k: int, temperature: float = 1.0) -> Given:
    """BM25's top ``top_k`` documents, with scores divided by a ``temperature``."""
    def given(world: int, statement: Statement) -> Retrieved:
        retrieved = ranking(world).best(statement, top_k)
        return replace(retrieved, scores=retrieved.scores / temperature)
    return given


def gold_document(world: int, statement: Statement) -> Retrieved:
    """A random document among those that state the fact."""
    return Retrieved.of([[choice(Random(" ".join(statement.cloze.words)), sorted(statement.tell))]])
