"""Baseline without a network: the first name of the correct kind in the given documents that the statement does not
contain.

The rule uses knowledge that only the world has: the kind of the answer, and all names of that kind.
"""

from collections.abc import Iterable

from plmlab.chapters.ch16.corpora import Corpus, Statement
from plmlab.objectives.retrieval_batches import Ids
from plmlab.world.datasets.tokenizer import ids
from plmlab.world.questions.chains import find_words


def rule_baseline(corpus: Corpus, statement: Statement, ranked: Iterable[int]) -> Ids | None:
    """The ids of the name in the first of the ``ranked`` documents that has one, with the same number of words as the
    masked span; None if no document has such a name."""
    hidden = corpus.world.facts[statement.cloze.entity]
    size = len(statement.cloze.answer)
    names = {one.words for one in corpus.world.facts.kind(hidden.kind) if len(one.words) == size}
    for number in ranked:
        words = tuple(corpus.blocks[number].text.split())
        for first in range(len(words) - size + 1):
            name = words[first:first + size]
            if name in names and find_words(statement.cloze.masked, name) is None:
                return tuple(ids(name))
    return None
