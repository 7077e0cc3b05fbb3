"""Articles as pages: found by their titles, the longest first; sentences as ids, of words and of pieces of words."""

import pytest

from plmlab import world
from plmlab.hf import minilm
from plmlab.text import Tokenizer
from plmlab.world.datasets.pages import ArticlePages
from plmlab.world.datasets.tokenizer import ids, world_tokenizer


@pytest.fixture(scope="module")
def pages() -> ArticlePages:
    return ArticlePages(world.full(), "train", world_tokenizer())


@pytest.fixture(scope="module")
def pieces() -> Tokenizer:
    return minilm()[1]


@pytest.fixture(scope="module")
def in_pieces(pieces: Tokenizer) -> ArticlePages:
    return ArticlePages(world.full(), "train", pieces)


def test_each_article_has_its_page(pages: ArticlePages) -> None:
    articles = [*world.full().articles("train")]
    assert [*pages.keys.values()] == [article.entity for article in articles]
    for article in articles:
        title = " ".join(article.title)
        assert pages.find(ids(article.title)) == title
        assert [pages.tokenizer.tokens(sentence) for sentence in pages.sentences(title)] == [
            [*sentence.words] for sentence in article.sentences]
        assert pages.article(article.entity).sentences == article.sentences


def test_each_article_has_its_page_in_pieces(pages: ArticlePages, in_pieces: ArticlePages) -> None:
    """Found and read as the same; BERT's pieces are in lower case, and know no accents."""
    assert in_pieces.keys == pages.keys
    for title in pages.keys:
        assert in_pieces.find(in_pieces.ids(title.split())) == title
        for sentence, same in zip(pages.sentences(title), in_pieces.sentences(title), strict=True):
            said = pages.spelled(sentence).replace("é", "e").lower()
            assert in_pieces.spelled(same) == said
    assert pages.spelled(ids(["Anna", "Bell", "has", "6,000", "cats", "."])) == "Anna Bell has 6,000 cats."
    assert in_pieces.spelled(in_pieces.ids(["6,000"])) == "6,000"


def test_what_has_no_page(pages: ArticlePages) -> None:
    full = world.full()
    held = [full.facts[key] for key in full.held.entities if full.facts[key].named]
    told = ArticlePages(full, "entities", world_tokenizer())
    assert held
    for entity in held:
        assert pages.find(ids(entity.words)) is None and pages.sentences(entity.name) == []
        assert told.find(ids(entity.words)) == entity.name and told.sentences(entity.name)
    assert pages.find(ids(["1942"])) is None and pages.find([]) is None


@pytest.mark.parametrize("kind", ["one-hop", "bridge", "comparison"])
def test_questions_name_what_they_start_from(pages: ArticlePages, in_pieces: ArticlePages, kind: str) -> None:
    for _, question in zip(range(150), world.full().questions(kind, "train", 1), strict=False):
        starts = [world.full().facts[node.key].name for node in question.graph.start]
        named = pages.named(ids(question.words))
        assert sorted(named) == sorted(starts), question.text
        assert in_pieces.named(in_pieces.ids(question.words)) == named
        places = [question.text.index(name) for name in named]
        assert places == sorted(places)


def test_the_longest_title_counts(pages: ArticlePages) -> None:
    """Books and companies are called after towns and people: "Night over Valmont", "Brandt Shoes"."""
    inside = [(title, other) for title in pages.keys for other in pages.keys
              if other != title and f" {other} " in f" {title} "]
    assert inside
    for title, other in inside:
        assert pages.named(ids(["who", "wrote", *title.split(), "?"])) == [title]
        assert pages.named(ids([*title.split(), "or", *other.split()])) == [title, other]
