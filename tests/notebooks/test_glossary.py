"""The glossary and the chapters' "What you need" agree: every translation there is in the glossary, and conversely."""

import json
import re

import pytest

from plmlab.course import notebooks
from plmlab.glossary import glossary

NEEDED = re.compile(r"## What you need[^\n]*\n(.*?)(?=\n## |\Z)", re.S)
GLOSS = re.compile(r"\(([^()]*[一-鿿][^()]*)\)")


def translations(text: str) -> set[str]:
    """The Chinese terms in brackets, such as {"隐状态"} for "the *hidden state* (隐状态; a vector)"."""
    return {part for inside in GLOSS.findall(text) for part in re.split(r"[^一-鿿–A-Za-z0-9 ]+", inside)
            for part in [part.strip()] if re.search("[一-鿿]", part)}


def needed(chapter: str) -> set[str]:
    """The translations under "What you need" in a chapter."""
    cells = json.loads(notebooks()[chapter].read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    found = NEEDED.search(text)
    return translations(found[1]) if found else set()


CHAPTERS = sorted(set(notebooks()) - {"00"})
LISTED = {chinese.strip() for term in glossary() for chinese in term.chinese.split(",")}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_glossary_has_the_terms_of_a_chapter(chapter: str) -> None:
    assert needed(chapter) and needed(chapter) <= LISTED


@pytest.mark.parametrize("term", glossary(), ids=lambda term: term.english)
def test_a_term_is_explained_first_in_its_chapter(term) -> None:
    own = {chinese.strip() for chinese in term.chinese.split(",")}
    first = next((chapter for chapter in CHAPTERS if own & needed(chapter)), None)
    assert first == term.chapter and term.meaning.endswith(".")


def test_a_term_is_listed_once() -> None:
    names = [term.english for term in glossary()]
    assert len(set(names)) == len(names)


def test_translations_are_read_from_brackets() -> None:
    assert translations("the *key* (键) and **loss** (损失; **BERT**), n-grams (n 元语法), a (b)") == {
        "键", "损失", "n 元语法"}
