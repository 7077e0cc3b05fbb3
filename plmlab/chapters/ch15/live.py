"""The documents of chapter 15's live training: with four kinds of questions, each about a person."""

from functools import cache
from itertools import islice

from plmlab.chapters.ch15.training import LENGTHS, WORLDS
from plmlab.world.datasets.long_documents import LongDocument, long_documents
from plmlab.world.world import full

UPDATES, RATE = 120, 1e-3
TEXTS, TESTED = 300, 40
"""Training documents, and test documents answered afterwards."""
KINDS = "birthplace_country", "birthplace_population", "home_river", "spouse_birthplace"


@cache
def documents(split: str) -> tuple[LongDocument, ...]:
    """Training documents of another world ("train"), or documents of the test world ("test")."""
    world, count = (full(WORLDS[0]), TEXTS) if split == "train" else (full(), TESTED)
    drawn = long_documents(world, split, lengths=LENGTHS)
    return tuple(islice((one for one in drawn if one.question.shape in KINDS), count))
