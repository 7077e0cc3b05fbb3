"""The exam and its outcomes: no question was learned from; means by hand; what a perfect and an empty answer get."""

from statistics import fmean

import pytest

from plmlab.chapters.ch14 import test_set, training
from plmlab.chapters.ch14.answering import Outcome, outcome, supporting
from plmlab.chapters.ch14.gold_graphs import gold_graph
from plmlab.models.cogqa_search import Clue
from studies.ch14 import outcomes


@pytest.mark.parametrize("split", test_set.SPLITS)
def test_groups_are_what_they_say(split: str) -> None:
    for name, asked in test_set.questions(split).items():
        assert 60 <= len(asked) <= test_set.SIZES[name] and len({one.words for one in asked}) == len(asked)
        assert all(one.split == split and test_set.group(one) == name for one in asked)


def test_no_question_of_the_exam_was_learned_from() -> None:
    known = {frozenset(one.facts) for kind in set(training.KINDS) for one in training.training_rows(kind)}
    asked = [one for split in test_set.SPLITS for some in test_set.questions(split).values() for one in some]
    assert len(asked) == 1590 and not known & {frozenset(one.facts) for one in asked}


def test_supporting_sentences_are_the_clues_of_the_gold_graph() -> None:
    told = training.pages("test")
    for some in test_set.questions("test").values():
        for question in some[:10]:
            clues = {Clue(*clue) for node in gold_graph(question, told).nodes.values() for clue in node.clues}
            assert supporting(question, told) == clues


def test_means_by_hand() -> None:
    told, question = training.pages("test"), test_set.questions("test")["2 hops"][0]
    right = supporting(question, told)
    perfect = outcome(question, told, " ".join(question.answer), right, 2)
    half = outcome(question, told, " ".join(question.answer), {next(iter(right))}, 1)
    nothing = outcome(question, told, None, set(), 0)
    assert (perfect.joint.exact, perfect.joint.f1, nothing.joint.f1) == (1, 1, 0)
    assert half.supporting.precision == 1 and half.supporting.recall == 0.5 and half.joint.exact == 0
    numbers = outcomes.mean_scores([perfect, half, nothing])
    assert numbers == pytest.approx({
        "exact": 2 / 3, "f1": 2 / 3, "read": 1, "supporting exact": 1 / 3, "supporting f1": fmean([1, 2 / 3, 0]),
        "joint exact": 1 / 3, "joint f1": fmean([1, 2 / 3, 0])})


def test_splits_are_pooled_question_by_question() -> None:
    def answer(question: object, split: str) -> Outcome:
        told = training.pages(split)
        said = " ".join(question.answer) if split == "test" else None
        return outcome(question, told, said, set(), 1)

    found = outcomes.by_group(answer, ["3 hops"])["3 hops"]
    assert (found["in test"], found["in facts"], found["in entities"]) == (1, 0, 0)
    assert found["exact"] == pytest.approx(60 / 240)
