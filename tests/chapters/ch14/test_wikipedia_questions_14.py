"""The questions about real text: that each can be answered from what is read, over links that are there, and how
answers are marked."""

import json

import pytest
import torch
from torch import Tensor

from plmlab.chapters.ch14.gold_graphs import KINDS
from plmlab.chapters.ch14.wikipedia_questions import pages
from plmlab.example import Batch
from plmlab.hf.minilm_vectors import pieces
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.cogqa import CogQA, CogQAConfig, SelfLoopCogQA
from plmlab.models.registry import ModelSpec
from plmlab.objectives.cogqa_spans import fit_to_length
from plmlab.retrieval.wikipedia_questions import RealQuestion, Step, questions
from plmlab.text import articles
from plmlab.text.wikipedia_links import link_graph
from studies.ch14.wikipedia import answered_wikipedia, gold, sentence_index

EACH = pytest.mark.parametrize("question", questions(), ids=lambda question: question.text)
POSITIONS = 512
"""MiniLM's."""


def test_how_many_there_are() -> None:
    forms = [question.form for question in questions()]
    assert 20 <= len(forms) <= 30 and set(forms) == set(KINDS)
    assert len({question.text for question in questions()}) == len(forms)
    assert [forms.count(form) for form in KINDS] == [9, 12, 5, 4]
    assert {len(question.steps) for question in questions() if question.form == "bridge"} == {2, 3}


@EACH
def test_the_answer_stands_where_the_way_leads(question: RealQuestion) -> None:
    by_title = {article.title: article.text for article in articles()}
    for step in question.steps:
        assert step.sentence in by_title[step.page] and step.found in by_title[step.page]
    *ways, last = question.steps
    if KINDS[question.form] == "special":
        assert question.answer == last.found
        assert [way.found for way in ways] == [step.page for step in question.steps[1:]]
    elif question.form == "either-or":
        assert question.answer in {step.page for step in question.steps}
    else:
        assert question.answer in ("yes", "no")


@EACH
def test_what_it_names(question: RealQuestion) -> None:
    """The pages where the way to the answer begins, and no other."""
    targets = {step.found for step in question.steps}
    starts = [step.page for step in question.steps if step.page not in targets]
    assert pages().named(pages().ids(question.text.split())) == starts
    assert len(starts) == (1 if KINDS[question.form] == "special" else 2)


@EACH
def test_every_bridge_is_a_link(question: RealQuestion) -> None:
    for step in question.steps:
        if step.found in pages().texts:
            assert link_graph().has_edge(step.page, step.found)


@EACH
def test_all_of_it_is_read(question: RealQuestion) -> None:
    """Of each page on the way, with the clues that come along, what is found fits into the model's positions."""
    ids = pages().ids(question.text.split())
    for name, node in gold(question, pages()).nodes.items():
        clues = [pages().sentences(title)[number] for title, number in node.clues]
        read = fit_to_length(ids, clues, pages().sentences(name), POSITIONS)
        assert len(read.clues) == len(clues)
        for step in question.steps:
            if step.page == name:
                said = read.sentences[sentence_index(step, pages())]
                wanted = pages().ids(step.found.split())
                assert any(said[at:at + len(wanted)] == wanted for at in range(len(said)))


def test_a_gold_graph_by_hand() -> None:
    question = next(one for one in questions() if len(one.steps) == 3)
    graph = gold(question, pages())
    assert list(graph.nodes) == ["List of Atlas Shrugged characters", "Ayn Rand", "Aristotle", "alexander the great"]
    assert graph.nodes["Aristotle"].clues == (("Ayn Rand", 11),)
    assert list(graph.edges) == list(zip(list(graph.nodes), list(graph.nodes)[1:], strict=False))


@pytest.mark.parametrize("step", [Step("Alberta", "Calgary", "Alberta's capital"), Step("Nowhere", "Alberta", "is")])
def test_what_no_sentence_says(step: Step) -> None:
    with pytest.raises(ValueError, match=f"no sentence of the page {step.page!r}"):
        sentence_index(step, pages())


def small() -> ModelSpec:
    """The smallest BERT that has room for each question."""
    return ModelSpec(BERT, BERTConfig(len(pieces()), POSITIONS, 1, 12, 1, 12))


class Knowing(SelfLoopCogQA):
    """One that points at what the gold graphs have, and takes the answer that is told; it reads nothing else."""

    def __init__(self) -> None:
        super().__init__(CogQAConfig(small()))
        self.eval()

    def read(self, batch: Batch) -> tuple[Tensor, Tensor]:
        logits = torch.full((*batch.size, 4), -9.0)
        logits[:, 0] = 0
        for row, (tokens, segments) in enumerate(zip(batch.tokens.tolist(), batch.segments.tolist(), strict=True)):
            text = tuple(tokens)
            for question in questions():
                ids = pages().ids(question.text.split())
                if text[1:len(ids) + 1] != ids or text[len(ids) + 1] != pieces().vocab.sep or 1 not in segments:
                    continue
                paragraph = segments.index(1)
                for step in question.steps:
                    if text[paragraph:][:6] == sum(pages().sentences(step.page), ())[:6]:
                        sentences, number = pages().sentences(step.page), sentence_index(step, pages())
                        wanted, said = pages().ids(step.found.split()), sentences[number]
                        at = next(at for at in range(len(said)) if said[at:at + len(wanted)] == wanted)
                        first = paragraph + sum(map(len, sentences[:number])) + at
                        column = 0 if step.found in pages().texts else 2
                        logits[row, first, column] = logits[row, first + len(wanted) - 1, column + 1] = 9
        return logits, torch.zeros(len(logits), self.encoder.config.model)


@pytest.fixture(scope="module")
def known() -> list[dict]:
    return answered_wikipedia(Knowing())


def test_one_that_knows_it_all_has_full_marks(known: list[dict]) -> None:
    """But for comparisons, where it can only say "the first" and "no"."""
    assert json.loads(json.dumps(known)) == known and len(known) == len(questions())
    for row, question in zip(known, questions(), strict=True):
        assert row["graph"] == [list(edge) for edge in gold(question, pages()).edges]
        assert row["supporting"] == {"exact": 1.0, "f1": 1.0}, question.text
        assert row["nodes"] == {"exact": 1.0, "f1": 1.0}
        if KINDS[question.form] == "special":
            assert row["answer"] == {"exact": 1.0, "f1": 1.0} and row["given"].lower() == question.answer.lower()
            assert row["read"] == row["hops"]
        else:
            assert row["given"] == ("no" if question.form == "yes-no" else question.steps[0].page)
            assert row["answer"]["exact"] == float(row["given"] == question.answer)


def test_one_that_has_learned_nothing_has_few() -> None:
    torch.manual_seed(0)
    rows = answered_wikipedia(CogQA(CogQAConfig(small())).eval(), max_nodes=3)
    assert len(rows) == len(questions()) and sum(row["joint"]["exact"] for row in rows) < 3
