"""Which documents a rival of REALM's retriever shows to a reader: BM25's best, or one that tells the fact.

``the right document`` is one that tells the fact to whoever sees its title, too, which the reader does not.
"""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from plmlab.chapters.ch16.corpora import Statement
from plmlab.chapters.ch16.warm_start import ranking
from plmlab.draws import choice
from plmlab.retrieval import Retrieved

Given = Callable[[int, Statement], Retrieved]
"""(world, statement) → its documents; their scores at temperature 1 give p(z|x)."""


def by_bm25(most: int, temperature: float = 1.0) -> Given:
    """BM25's ``most`` best documents, their scores divided by a temperature."""
    def given(world: int, statement: Statement) -> Retrieved:
        found = ranking(world).best(statement, most)
        return replace(found, scores=found.scores / temperature)
    return given


def right_one(world: int, statement: Statement) -> Retrieved:
    """One of the documents that tell the fact, drawn."""
    return Retrieved.of([[choice(Random(" ".join(statement.cloze.words)), sorted(statement.tell))]])
