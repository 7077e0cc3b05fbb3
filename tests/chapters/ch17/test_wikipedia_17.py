"""Chapter 17's questions about real text, on hand-made pages."""

import pytest

from plmlab.chapters.ch17 import wikipedia
from plmlab.retrieval.blocks import Block
from plmlab.retrieval.wikipedia_questions import RealQuestion, Step
from plmlab.text.words import word_tokenizer


def test_blocks_are_the_beginnings_of_the_pages_that_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole sentences up to the one that reaches the number of words; 8 words fit into a block besides its title."""
    pages = {"B": ["a b c .", "d e f .", "g h i j .", "k .", "l ."], "A": ["a b ."], "C": ["c ."]}
    tokenizer = word_tokenizer(sorted({word for page in pages.values() for one in page for word in one.split()}))
    asked = [RealQuestion("", "", "", tuple(Step(page, "", "") for page in steps)) for steps in ("BA", "B")]
    for name, value in {"sentences": lambda: pages, "questions": lambda: asked, "pieces": lambda: tokenizer,
                        "WORDS": 10, "LONGEST": 4 + 8}.items():
        monkeypatch.setattr(wikipedia, name, value)
    made = wikipedia.page_blocks.__wrapped__()
    assert made == (Block("B", 0, ("a b c .", "d e f .")), Block("B", 2, ("g h i j .",)), Block("A", 0, ("a b .",)))
    monkeypatch.setattr(wikipedia, "page_blocks", lambda: made)
    question = RealQuestion("", "", "", (Step("B", "", "e f"), Step("A", "", "b")))
    for numbers, found in (([0, 2], [True, True]), ([1, 2], [False, True]), ([0, 1], [True, False]), ([], [False] * 2)):
        assert wikipedia.steps_found(question, numbers) == found
