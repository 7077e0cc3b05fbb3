"""Statements of the first test world as presets of the chapter and its Retrieval Lab."""

from collections.abc import Collection
from random import Random

from plmlab.chapters.ch16.corpora import Statement, corpus
from plmlab.chapters.ch16.editing import edit
from plmlab.labs.retrieval.presets import RetrievalPreset
from plmlab.world.datasets.fact_documents import TEST_WORLDS

WORLD = TEST_WORLDS[0]
FIRST = "Fairview , a town in Arvania , lies on the River Tamar ."
FOUNDER = "Judith Grant founded Walsh Motors in 1955 ."
TRIED: tuple[tuple[str, str, Collection[int] | None], ...] = (
    ("two equally probable documents", FIRST, ()),
    ("a name was changed in all documents", FOUNDER, None),
    ("a sister's name was changed", "Helen Kessler and William Kessler grew up in one family .", (2,)),
    ("the most probable document does not help", "Julia Grant , born in Alder in 1920 , is a painter .", ()),
    ("the gold document, but a wrong answer", "Paul Tanner is married to Vera Thorne .", ()),
    ("no name to search for", "Edith Vogel eats pies every day .", ()),
)
"""A preset's title, its statement, and where another answer is inserted: in these documents, or with None in each that
states the fact."""


def statement(words: str) -> Statement:
    """The first statement of the world with these words."""
    return next(one for one in corpus(WORLD).statements if " ".join(one.cloze.words) == words)


def preset(title: str, words: str, where: Collection[int] | None) -> RetrievalPreset:
    """A statement as a preset of the lab, whose documents are changed by `edit` with seed 0. Raises ValueError if they
    cannot be changed."""
    chosen, documents = statement(words), corpus(WORLD)
    edited = edit(documents, chosen, Random(0), where)
    if edited is None:
        raise ValueError(f"no other answer can be inserted into the documents that state {words!r}")
    return RetrievalPreset(title, " ".join(chosen.cloze.masked), " ".join(chosen.cloze.answer),
                           () if chosen.source is None else (chosen.source,),
                           {number: (block.title, block.text) for number, block in edited.blocks.items()})


def lab_presets() -> list[RetrievalPreset]:
    """The presets of the chapter's lab."""
    return [preset(*one) for one in TRIED]
