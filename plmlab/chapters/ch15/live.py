"""The live training of chapter 15: judge and reasoner, on documents of one other world."""

from functools import cache
from itertools import islice

from plmlab.chapters.ch15.training import WORLDS, labelled_texts
from plmlab.models.cogltx_training import LongText
from plmlab.world.datasets.long_documents import LongDocument, long_documents
from plmlab.world.world import full

UPDATES, RATE = 100, 1e-3
TEXTS, TESTED = 400, 40
"""Training texts, and test documents answered afterwards."""


def texts(longest: int) -> list[LongText]:
    """Training texts with relevance labels, in blocks of at most ``longest`` tokens."""
    return labelled_texts([*islice(long_documents(full(WORLDS[0]), "train"), TEXTS)], longest)


@cache
def test_documents() -> tuple[LongDocument, ...]:
    """Documents of the test world."""
    return tuple(islice(long_documents(full(), "test"), TESTED))
