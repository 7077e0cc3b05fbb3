"""The Wikipedia sample as pages: all of its text and nothing else, cut where a reader would, found by title."""

import re

import pytest

from plmlab.hf import minilm
from plmlab.text import articles, paragraphs
from plmlab.text.wikipedia_pages import WikipediaPages, called, punkt, sentences, signpost


@pytest.fixture(scope="module")
def pages() -> WikipediaPages:
    return WikipediaPages(minilm()[1])


def test_all_of_each_article_is_there_in_its_order() -> None:
    told = {article.title: article for article in articles() if "(disambiguation)" not in article.title}
    assert list(sentences()) == list(told) and len(told) == 99
    for title, some in sentences().items():
        assert re.sub(r"\s", "", "".join(some)) == re.sub(r"\s", "", told[title].text)
        assert all(any(one in paragraph for paragraph in told[title].paragraphs) for one in some)


def test_a_sentence_ends_where_a_reader_ends_it() -> None:
    """Cut by hand."""
    text = ("In 1858 Stephen A. Douglas won the U.S. Senate race. He stayed there until c. 347 BC, with Dr. Bell. Was "
            "it so? It was.")
    assert punkt().tokenize(text) == [
        "In 1858 Stephen A. Douglas won the U.S. Senate race.", "He stayed there until c. 347 BC, with Dr. Bell.",
        "Was it so?", "It was."]
    at_dots = sum(len(re.split(r"(?<=[.!?]) ", paragraph)) for paragraph in paragraphs())
    cut = sum(len(punkt().tokenize(paragraph)) for paragraph in paragraphs())
    assert 0.85 * at_dots < cut < 0.98 * at_dots, "some full stops end no sentence"


@pytest.mark.parametrize(("title", "name"), [
    ("Animalia (book)", "Animalia"), ("Apollo 11", "Apollo 11"), ("Asia Minor (disambiguation)", "Asia Minor"),
    ("(What) it is", "(What) it is")])
def test_what_a_page_is_called(title: str, name: str) -> None:
    assert called(title) == name and signpost(title) == ("disambiguation" in title)


def test_titles_are_found_by_their_words(pages: WikipediaPages) -> None:
    question = "Did apollo 11, or the Apollo of a book called ANIMALIA, reach Asia ?"
    found = pages.named(pages.ids(question.split()))
    assert found == ["Apollo 11", "Apollo", "Animalia (book)", "Asia"]
    for title in pages.texts:
        assert pages.find(pages.ids(called(title).split())) == (None if title == "A" else title)
    assert pages.sentences("Nothing") == [] and pages.find([]) is None


def test_sentences_are_those_of_bert(pages: WikipediaPages) -> None:
    first = pages.sentences("Alberta")[0]
    assert pages.tokenizer.tokens(first) == ["alberta", "is", "a", "western", "province", "of", "canada", "."]
    assert pages.spelled(first) == "alberta is a western province of canada."
    assert len(pages.sentences("Alberta")) == len(sentences()["Alberta"])
