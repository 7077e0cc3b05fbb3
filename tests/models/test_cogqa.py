"""CogQA's two systems on given graphs: losses against torch's own and by loops, spans by brute force, copies, files."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.checkpoints import load, save
from plmlab.example import Batch
from plmlab.interpret import watch
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.cogqa import CogQA, CogQAConfig, SelfLoopCogQA, best_spans, span_losses
from plmlab.models.registry import ModelSpec
from plmlab.objectives.cognitive_graphs import CognitiveBatch, CognitiveExample
from plmlab.objectives.cogqa_spans import hops_and_answers
from plmlab.text import Tokenizer
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(60)
SIZE = BERTConfig(60, time=24, layers=3, model=12, heads=3, inner=20, dropout=0.0, attention_dropout=0.0)
BOTH = pytest.mark.parametrize("kind", [CogQA, SelfLoopCogQA])


def made(kind: type[CogQA] = CogQA) -> CogQA:
    torch.manual_seed(3)
    model = kind(CogQAConfig(ModelSpec(BERT, SIZE)))
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.4)
    return model.double().eval()


def same(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=1e-10)


def node(size: int, hops: Any = (), answers: Any = (), clues: int = 0) -> Any:
    return hops_and_answers([40, 41], [[50, 51]] * clues, range(42, 42 + size), hops, answers, vocab=VOCAB)


START, BRIDGE, WRONG = node(9, [(1, 3), (4, 5), (7, 9)]), node(4, (), [(0, 2)], clues=1), node(3, clues=2)
END, VALUE = node(2, None, None, clues=1), node(0, None, None, clues=1)
QUESTIONS = [
    CognitiveExample((START, BRIDGE, WRONG, END), ((0, 1), (0, 2), (1, 3)), "special", (3,)),
    CognitiveExample((WRONG, BRIDGE), ((0, 1),), "yes-no", (0, 1, 1)),
    CognitiveExample((BRIDGE, START, VALUE), ((0, 2), (1, 2)), "special", (2,)),
    CognitiveExample((START, WRONG, VALUE), ((1, 2),), "either-or", (0, 1, 0)),
    CognitiveExample((BRIDGE, WRONG), (), "either-or", (1, 0, 1)),
]


def test_targets_are_shared_among_spans() -> None:
    """Against torch's cross-entropy with probabilities as targets, a node at a time."""
    nodes = [START, BRIDGE, WRONG, END, VALUE]
    batch = Batch.of(nodes, pad=0)
    found = span_losses(made()(batch), batch.labels["pointers"])
    for column in range(4):
        losses = []
        for one in nodes:
            targets = one.labels["pointers"][:, column].double()
            if targets.any():
                logits = made()(Batch.of([one], pad=0))[0, :, column]
                losses.append(F.cross_entropy(logits, targets / targets.sum()))
        assert len(losses) == 3
        same(found[column], torch.stack(losses).mean())


@BOTH
def test_the_loss_is_that_of_each_question_alone(kind: type[CogQA]) -> None:
    model, choices = made(kind), []
    for question in QUESTIONS:
        _, semantics = model.read(Batch.of(question.nodes, pad=0))
        edges = torch.zeros(len(question.nodes), len(question.nodes), dtype=torch.bool)
        for source, target in question.edges:
            edges[source, target] = True
        if question.kind == "special":
            choices.append(F.cross_entropy(model.reasoner(semantics, edges)[None], torch.tensor(question.asked)))
        else:
            one, other, outcome = question.asked
            predictor = model.reasoner.yes_no if question.kind == "yes-no" else model.reasoner.either_or
            said = predictor(semantics[None, one] - semantics[None, other])
            choices.append(-F.logsigmoid(said if outcome else -said)[0])
    batch = CognitiveBatch.of(QUESTIONS, pad=0)
    hop, answer, final = model.losses(batch)
    same(final, torch.stack(choices).mean())
    pointers = span_losses(model(batch.reading), batch.reading.labels["pointers"])
    same(hop, pointers[:2].mean())
    same(answer, pointers[2:].mean())
    same(model.loss(batch), hop + answer + 0.2 * final)


def test_both_systems_teach_the_encoder() -> None:
    """That the tasks are trained apart is an error of the notes."""
    for term in range(3):
        model = made()
        model.losses(CognitiveBatch.of(QUESTIONS, pad=0))[term].backward()
        assert model.encoder.embeddings.token.weight.grad is not None
        assert bool(model.encoder.layers[0].attention.q.weight.grad.any())
        assert all(parameter.grad is None or bool(parameter.grad.isfinite().all()) for parameter in model.parameters())
        top = model.encoder.layers[2].feed_forward.down.weight.grad
        assert (top is None or not top.any()) == (term == 2), "what a node is comes from below the last layer"


def test_a_node_is_what_a_late_layer_makes_of_cls() -> None:
    model, batch = made(), Batch.of([START, VALUE], pad=0)
    with watch(model) as seen:
        logits, semantics = model.read(batch)
    same(semantics, seen.hidden()[2][:, 0])  # 0 are the embeddings
    same(logits[0], model.output(model.encoder(batch))[0])
    deeper = [CogQAConfig(ModelSpec(BERT, replace(SIZE, layers=layers))) for layers in (1, 2, 3, 6, 12)]
    assert [config.semantic_layer for config in deeper] == [1, 2, 2, 4, 9]


def test_padding_is_not_pointed_at() -> None:
    model = made()
    together = model(Batch.of([START, VALUE], pad=0))[1]
    alone = model(Batch.of([VALUE], pad=0))[0]
    same(together[: len(alone)], alone)
    assert bool((together[len(alone):] == -torch.inf).all())


@pytest.mark.parametrize("seed", range(20))
def test_spans_by_brute_force(seed: int) -> None:
    torch.manual_seed(seed)
    sentence_spans = [(4, 7), (7, 8), (8, 14)]
    starts, ends = torch.randn(16).double(), torch.randn(16).double()
    starts[0] = torch.randn(()) - 0.5
    for most, longest, allow in product((1, 3, 20), (1, 2, 10), (0.0, 0.7, torch.inf)):
        expected = []
        for rank, start in enumerate(starts[4:14].argsort(descending=True).add(4).tolist()):
            if rank < most and starts[start] > starts[0] - allow:
                sentence = [first <= start < behind for first, behind in sentence_spans].index(True)
                fitting = [position for position in range(start, sentence_spans[sentence][1])
                           if position - start < longest]
                expected.append((start, max(fitting, key=lambda position: ends[position]) + 1, sentence))
        found = best_spans(starts, ends, sentence_spans, most, longest=longest, allow=allow)
        assert [(one.start, one.end, one.sentence) for one in found] == expected
        for one in found:
            assert one.margin == pytest.approx(float(starts[one.start] - starts[0]))
            assert one.probability == pytest.approx(float(starts.exp()[one.start] / starts.exp().sum()))


def test_no_paragraph_no_span() -> None:
    assert best_spans(torch.randn(4), torch.randn(4), [], 3) == []


@BOTH
def test_it_stands_on_a_copy(kind: type[CogQA]) -> None:
    bert = BERT(SIZE)
    model = kind.from_pretrained(bert)
    batch = Batch.of([START], pad=0)
    same(model.encoder(batch), bert(batch))
    with torch.no_grad():
        model.encoder.embeddings.token.weight.zero_()
    assert bool(bert.embeddings.token.weight.any())
    assert type(model.reasoner) is kind.reasoner_class
    with pytest.raises(ValueError, match="labels=2: CogQA predicts hop starts"):
        CogQA.from_pretrained(bert, 2)


@BOTH
def test_it_is_saved_whole(kind: type[CogQA], tmp_path: Path) -> None:
    model = kind(CogQAConfig(ModelSpec(BERT, SIZE))).eval()
    save(tmp_path / "it", model, Tokenizer.wordpiece(["a cat"], 60), command="none", figures={})
    again, _ = load(tmp_path / "it")
    assert type(again) is kind
    batch = CognitiveBatch.of(QUESTIONS, pad=0)
    same(again.loss(batch), model.loss(batch))
