"""What a CogQA learns from: the same batch for a step, all kinds, nothing to choose by; and that it learns."""

from statistics import fmean

import pytest
import torch

from plmlab.chapters.ch14 import training
from plmlab.chapters.ch14.answering import answer_question
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.cogqa import CogQA
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch14 import learning


@pytest.mark.parametrize("kind", sorted(set(training.KINDS)))
def test_no_question_to_choose_by_is_learned_from(kind: str) -> None:
    known, kept = ([(one.words, one.facts) for one in some(kind)]
                   for some in (training.training_rows, training.development))
    assert len(kept) == training.DEVELOPMENT and len(known) > 1000
    assert not set(kept) & set(known)
    if kind == "comparison":
        assert len(known) % 2 == 0, "twins stay together"


def test_a_step_has_always_the_same_batch() -> None:
    drawn, again = [learning.batches(3, 192)(step) for step in (7, 8, 9)], learning.batches(3, 192)(7)
    assert torch.equal(drawn[0].reading.tokens, again.reading.tokens) and torch.equal(drawn[0].edges, again.edges)
    assert not torch.equal(drawn[0].reading.tokens[:2, :9], drawn[1].reading.tokens[:2, :9])
    kinds = {"special": 0, "either": 0, "yes": 0}
    for batch in drawn:
        found = len(batch.answers), len(batch.either_or), len(batch.yes_no)
        assert sum(found) == learning.BATCH == int(batch.question[-1]) + 1
        for kind, count in zip(kinds, found, strict=True):
            kinds[kind] += count
        assert bool((batch.edges.sum(0)[batch.answers] > 0).all()), "an answer was found somewhere"
    assert 0.25 < kinds["special"] / 96 < 0.5 and min(kinds.values()) > 10


def test_without_clues_the_same_questions_are_read_without_them() -> None:
    told, bare = learning.batches(3, 192)(0), learning.batches(3, 192, clues=False)(0)
    assert torch.equal(told.edges, bare.edges) and torch.equal(told.question, bare.question)
    sep = world_tokenizer().vocab.need("sep")
    assert bool((bare.reading.tokens == sep).sum(1).le(2).all())
    assert bool((told.reading.tokens == sep).sum(1).gt(2).any())
    start = ~told.edges.any(0)
    assert torch.equal(told.reading.padding_mask[start].sum(1), bare.reading.padding_mask[start].sum(1))


@pytest.mark.usefixtures("one_thread")
def test_both_systems_learn_a_few_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """By heart, end to end: the graph that grows by what was learned gives their answers and their sentences."""
    few = {kind: training.training_rows(kind)[:count] for kind,
           count in (("bridge", 1), ("one-hop", 1), ("comparison", 2))}
    monkeypatch.setattr(learning, "training_rows", few.__getitem__)
    monkeypatch.setattr(learning, "BATCH", 4)
    torch.manual_seed(0)
    model = CogQA.from_pretrained(BERT(BERTConfig(len(world_tokenizer()), 192, 1, 32, 2, 64, dropout=0.0,
                                                  attention_dropout=0.0)))
    learning.learn(model, 60, 1e-2, 0, show=False)
    told = training.pages("train")
    found = [answer_question(model, told, one) for some in few.values() for one in some]
    assert fmean(one.answer.exact for one in found) > 0.8 and fmean(one.supporting.f1 for one in found) > 0.8
