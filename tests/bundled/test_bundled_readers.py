"""The bundled Transformer-XL, CogQA, CogLTX, REALMs and RAG answer as their READMEs state."""

from collections.abc import Callable
from random import Random
from statistics import fmean

import pytest
import torch
from readmes import stated

from plmlab import world
from plmlab.chapters.ch10 import bundled as remembering
from plmlab.chapters.ch10 import recall_task
from plmlab.chapters.ch10.arms import evaluate
from plmlab.chapters.ch14.answering import answer_question
from plmlab.chapters.ch14.gold_graphs import example
from plmlab.chapters.ch14.test_set import SPLITS, questions
from plmlab.chapters.ch14.training import pages
from plmlab.chapters.ch15.answering import evaluation_documents
from plmlab.chapters.ch15.training import labelled_texts
from plmlab.chapters.ch16 import bundled as looking_up
from plmlab.chapters.ch16.arms import FULL, outcome_rows, outcomes, with_corpus
from plmlab.chapters.ch16.arms import questions as asked
from plmlab.chapters.ch17.questions import KINDS
from plmlab.chapters.ch17.questions import questions as phrase_questions
from plmlab.chapters.ch17.training import dense, with_documents
from plmlab.checkpoints import load
from plmlab.example import Batch
from plmlab.models.cogltx import reasoner_example
from plmlab.objectives.cognitive_graphs import CognitiveBatch
from plmlab.world.datasets.fact_documents import TEST_WORLDS
from plmlab.world.datasets.tokenizer import build_world_tokenizer
from studies.ch15 import bundled as recalling
from studies.ch17 import bundled as generating


@pytest.mark.bundled
@pytest.mark.parametrize("name", [remembering.NAME])
def test_the_transformer_xl_answers_as_its_readme_tells(name: str) -> None:
    model, tokenizer = load(name)
    test_set = evaluate(model, "test_set")
    assert tokenizer.fingerprint == recall_task.tokenizer().fingerprint
    for figure, found in (("loss on the answers, nats per answer", test_set.answers),
                          ("loss on all words, nats per word", test_set.all)):
        assert found == pytest.approx(stated(name, figure), abs=6e-4)
    for most, share in test_set.right.items():
        figure = f"accuracy, answer {int(most) - recall_task.BIN + 1} to {most} positions back"
        assert share == pytest.approx(stated(name, figure), abs=6e-3)


@pytest.mark.parametrize("name", [remembering.NAME])
def test_ten_texts_have_their_loss(name: str, same_ten: Callable[[str, float], None],
                                   monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = load(name)
    monkeypatch.setattr(recall_task, "tokenizer", lambda: tokenizer)  # the same, without all texts to train on
    same_ten(name, evaluate(model, "test_set", 10).answers)


@pytest.mark.bundled
@pytest.mark.parametrize("name", ["cogqa-world"])
def test_the_cogqa_answers_as_its_readme_tells(name: str) -> None:
    model, _ = load(name)
    for group in ("one hop", "3 hops"):
        right = fmean(answer_question(model, pages(split), one).answer.exact for split in SPLITS
                      for one in questions(split)[group])
        assert right == pytest.approx(stated(name, f"exact match, {group}"), abs=0.006)


@pytest.mark.parametrize("name", ["cogqa-world"])
def test_ten_questions_have_their_loss(name: str, same_ten: Callable[[str, float], None]) -> None:
    (model, tokenizer), articles = load(name), pages("test")
    some = [question for group in ("one hop", "3 hops") for question in questions("test")[group][:5]]
    graphs = [example(one, articles, tokenizer.vocab, model.encoder.config.time, Random(one.text)) for one in some]
    with torch.no_grad():
        same_ten(name, float(model.loss(CognitiveBatch.of(graphs, pad=tokenizer.vocab.need("pad")))))


@pytest.mark.bundled
@pytest.mark.parametrize("name", [recalling.NAME])
def test_the_cogltx_answers_as_its_readme_tells(name: str) -> None:
    model, _ = load(name)
    for figure, value in recalling.figures(model).items():
        assert float(value) == pytest.approx(stated(name, figure), abs=0.006), figure


@pytest.mark.parametrize("name", [recalling.NAME])
def test_the_answers_in_ten_documents_have_their_loss(name: str, same_ten: Callable[[str, float], None]) -> None:
    model, _ = load(name)
    texts = labelled_texts(evaluation_documents("test", 10, (500, 600)), model.config.longest)
    windows = [(text.reasoner_windows(model.config.capacity, Random(0))[0], text.answer) for text in texts]
    with torch.no_grad():
        same_ten(name, float(model.reasoner.loss(Batch.of([reasoner_example(window, *answer)
                                                           for window, answer in windows], pad=0))))


@pytest.mark.bundled
@pytest.mark.parametrize("name", [looking_up.START, looking_up.NAME])
def test_a_realm_finds_and_answers_as_its_readme_tells(name: str) -> None:
    model, tokenizer = load(name)
    assert tokenizer.fingerprint == build_world_tokenizer(world.full(), ["english"]).fingerprint
    for figure, value in outcomes(FULL, model).items():
        assert value == pytest.approx(stated(name, looking_up.LABELS[figure]), abs=0.006), figure


@pytest.mark.parametrize("name", [looking_up.START, looking_up.NAME])
def test_ten_statements_have_their_loss(name: str, same_ten: Callable[[str, float], None]) -> None:
    rows = outcome_rows(with_corpus(load(name)[0], TEST_WORLDS[0]), asked(TEST_WORLDS[0])[:10], null=True)
    same_ten(name, fmean(row["loss"] for row in rows))


@pytest.mark.bundled
@pytest.mark.parametrize("name", [generating.NAME])
def test_the_rag_answers_as_its_readme_tells(name: str) -> None:
    for figure, value in generating.figures(load(name)[0]).items():
        assert float(value) == pytest.approx(stated(name, figure), abs=0.006), figure


@pytest.mark.parametrize("name", [generating.NAME])
def test_ten_answers_have_their_loss(name: str, same_ten: Callable[[str, float], None]) -> None:
    model, _ = load(name)
    whole, world = with_documents(model, model.question_encoder, TEST_WORLDS[0]), TEST_WORLDS[0]
    ten = [one for kind in KINDS for one in phrase_questions(world)[kind][:4]][:10]
    batch = whole.batch([" ".join(one.words) for one in ten], dense(whole, world, ten),
                        [" ".join(one.answer) for one in ten])
    with torch.no_grad():
        same_ten(name, float(model.loss(batch)))
