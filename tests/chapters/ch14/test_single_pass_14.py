"""What the readers of one pass are given: pages, what fits, and where the answer stands in it."""

from random import Random
from typing import get_args

import pytest

from plmlab.chapters.ch14 import single_pass, test_set
from plmlab.chapters.ch14.answering import supporting
from plmlab.chapters.ch14.training import pages
from plmlab.example import IGNORE
from plmlab.models.cogqa_search import Clue
from plmlab.world.questions.bank import Question
from studies.ch14 import readers

TIME = 192
ASKED = [question for group in test_set.SIZES for question in test_set.questions("test")[group][:40]]


def words(question: Question, text: single_pass.Text) -> list[str]:
    example = readers.example(question, pages("test"), text)
    return pages("test").tokenizer.tokens(example.tokens.tolist())


@pytest.mark.parametrize("kind", get_args(readers.InputPages))
def test_texts_fit_and_begin_with_the_question_and_yes_and_no(kind: readers.InputPages) -> None:
    for question in ASKED:
        text = readers.input_text(kind, question, "test", TIME, Random(0))
        read = words(question, text)
        assert len(read) <= TIME and len(set(text)) == len(text) > 0
        asked = [*question.words]
        assert read[:len(asked) + 4] == ["[CLS]", *asked, "[SEP]", "yes", "no"]


def test_gold_texts_hold_what_is_needed_and_nothing_of_other_pages() -> None:
    cut = 0
    for question in ASKED:
        text, told = readers.gold_text(question, "test", TIME, Random(1)), pages("test")
        titles = {told.title(key) for key in question.needed}
        assert supporting(question, told) <= set(text) and {clue.title for clue in text} == titles
        whole = [Clue(title, number) for title in titles for number in range(len(told.sentences(title)))]
        cut += len(text) < len(whole)
        example = readers.example(question, told, text)
        assert sum(value == 1 for value in example.labels["supporting"].tolist()) == len(question.evidence)
        start, end = int(example.labels["start"]), int(example.labels["end"])
        answer = words(question, text)[start:end + 1]
        assert answer == [*question.answer]
    assert 0 < cut < len(ASKED) / 2, "some are too long, most are not"


def test_top_pages_begin_with_those_that_the_question_names() -> None:
    without = 0
    for question in ASKED:
        text, told = single_pass.retrieved_text(question, "test", TIME), pages("test")
        named = dict.fromkeys(told.named(told.ids(question.words)))
        assert list(dict.fromkeys(clue.title for clue in text))[:len(named)] == [*named]
        without += int(readers.example(question, told, text).labels["start"]) == IGNORE
    assert 0 < without < len(ASKED) * 0.7, "some do not hold the answer"


def test_the_answer_is_where_it_is_told_though_its_words_stand_elsewhere_too() -> None:
    told, found = pages("test"), 0
    for question in test_set.questions("test")["2 hops"]:
        text = readers.gold_text(question, "test", TIME, Random(0))
        sentence, _, _ = single_pass.answer_span(question, told, text)
        last = question.evidence[-1]
        assert text[sentence - 1] == Clue(told.title(last.article), last.sentence)
        spoken = [" ".join(told.article(told.keys[clue.title]).sentences[clue.sentence].words) for clue in text]
        found += sum(" ".join(question.answer) in one for one in spoken) > 1
    assert found
