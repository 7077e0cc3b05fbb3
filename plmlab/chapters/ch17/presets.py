"""Questions about the first test world as presets of the chapter's Retrieval Lab."""

from dataclasses import replace

from plmlab.chapters.ch17.other_index import other_index
from plmlab.chapters.ch17.questions import PhraseQuestion, questions
from plmlab.labs.retrieval.presets import RetrievalPreset
from plmlab.world.datasets.fact_documents import TEST_WORLDS

WORLD = TEST_WORLDS[0]
EDITED = "when was A Gentle Promise made ?"
TRIED = (
    ("two facts, each from a different document", "what does Carl Barnes like to eat and when was Helen Kessler born ?",
     "apples and 1937"),
    ("a name that is in no document", "at which café was The Quiet Summer shot ?", "Red Anchor Café"),
    ("both facts from one document", "which pet does William Kessler keep and what does William Kessler play ?", ""),
    ("a changed document", EDITED, ""),
    ("a name from the question", "which company employs Judith Grant ?", ""),
)
"""A preset's title, its question, and the answer that is drawn; if it is empty, the most probable one. The first preset
is shown initially."""


def question(words: str) -> PhraseQuestion:
    """The question about the world with these words."""
    return next(one for some in questions(WORLD).values() for one in some if one.text == words)


def lab_presets() -> list[RetrievalPreset]:
    """The presets of the chapter's lab. Where a document is changed, the answer is that of the changed document."""
    presets = [RetrievalPreset(title, words, " ".join(question(words).answer), chosen=chosen)
               for title, words, chosen in TRIED]
    other, one = other_index(WORLD), question(EDITED)
    answer = " ".join(other.answers[other.questions.index(one)])
    changed = {number: (other.blocks[number].title, other.blocks[number].text) for number in one.told[0]}
    return [replace(each, answer=answer, replaced=changed) if each.text == EDITED else each for each in presets]
