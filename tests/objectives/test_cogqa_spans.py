"""What System 1 reads and is asked, position by position; and what is left out where there is no room."""

import pytest
import torch

from plmlab.example import IGNORE, Batch
from plmlab.objectives.cognitive_graphs import CognitiveBatch, CognitiveExample
from plmlab.objectives.cogqa_spans import fit_to_length, hops_and_answers
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(60)
CLS, SEP = 2, 3


def test_question_clues_and_paragraph() -> None:
    made = hops_and_answers([40, 41], [[50], [51, 52]], [43, 44, 45, 46], [(0, 1), (2, 4)], [(1, 2)], vocab=VOCAB)
    assert made.tokens.tolist() == [CLS, 40, 41, SEP, 50, SEP, 51, 52, SEP, 43, 44, 45, 46, SEP]
    assert made.segments.tolist() == [0] * 9 + [1] * 5
    assert bool(made.visible.dense().all()) and bool((made.targets == IGNORE).all())
    columns = [made.labels["pointers"][:, i].nonzero().flatten().tolist() for i in range(4)]
    assert columns == [[9, 11], [9, 12], [10], [10]]


def test_where_there_is_none_cls_is_pointed_at() -> None:
    made = hops_and_answers([40], [], [43, 44], [], [(0, 2)], vocab=VOCAB)
    assert made.tokens.tolist() == [CLS, 40, SEP, 43, 44, SEP]
    assert [made.labels["pointers"][:, i].nonzero().flatten().tolist() for i in range(4)] == [[0], [0], [3], [4]]


@pytest.mark.parametrize(("paragraph", "spans"), [([43, 44], None), ([], ()), ([], None)])
def test_nothing_is_asked(paragraph: list[int], spans: tuple[()] | None) -> None:
    made = hops_and_answers([40], [[50]], paragraph, spans, spans, vocab=VOCAB)
    assert made.tokens.tolist() == [CLS, 40, SEP, 50, SEP, *([*paragraph, SEP] if paragraph else [])]
    assert not made.labels["pointers"].any()


@pytest.mark.parametrize("span", [(0, 3), (1, 1), (-1, 1)])
def test_a_span_must_lie_in_the_paragraph(span: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="the paragraph has 2 tokens"):
        hops_and_answers([40], [], [43, 44], [span], vocab=VOCAB)


SENTENCES = [[43, 44, 45, 46], [47, 48, 49], [53, 54, 55, 56, 57]]


@pytest.mark.parametrize(("time", "clues", "sentences"), [
    (30, 2, 3),
    (22, 2, 3),    # [CLS], 2, [SEP]; clues of 2 and of 1, [SEP] behind each; 12; [SEP]
    (21, 2, 2),    # one less, and a whole sentence goes
    (18, 1, 2),    # behind two clues there would be 8 left for the page, less than half of 18
    (12, 0, 2),
    (11, 0, 1),
    (8, 0, 0),
])
def test_what_fits(time: int, clues: int, sentences: int) -> None:
    given = [[50, 51], [52]]
    fit = fit_to_length([40, 41], given, SENTENCES, time)
    assert [*map(list, fit.clues)] == given[:clues] and [*map(list, fit.sentences)] == SENTENCES[:sentences]
    made = fit.example(VOCAB)
    assert len(made.tokens) <= time
    for (first, behind), words in zip(fit.sentence_spans, SENTENCES, strict=False):
        assert made.tokens[first:behind].tolist() == words == list(fit.words(first, behind))


def test_a_question_that_leaves_no_room() -> None:
    with pytest.raises(ValueError, match="the question has 9 tokens, the model 12 positions; shorten the question"):
        fit_to_length(range(40, 49), [], SENTENCES, 12)


def test_graphs_of_several_questions_are_one() -> None:
    nodes = tuple(hops_and_answers([40 + i], [], [50] * i, (), (), vocab=VOCAB) for i in range(3))
    one = CognitiveExample(nodes, ((0, 1), (1, 2)), "special", (2,))
    two = CognitiveExample(nodes[:2], ((1, 0),), "yes-no", (1, 0, 1))
    three = CognitiveExample(nodes, (), "either-or", (0, 2, 0))
    batch = CognitiveBatch.of([one, two, three], pad=0)
    together = Batch.of([*nodes, *nodes[:2], *nodes], pad=0)
    assert torch.equal(batch.reading.tokens, together.tokens)
    assert torch.equal(batch.reading.labels["pointers"], together.labels["pointers"])
    assert batch.edges.nonzero().tolist() == [[0, 1], [1, 2], [4, 3]]
    assert batch.question.tolist() == [0, 0, 0, 1, 1, 2, 2, 2]
    assert batch.answers.tolist() == [2] and batch.yes_no.tolist() == [[4, 3, 1]]
    assert batch.either_or.tolist() == [[5, 7, 0]]
    assert torch.equal(batch.to("cpu").edges, batch.edges)


@pytest.mark.parametrize(("kind", "asked", "message"), [
    ("special", (0, 1, 1), "needs 1 numbers"), ("yes-no", (0,), "needs 3 numbers"), ("special", (2,), "the 2 nodes"),
    ("either-or", (0, 2, 1), "the 2 nodes")])
def test_what_is_asked_must_be_there(kind, asked, message: str) -> None:
    node = hops_and_answers([40], [], [50], vocab=VOCAB)
    with pytest.raises(ValueError, match=message):
        CognitiveExample((node, node), (), kind, asked)
