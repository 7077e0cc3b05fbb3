"""Questions whose answer is a phrase: one fact, or two facts that are stated in one document or in two.

A question about two facts consists of two one-hop questions of the Small World, and its answer of both answers: *where
was Mary Harlow born and which instrument does Karl Harlow play ?* has the answer *Larkfield and violin*.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from random import Random

from plmlab.draws import shuffled
from plmlab.world.datasets.fact_documents import FactDocuments
from plmlab.world.questions.bank import Question
from plmlab.world.questions.chains import find_words
from plmlab.world.world import World

ONE_FACT, ONE_DOCUMENT, TWO_DOCUMENTS = KINDS = ("one fact", "two facts, one document", "two facts, two documents")
PER_KIND = 150
"""Questions of each kind that are asked about a world."""


@dataclass(frozen=True)
class PhraseQuestion:
    """A question: its ``kind``, its one or two ``parts``, and for each part the blocks that state its fact with the
    words of the answer (``told``)."""

    kind: str
    parts: tuple[Question, ...]
    told: tuple[frozenset[int], ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the question."""
        return (*joined(part.words[:-1] for part in self.parts), "?")

    @property
    def text(self) -> str:
        """The question as text."""
        return " ".join(self.words)

    @property
    def answer(self) -> tuple[str, ...]:
        """The words of the answer."""
        return joined(part.answer for part in self.parts)

    @property
    def gold(self) -> frozenset[int]:
        """The blocks that state a fact of the question; both facts, if any block does."""
        return frozenset.intersection(*self.told) or frozenset.union(*self.told)

    def supported(self, numbers: Sequence[int]) -> bool:
        """Whether these blocks state all facts of the question."""
        return all(not told.isdisjoint(numbers) for told in self.told)


def joined(parts: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The words of all parts, with "and" between two of them."""
    first, *others = parts
    return (*first, *(word for other in others for word in ("and", *other)))


@cache
def documents(world: int) -> FactDocuments:
    """The documents of a medium world."""
    return FactDocuments(World("medium", world))


@cache
def questions(world: int) -> dict[str, tuple[PhraseQuestion, ...]]:
    """Kind → its questions about a world, in random order."""
    rng, single = Random(world), _one_fact(world)
    by_block: dict[int, list[PhraseQuestion]] = defaultdict(list)
    for one in single:
        for number in one.told[0]:
            by_block[number].append(one)
    together = {pair: None for some in by_block.values() for pair in combinations(some, 2)}
    apart = zip(shuffled(rng, single * 4), shuffled(rng, single * 4), strict=True)
    found = {ONE_FACT: single, ONE_DOCUMENT: _joined(ONE_DOCUMENT, shuffled(rng, list(together))),
             TWO_DOCUMENTS: _joined(TWO_DOCUMENTS, [pair for pair in apart if not pair[0].told[0] & pair[1].told[0]])}
    return {kind: tuple(shuffled(rng, some)[:PER_KIND]) for kind, some in found.items()}


def _one_fact(world: int) -> list[PhraseQuestion]:
    """All one-hop questions whose answer is written in a block that states the fact."""
    corpus, found = documents(world), []
    texts = [f"{block.title} {block.text}".split() for block in corpus.blocks]
    for question in corpus.world.questions("one-hop", "train"):
        fact, = question.facts
        told = frozenset(number for number in corpus.tellers.get(corpus.plain(fact), ())
                         if find_words(texts[number], question.answer) is not None)
        if told:
            found.append(PhraseQuestion(ONE_FACT, (question,), (told,)))
    return found


def _joined(kind: str, pairs: Sequence[tuple[PhraseQuestion, PhraseQuestion]]) -> list[PhraseQuestion]:
    """Questions about two facts that have different answers."""
    return [PhraseQuestion(kind, one.parts + other.parts, one.told + other.told) for one, other in pairs
            if one.answer != other.answer and one.parts[0].facts != other.parts[0].facts]
