"""Baseline without a network: the first name of the correct kind in a given document that the statement does not
contain.

The rule uses knowledge that only the world has: the kind of the answer, and all names of that kind.
"""

from plmlab.chapters.ch16.corpora import Corpus, Statement
from plmlab.objectives.retrieval_batches import Ids
from plmlab.world.datasets.tokenizer import ids
from plmlab.world.questions.chains import find_words


def by_rule(told: Corpus, statement: Statement, number: int) -> Ids | None:
    """The ids of the name in document ``number``, with as many words as are masked; None if there is no such name."""
    hidden = told.world.facts[statement.cloze.entity]
    size = len(statement.cloze.answer)
    names = {one.words for one in told.world.facts.kind(hidden.kind) if len(one.words) == size}
    words = tuple(told.blocks[number].text.split())
    for first in range(len(words) - size + 1):
        name = words[first:first + size]
        if name in names and find_words(statement.cloze.masked, name) is None:
            return tuple(ids(name))
    return None
