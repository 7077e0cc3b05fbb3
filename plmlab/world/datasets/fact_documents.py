"""Documents that state the facts of a world: its articles, cut into blocks.

Chapters 16 and 17 train on many worlds of about 60 entities, in which the names stay and the facts do not, so that only
a model that uses the documents can answer.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count
from random import Random
from typing import NamedTuple

from plmlab.draws import choice
from plmlab.retrieval.blocks import Block, blocks
from plmlab.world.datasets.pages import ArticlePages
from plmlab.world.datasets.tokenizer import world_tokenizer
from plmlab.world.facts.relations import Entity, Triple
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.questions.chains import Parting, find_words
from plmlab.world.world import World

SEEDS = (1, 3, 7, 8, 9, 11, 16, 17, 22, 25, 26, 27, 30, 32, 33, 35, 37, 38, 39, 40, 42, 43, 44, 45)
"""The first medium worlds whose words are all in the vocabulary of the bundled BERT (`known_seeds`)."""
TEST_WORLDS, DEVELOPMENT, TRAINING = SEEDS[:3], SEEDS[3], SEEDS[4:]
"""Test worlds, the development world, and training worlds."""
LONGEST = 40
"""Maximum tokens per block, title included; REALM's blocks have 288."""


class Edited(NamedTuple):
    """Edited blocks by index, and the words that now stand for the fact."""

    blocks: dict[int, Block]
    words: tuple[str, ...]


class FactDocuments:
    """The articles of a world, cut into ``blocks``, and the facts that each block states."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.blocks: list[Block] = blocks(ArticlePages(world, "train", world_tokenizer()), LONGEST)
        self.articles = {" ".join(article.title): article for article in world.corpora.articles("train").values()}
        self._parting = Parting(world.facts, world.held)

    @cached_property
    def tellers(self) -> Mapping[Triple, frozenset[int]]:
        """Map each fact, in its canonical form (`plain`), to the indices of the blocks that state it."""
        by_fact: dict[Triple, set[int]] = defaultdict(set)
        for number in range(len(self.blocks)):
            for sentence in self.sentences(number):
                for fact in sentence.facts:
                    by_fact[self.plain(fact)].add(number)
        return {fact: frozenset(numbers) for fact, numbers in by_fact.items()}

    def sentences(self, number: int) -> tuple[Sentence, ...]:
        """The sentences of a block, with the facts that they state."""
        block = self.blocks[number]
        return self.articles[block.page].sentences[block.first:block.first + len(block.sentences)]

    def plain(self, fact: Triple) -> Triple:
        """The canonical form of a fact, which is the same for both directions of a symmetric or inverse relation."""
        return self._parting.plain(fact)

    def contains(self, number: int, words: Sequence[str]) -> bool:
        """Whether the words occur verbatim in the text of a block."""
        return find_words(self.blocks[number].text.split(), words) is not None

    def edited(self, fact: Triple, entity: Entity, words: Sequence[str], rng: Random,
               where: Collection[int] | None = None) -> Edited | None:
        """Replace an entity of a fact, written as ``words``, by another one of the same kind and number of words, in
        each block that states the fact or in the blocks ``where``. None if the text states the fact without these words
        ("she was born there"), or if there is no other entity."""
        others = [other for other in self.world.facts.kind(entity.kind)
                  if other.key != entity.key and len(other.words) == len(entity.words)]
        if not others:
            return None
        other, made = choice(rng, others).words, {}
        for number in self.tellers[self.plain(fact)] if where is None else where:
            block = self._rewritten(number, self.plain(fact), words, other)
            if block is None:
                return None
            made[number] = block
        return Edited(made, other)

    def _rewritten(self, number: int, fact: Triple, old: Sequence[str], new: tuple[str, ...]) -> Block | None:
        block = self.blocks[number]
        sentences = list(block.sentences)
        for place, sentence in enumerate(self.sentences(number)):
            if fact not in map(self.plain, sentence.facts):
                continue
            at = find_words(sentence.words, old)
            if at is None:
                return None
            sentences[place] = " ".join((*sentence.words[:at], *new, *sentence.words[at + len(new):]))
        return Block(block.page, block.first, tuple(sentences))


def known_seeds() -> Iterator[int]:
    """Seeds, from 1 on, of the worlds whose words are all in the vocabulary of the bundled BERT."""
    known = {*world_tokenizer().tokens(range(len(world_tokenizer())))}
    return (seed for seed in count(1) if all(word in known for word in _words(World("medium", seed))))


def _words(world: World) -> Iterator[str]:
    for article in world.articles("train"):
        yield from article.words
    for split in ("train", "test"):
        for cloze in world.cloze(split):
            yield from cloze.words
