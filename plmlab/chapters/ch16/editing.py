"""Edit documents: replace a name, year or number where a fact is stated."""

from collections.abc import Collection
from random import Random
from typing import NamedTuple

from plmlab.chapters.ch16.corpora import Corpus, Statement
from plmlab.draws import choice
from plmlab.models.retrieve_and_read import RetrieveAndRead
from plmlab.retrieval.blocks import Block
from plmlab.world.datasets.tokenizer import ids
from plmlab.world.questions.chains import find_words

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
    """Replace a statement's answer by another one of the same kind and number of words, in each block that states the
    fact or in the blocks ``where``. None if the text states the fact without the answer's own words ("she was born
    there"), or if there is no other answer."""
    entity = corpus.world.facts[statement.cloze.entity]
    others = [other for other in corpus.world.facts.kind(entity.kind)
              if other.key != entity.key and len(other.words) == len(entity.words)]
    if not others:
        return None
    other, blocks = choice(rng, others), {}
    for number in corpus.tellers[corpus.plain(statement.cloze.fact)] if where is None else where:
        edited = _written(corpus, number, statement, other.words)
        if edited is None:
            return None
        blocks[number] = edited
    return Edit(blocks, tuple(ids(other.words)))


def outcome(answer: tuple[int, ...], statement: Statement, edited: Edit) -> str:
    """Which of the `KINDS` an answer given after an edit is."""
    if answer == edited.answer:
        return "follows"
    return "old answer" if answer == statement.answer else "another answer"


def _written(corpus: Corpus, number: int, statement: Statement, words: tuple[str, ...]) -> Block | None:
    block, fact = corpus.blocks[number], corpus.plain(statement.cloze.fact)
    sentences = list(block.sentences)
    for place, sentence in enumerate(corpus.sentences(number)):
        if fact not in map(corpus.plain, sentence.facts):
            continue
        at = find_words(sentence.words, statement.cloze.answer)
        if at is None:
            return None
        sentences[place] = " ".join((*sentence.words[:at], *words, *sentence.words[at + len(words):]))
    return Block(block.page, block.first, tuple(sentences))
