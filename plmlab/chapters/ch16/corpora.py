"""The worlds of chapter 16: about 60 entities each, whose articles are the documents, and statements about them.

A network of our size memorizes one such world: it answers the statements that it was trained on, but fails on other
facts in the same documents (`memorization`). REALM's authors use 13 million blocks, too many to memorize. Here the
world changes every few updates: the names stay, the facts do not, so only a model that uses the documents can answer.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import count

from plmlab.objectives.retrieval_batches import Query
from plmlab.retrieval.blocks import Block, blocks
from plmlab.world.datasets.pages import ArticlePages
from plmlab.world.datasets.tokenizer import ids, world_tokenizer
from plmlab.world.facts.relations import Triple
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.questions.chains import Parting, find_words
from plmlab.world.questions.cloze import Cloze
from plmlab.world.world import World

SEEDS = (1, 3, 7, 8, 9, 11, 16, 17, 22, 25, 26, 27, 30, 32, 33, 35, 37, 38, 39, 40, 42, 43, 44, 45)
"""The first worlds whose words are all in the vocabulary of the bundled BERT (`known_seeds`)."""
TEST_WORLDS, DEVELOPMENT, TRAINING = SEEDS[:3], SEEDS[3], SEEDS[4:]
"""Test worlds, the development world, and training worlds."""
LONGEST = 40
"""Maximum tokens per block, title included; the paper's blocks have 288."""
SPLITS = ("train", "test")


@dataclass(frozen=True)
class Statement:
    """A statement of a fact, as ids; ``cloze`` has the words and the span that requires the fact. ``tell`` lists the
    indices of the blocks that state the fact, except ``source``, the block that the statement was taken from."""

    cloze: Cloze
    tokens: tuple[int, ...]
    tell: frozenset[int]
    source: int | None

    @property
    def salient(self) -> tuple[int, ...]:
        """Indices of the tokens of the salient span: a name, year or number."""
        return tuple(range(*self.cloze.span))

    @property
    def answer(self) -> tuple[int, ...]:
        """The token ids of the salient span."""
        return tuple(self.tokens[place] for place in self.salient)

    def query(self, hidden: tuple[int, ...] | None = None, exclude: bool = True) -> Query:
        """The masked query. By default its salient span is masked, and its source is excluded from retrieval."""
        excluded = () if self.source is None or not exclude else (self.source,)
        return Query(self.tokens, self.salient if hidden is None else hidden, excluded)


class Corpus:
    """The articles of a world, cut into ``blocks``, and statements whose masked spans can be recovered from them."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.blocks: list[Block] = blocks(ArticlePages(world, "train", world_tokenizer()), LONGEST)
        self._articles = {" ".join(article.title): article for article in world.corpora.articles("train").values()}
        self._parting = Parting(world.facts, world.held)

    @cached_property
    def statements(self) -> list[Statement]:
        """All statements whose fact is stated in a block other than their source."""
        return [one for split in SPLITS for one in map(self._statement, self.world.cloze(split)) if one.tell]

    @cached_property
    def quoted(self) -> list[Statement]:
        """The statements that are copied verbatim from an article."""
        return [one for one in self.statements if one.source is not None]

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
        return self._articles[block.page].sentences[block.first:block.first + len(block.sentences)]

    def plain(self, fact: Triple) -> Triple:
        """The canonical form of a fact, which is the same for both directions of a symmetric or inverse relation."""
        return self._parting.plain(fact)

    @cached_property
    def _holders(self) -> dict[tuple[str, int], int]:
        """Map (entity, sentence index in its article) to the index of the block that contains the sentence."""
        return {(self._articles[block.page].entity, block.first + place): number
                for number, block in enumerate(self.blocks) for place in range(len(block.sentences))}

    def _statement(self, cloze: Cloze) -> Statement:
        source = None if cloze.source is None else self._holders[cloze.source.article, cloze.source.sentence]
        tell = self.tellers.get(self.plain(cloze.fact), frozenset())
        return Statement(cloze, tuple(ids(cloze.words)), tell - {source}, source)


@cache
def corpus(seed: int) -> Corpus:
    """The corpus of a medium world."""
    return Corpus(World("medium", seed))


def known_seeds() -> Iterator[int]:
    """Seeds, from 1 on, of the worlds whose words are all in the vocabulary of the bundled BERT."""
    known = {*world_tokenizer().tokens(range(len(world_tokenizer())))}
    return (seed for seed in count(1) if all(word in known for word in _words(World("medium", seed))))


def _words(world: World) -> Iterator[str]:
    for article in world.articles("train"):
        yield from article.words
    for split in SPLITS:
        for cloze in world.cloze(split):
            yield from cloze.words


def contains_answer(world: int, numbers: Iterable[int], answer: Sequence[str]) -> bool:
    """Return whether the answer occurs verbatim in any of the given documents of a world."""
    return any(find_words(corpus(world).blocks[number].text.split(), answer) is not None for number in numbers)
