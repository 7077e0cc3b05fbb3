"""Documents that are written anew: another name, year or number where a fact is told."""

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
"""What may become of an answer that was right: the new one is given, the old one stays, or a third one is given.
Whether an edited block is still ``found`` is counted beside it: whoever asks that first takes for *not found* what was
known without it."""


class Edit(NamedTuple):
    """Blocks by number as they are to read, and the answer that they then give."""

    blocks: dict[int, Block]
    answer: tuple[int, ...]

    def applied(self, lookup: RetrieveAndRead) -> RetrieveAndRead:
        """A copy of the lookup with these blocks in the place of its own."""
        corpus = lookup.corpus.copied()
        for number, block in self.blocks.items():
            corpus.replace(number, block)
        return lookup.among(corpus)


def edit(corpus: Corpus, statement: Statement, rng: Random, where: Collection[int] | None = None) -> Edit | None:
    """Another answer to a statement, of the same kind and as many words, put into each block that tells the fact, or
    into those of ``where``. None where the text does not say the answer in its own words ("she was born there"), or
    where there is no other answer."""
    entity = corpus.world.facts[statement.cloze.entity]
    others = [other for other in corpus.world.facts.kind(entity.kind)
              if other.key != entity.key and len(other.words) == len(entity.words)]
    if not others:
        return None
    other, blocks = choice(rng, others), {}
    for number in corpus.tellers[corpus.plain(statement.cloze.fact)] if where is None else where:
        written = _written(corpus, number, statement, other.words)
        if written is None:
            return None
        blocks[number] = written
    return Edit(blocks, tuple(ids(other.words)))


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
