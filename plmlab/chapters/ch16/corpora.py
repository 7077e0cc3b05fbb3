"""The documents of a world (`plmlab.world.datasets.fact_documents`), and statements about it whose masked spans can be
recovered from them.

A network of our size memorizes one such world: it answers the statements that it was trained on, but fails on other
facts in the same documents (`memorization`). REALM's authors use 13 million blocks, too many to memorize. Here the
world changes every few updates.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from plmlab.objectives.retrieval_batches import Query
from plmlab.world.datasets.fact_documents import FactDocuments
from plmlab.world.datasets.tokenizer import ids
from plmlab.world.questions.cloze import Cloze
from plmlab.world.world import World

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


class Corpus(FactDocuments):
    """The documents of a world and the statements about it."""

    @cached_property
    def statements(self) -> list[Statement]:
        """All statements whose fact is stated in a block other than their source."""
        return [one for split in SPLITS for one in map(self._statement, self.world.cloze(split)) if one.tell]

    @cached_property
    def quoted(self) -> list[Statement]:
        """The statements that are copied verbatim from an article."""
        return [one for one in self.statements if one.source is not None]

    @cached_property
    def _holders(self) -> Mapping[tuple[str, int], int]:
        """Map (entity, sentence index in its article) to the index of the block that contains the sentence."""
        return {(self.articles[block.page].entity, block.first + place): number
                for number, block in enumerate(self.blocks) for place in range(len(block.sentences))}

    def _statement(self, cloze: Cloze) -> Statement:
        source = None if cloze.source is None else self._holders[cloze.source.article, cloze.source.sentence]
        tell = self.tellers.get(self.plain(cloze.fact), frozenset())
        return Statement(cloze, tuple(ids(cloze.words)), tell - {source}, source)


@cache
def corpus(seed: int) -> Corpus:
    """The corpus of a medium world."""
    return Corpus(World("medium", seed))


def contains_answer(world: int, numbers: Iterable[int], answer: Sequence[str]) -> bool:
    """Return whether the answer occurs verbatim in any of the given documents of a world."""
    return any(corpus(world).contains(number, answer) for number in numbers)
