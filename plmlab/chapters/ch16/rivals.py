"""Which documents a rival of REALM's retriever shows to a reader: BM25's best, or one that tells the fact.

``the right document`` is one that tells the fact to whoever sees its title, too, which the reader does not.
"""

from collections.abc import Callable, Sequence
from random import Random

import torch

from plmlab.chapters.ch16.corpora import Statement
from plmlab.chapters.ch16.warm_start import ranking
from plmlab.draws import pick

Given = Callable[[int, Statement], tuple[Sequence[int], Sequence[float]]]
"""(world, statement) → numbers of documents, and p(z|x) of each."""


def by_bm25(most: int, temperature: float = 1.0) -> Given:
    """BM25's ``most`` best documents, p(z|x) by the softmax of its scores."""
    def given(world: int, statement: Statement) -> tuple[Sequence[int], Sequence[float]]:
        numbers, scores = zip(*ranking(world).best(statement, most), strict=True)
        return numbers, torch.softmax(torch.tensor(scores) / temperature, 0).tolist()
    return given


def right_one(world: int, statement: Statement) -> tuple[Sequence[int], Sequence[float]]:
    """One of the documents that tell the fact, drawn."""
    return [pick(Random(" ".join(statement.cloze.words)), sorted(statement.tell))], [1.0]
