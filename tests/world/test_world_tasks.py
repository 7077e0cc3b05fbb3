"""The labelled tasks against the world itself: its grammar, its parser, its facts."""

from itertools import islice
from math import isinf, sqrt

import pytest

from plmlab.world import World
from plmlab.world.datasets.tasks import (
    Acceptability,
    ExtractiveQA,
    Paraphrase,
    acceptability,
    extractive_qa,
    flip_number,
    paraphrase,
)

COUNT = 200


def balanced(labels: list[bool]) -> bool:
    """Half and half, within four standard errors."""
    return abs(sum(labels) / len(labels) - 0.5) < 4 * 0.5 / sqrt(len(labels))


@pytest.mark.parametrize("split", ["train", "test"])
def test_half_of_the_judged_sentences_are_of_the_grammar_and_half_are_not(full: World, split: str) -> None:
    rows = list(islice(acceptability(full, split, 1), COUNT))
    assert all(isinstance(row, Acceptability) for row in rows)
    assert [not isinf(full.logprob(row.words, split)) for row in rows] == [row.right for row in rows]
    assert balanced([row.right for row in rows])


def test_only_the_number_of_the_verb_is_spoilt_and_spoiling_it_again_mends_it(full: World) -> None:
    seen = set()
    for sentence in islice(full.sentences("train", seed=2), 3000):
        for link in sentence.agreement:
            other = flip_number(full, sentence, link.verb)
            changed = [position for position, (a, b) in enumerate(zip(sentence.words, other, strict=True)) if a != b]
            assert changed == [link.verb]
            seen.add((sentence.words[link.verb], other[link.verb]))
    assert {("is", "are"), ("were", "was"), ("sleeps", "sleep"), ("have", "has")} <= seen
    assert all((b, a) in seen for a, b in seen if a in ("is", "are", "was", "were", "has", "have"))


@pytest.mark.parametrize(("name", "train", "test"), [("small", 1000, 60), ("full", 500, 500)])
def test_no_judged_sentence_stands_in_both_splits(name: str, train: int, test: int, request) -> None:
    """Of the small world those are nearly all that there are: some 370, and 12."""
    one, other = ({row.words for row in islice(acceptability(request.getfixturevalue(name), split, 5), count)}
                  for split, count in (("train", train), ("test", test)))
    assert len(one) > 300 and len(other) > 10 and not one & other


@pytest.mark.parametrize("split", ["train", "facts"])
def test_two_sentences_tell_the_same_where_the_parser_says_so(full: World, split: str) -> None:
    rows = list(islice(paraphrase(full, split, 1), COUNT))
    for row in rows:
        one, other = (full.parse(words, split).facts for words in (row.first, row.second))
        assert len(one) == len(other) == 1 and row.first != row.second
        assert (one == other) == row.same
        if not row.same:
            assert one[0].subject == other[0].subject or one[0].relation == other[0].relation
    assert balanced([row.same for row in rows])
    kinds = [full.parse(row.first, split).facts[0].relation == full.parse(row.second, split).facts[0].relation
             for row in rows if not row.same]
    assert 0.3 < sum(kinds) / len(kinds) < 0.85


def test_what_is_compared_in_facts_was_never_told_in_training_text(full: World) -> None:
    for row in islice(paraphrase(full, "facts", 3), 100):
        assert all(full.held.split_of(fact) == "facts" for words in (row.first, row.second)
                   for fact in full.parse(words, "facts").facts)


@pytest.mark.parametrize("split", ["train", "facts"])
def test_the_answer_stands_in_the_text_once_and_is_the_right_one(full: World, split: str) -> None:
    questions = {question.words: question for question in full.questions("one-hop", split, 1)}
    rows = list(islice(extractive_qa(full, split, 1), COUNT))
    assert len(rows) > 100
    places = set()
    for row in rows:
        question = questions[row.question]
        answer = row.text[row.start:row.end]
        assert answer == question.answer
        assert len([position for position in range(len(row.text))
                    if row.text[position:position + len(answer)] == answer]) == 1
        assert " ".join(row.text) in full.article(question.evidence[0].article, question.corpus).text
        places.add(row.text[:row.start].count("."))
    assert places == {0, 1, 2}


def test_the_same_seed_gives_the_same_rows_and_another_seed_others(full: World) -> None:
    for task in (acceptability, paraphrase, extractive_qa):
        one, same, other = (list(islice(task(full, "train", seed), 50)) for seed in (1, 1, 2))
        assert one == same != other
    assert all(isinstance(row, Paraphrase | ExtractiveQA) for task in (paraphrase, extractive_qa)
               for row in islice(task(full, "train", 1), 3))
