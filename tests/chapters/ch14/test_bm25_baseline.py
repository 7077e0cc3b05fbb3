"""What the ranking by shared words answers."""

from plmlab.chapters.ch14 import test_set
from plmlab.chapters.ch14.bm25_baseline import normalized_words
from plmlab.chapters.ch14.training import pages
from studies.ch14.ranking import Ranking

SEARCH = Ranking(pages("test"))


def test_words_are_compared_without_case_articles_and_punctuation() -> None:
    assert normalized_words(["The", "Old", "Café", ",", "a", "home"]) == ["old", "café", "home"]


def test_a_page_is_found_by_its_own_first_sentence() -> None:
    for question in test_set.questions("test")["one hop"][:10]:
        ranked = SEARCH.titles(question, 3)
        assert len(ranked) == len(set(ranked)) == 3 and set(ranked) <= set(SEARCH.pages.keys)


def test_sentences_that_share_more_rare_words_come_first() -> None:
    question = next(one for one in test_set.questions("test")["one hop"])
    shared = [set(normalized_words(question.words)) & set(normalized_words(clue.title.split()) + normalized_words(
        SEARCH.pages.article(SEARCH.pages.keys[clue.title]).sentences[clue.sentence].words))
              for clue in SEARCH.sentences(question, 5)]
    assert all(shared)


def test_answers_are_of_their_kind() -> None:
    asked = test_set.questions("test")
    assert {SEARCH.answer(one) for one in asked["yes-no"][:5]} == {"yes"}
    for one in asked["either-or"][:10]:
        assert SEARCH.answer(one) in SEARCH.pages.named(SEARCH.pages.ids(one.words))
    for one in asked["2 hops"][:20]:
        answer = SEARCH.answer(one)
        words = set(normalized_words(answer.split()))
        assert not answer or not words <= set(normalized_words(one.words)), "not of the question"
