"""Statements of the exam's first world as the chapter and its Retrieval Lab try them."""

from collections.abc import Collection
from random import Random

from plmlab.chapters.ch16.corpora import TEST_WORLDS, Statement, corpus
from plmlab.chapters.ch16.editing import edit
from plmlab.labs.retrieval.presets import RetrievalPreset

WORLD = TEST_WORLDS[0]
FIRST = "Fairview , a town in Arvania , lies on the River Tamar ."
FOUNDER = "Judith Grant founded Walsh Motors in 1955 ."
TRIED: tuple[tuple[str, str, Collection[int] | None], ...] = (
    ("two documents, equally likely", FIRST, ()),
    ("a name was changed in all documents", FOUNDER, None),
    ("a sister was changed", "Helen Kessler and William Kessler grew up in one family .", (2,)),
    ("the likeliest document does not help", "Julia Grant , born in Alder in 1920 , is a painter .", ()),
    ("the right document, and a wrong answer", "Paul Tanner is married to Vera Thorne .", ()),
    ("no name to look up by", "Edith Vogel eats pies every day .", ()),
)
"""What the lab's statement is called, its words, and where another answer is put: into these documents, or with None
into each that tells its fact."""


def statement(words: str) -> Statement:
    """The first statement of the world with these words."""
    return next(one for one in corpus(WORLD).statements if " ".join(one.cloze.words) == words)


def preset(title: str, words: str, where: Collection[int] | None) -> RetrievalPreset:
    """A statement as the lab takes it, documents changed as `edit` does with the draws of seed 0. ValueError where they
    can't be changed."""
    one, told = statement(words), corpus(WORLD)
    made = edit(told, one, Random(0), where)
    if made is None:
        raise ValueError(f"no other answer can be put into the documents that tell {words!r}")
    return RetrievalPreset(title, " ".join(one.cloze.masked), " ".join(one.cloze.answer),
                           () if one.source is None else (one.source,),
                           {number: (block.title, block.text) for number, block in made.blocks.items()})


def tried() -> list[RetrievalPreset]:
    """What the chapter's lab tries."""
    return [preset(*one) for one in TRIED]
