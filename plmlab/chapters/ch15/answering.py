"""Answer the questions about long documents with a CogLTX, and measure answers and retrieval."""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple, Self

from plmlab.chapters.ch15.long_texts import BlockedDocument
from plmlab.chapters.ch15.selections import Select, mem_recall
from plmlab.models.cogltx import CogLTX
from plmlab.models.memory_recall import Window
from plmlab.world.datasets.long_documents import LongDocument, long_documents
from plmlab.world.world import full


class Outcome(NamedTuple):
    """The result of a model on a document: whether the ``answer`` is correct, whether the blocks that it read contain
    the ``first`` and the ``second`` supporting sentence, and the document's length and distance in tokens."""

    answer: bool
    first: bool
    second: bool
    length: int
    distance: int

    @classmethod
    def of(cls, text: BlockedDocument, answer: tuple[int, ...], windows: Sequence[Window]) -> Self:
        """The result for the token ids of an answer; a sentence is read if one of the windows contains all its
        blocks."""
        document, read = text.document, [{*window.positions} for window in windows]
        first, second = (any(some.issuperset(support) for some in read) for support in text.supports)
        return cls(answer == document.said(document.answer), first, second, len(document.tokens), document.distance)


@cache
def evaluation_documents(split: str, number: int, lengths: tuple[int, int] = (500, 4000)) -> tuple[LongDocument, ...]:
    """Documents of the test world, with its "development" or its "test" questions."""
    return tuple(islice(long_documents(full(), split, lengths=lengths), number))


def outcome(model: CogLTX, document: LongDocument, select: Select = mem_recall) -> Outcome:
    """Answer the question of one document from the selected blocks."""
    text = BlockedDocument.of(document, model.config.longest)
    window = select(model, text)
    return Outcome.of(text, model.answer(window).ids(text.blocks), [window])


def outcomes(model: CogLTX, documents: Iterable[LongDocument], select: Select = mem_recall) -> list[Outcome]:
    """The `outcome` of each document."""
    return [outcome(model, document, select) for document in documents]
