"""Edit documents: replace a name, year or number where a fact is stated."""

from collections.abc import Collection
from random import Random
from typing import NamedTuple

from plmlab.chapters.ch16.corpora import Corpus, Statement
from plmlab.models.retrieve_and_read import RetrieveAndRead
from plmlab.retrieval.blocks import Block
from plmlab.world.datasets.tokenizer import ids

KINDS = ("follows", "old answer", "another answer")
"""Possible outcomes for an answer that was correct before the edit: the new answer is given, the old one stays, or a
third one is given. Whether an edited block is still retrieved (``found``) is a separate count: the old answer can also
stay because no edited block is read."""


class Edit(NamedTuple):
    """Edited blocks by index, and the answer that they support."""

    blocks: dict[int, Block]
    answer: tuple[int, ...]

    def applied(self, lookup: RetrieveAndRead) -> RetrieveAndRead:
        """A copy of the retrieve-and-read model in which these blocks replace the original ones."""
        corpus = lookup.corpus.copied()
        for number, block in self.blocks.items():
            corpus.replace(number, block)
        return lookup.with_corpus(corpus)


def edit(corpus: Corpus, statement: Statement, rng: Random, where: Collection[int] | None = None) -> Edit | None:
    """Replace a statement's answer by `FactDocuments.edited`."""
    cloze = statement.cloze
    made = corpus.edited(cloze.fact, corpus.world.facts[cloze.entity], cloze.answer, rng, where)
    return None if made is None else Edit(made.blocks, tuple(ids(made.words)))


def outcome(answer: tuple[int, ...], statement: Statement, edited: Edit) -> str:
    """Which of the `KINDS` an answer given after an edit is."""
    if answer == edited.answer:
        return "follows"
    return "old answer" if answer == statement.answer else "another answer"
