"""What the arms of chapter 16 are given to learn from."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
import torch
from tiny_realm import scattered, tiny

from plmlab.chapters.ch16 import arms
from plmlab.chapters.ch16.training import (
    Arm,
    RetrievalBatches,
    TrainingSet,
    random_span,
    random_tokens,
    recall,
    salient_span,
)
from plmlab.draws import randint
from plmlab.example import Batch
from plmlab.models.realm import REALM, TokenREALM
from plmlab.models.retrieve_and_read import RetrieveAndRead
from plmlab.objectives.reader_inputs import query_input
from plmlab.world.datasets.fact_documents import TEST_WORLDS
from plmlab.world.datasets.tokenizer import world_tokenizer


def lesson(world: int = TEST_WORLDS[0]) -> TrainingSet:
    return TrainingSet.of(world)


def retrieve_batch(model: REALM, arm: Arm, every: int = 2) -> RetrievalBatches:
    return RetrievalBatches(model, lambda turn: lesson(TEST_WORLDS[turn % 2]), arm, seed=0, batch=6, every=every)


def test_what_is_hidden() -> None:
    rng, sizes = Random(0), Counter[int]()
    for one in lesson().statements[:200]:
        span, tokens = random_span(one, rng), random_tokens(one, rng)
        assert salient_span(one, rng) == one.salient and len(span) == len(one.salient)
        assert span == tuple(range(span[0], span[0] + len(span))) and span[-1] < len(one.tokens)
        assert len({*tokens}) == len(tokens) == max(1, round(0.15 * len(one.tokens)))
        sizes[span[0]] += 1
    assert len(sizes) > 5


def test_the_source_is_never_looked_up_unless_the_arm_says_so() -> None:
    some = [replace(one, source=3) for one in lesson().quoted[:5]]
    few = TrainingSet(lesson().blocks[:8], some, some)
    for excluded in (True, False):
        batches = RetrievalBatches(tiny(), lambda turn: few, Arm(excluded=excluded), seed=0, batch=4, every=9, top_k=8)
        sizes = batches(0).retrieved.doc_mask.sum(1)
        assert (sizes == (8 if excluded else 9)).all(), "the null document, and all of eight but for the source"


def test_what_is_quoted_is_some_of_the_statements() -> None:
    some = lesson()
    assert some.quoted == [one for one in some.statements if one.source is not None]
    assert arms.ARMS["quoted statements only"].drawn(some) is some.quoted and Arm().drawn(some) is some.statements
    wanted = TrainingSet.of(TEST_WORLDS[0], lambda one: one.cloze.split == "test")
    assert {one.cloze.split for one in (*wanted.statements, *wanted.quoted)} == {"test"} and wanted.quoted


@pytest.mark.parametrize("null", [True, False])
def test_the_null_document_is_the_first(null: bool) -> None:
    batch = retrieve_batch(tiny(), Arm(null=null))(0)
    empty = (batch.documents.tokens != 0).sum(1) == 3
    rows = torch.searchsorted(batch.retrieved.documents, batch.retrieved.numbers)
    assert rows.shape == (6, 4 + null) and empty[rows[:, 0]].tolist() == [null] * 6 and not empty[rows[:, 1:]].any()


def test_worlds_come_in_turn_and_a_step_is_always_the_same() -> None:
    batches = retrieve_batch(tiny(), Arm())
    steps = [batches(step) for step in range(5)]
    again = retrieve_batch(tiny(), Arm())
    for step in (4, 0, 3):
        assert torch.equal(again(step).reader_inputs.tokens, steps[step].reader_inputs.tokens)
    assert batches.training_set.blocks == lesson(TEST_WORLDS[0]).blocks
    assert again.training_set.blocks == lesson(TEST_WORLDS[1]).blocks


def test_a_stale_index_has_the_vectors_of_the_beginning() -> None:
    for fresh in (True, False):
        model = tiny()
        batches = retrieve_batch(model, Arm(fresh=fresh))
        first = RetrieveAndRead.of(model, world_tokenizer(), lesson().blocks[:3]).corpus.index.vectors([0, 1, 2])
        with torch.no_grad():
            for weight in model.embedder.projection.parameters():
                weight.add_(torch.randn_like(weight))
        batches(0)
        kept = batches.lookup.corpus.index.vectors([0, 1, 2])
        assert torch.allclose(kept, first, atol=1e-5) != fresh


def test_it_is_left_in_the_mode_in_which_it_was() -> None:
    model = tiny().train()
    retrieve_batch(model, Arm())(0)
    assert model.training


def test_what_is_trained_on_is_the_best_first() -> None:
    """By brute force: the documents of a batch are those with the largest inner products, in this order."""
    model, some = scattered(), lesson()
    batches = RetrievalBatches(model, lambda turn: some, Arm(null=False), seed=0, batch=12, every=9)
    numbers = batches(0).retrieved.numbers
    every = [*range(len(some.blocks))]
    vectors, clear = batches.lookup.corpus.index.vectors(every), 0
    rng = Random("0:0")
    drawn = [some.statements[randint(rng, len(some.statements))] for _ in range(12)]
    for row, one in zip(numbers.tolist(), drawn, strict=True):
        query = Batch.of([query_input(one.tokens, one.salient, batches.lookup.tokenizer.vocab)], pad=0)
        with torch.no_grad():
            scores = vectors @ model.embedder(query)[0]
        best = sorted((number for number in every if number != one.source), key=scores.__getitem__, reverse=True)[:5]
        if scores[best].diff().abs().min() > 1e-3:
            clear += 1
            assert row == best[:4]
    assert clear > 6


def test_the_curve_is_of_all_test_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    share = dict(zip(TEST_WORLDS, (0.1, 0.2, 0.6), strict=True))
    monkeypatch.setattr(arms, "with_corpus", lambda model, world: world)
    monkeypatch.setattr(arms, "recall", lambda world, some: share[world] if len(some) == arms.TEST_SIZE // 3 else None)
    assert arms.test_set_recall(tiny()) == pytest.approx(0.3)


def test_recall_by_hand() -> None:
    """Counted by brute force, on statements whose last document is ahead of the next by more than rounding."""
    lookup, most = RetrieveAndRead.of(scattered(), world_tokenizer(), lesson().blocks), 60
    numbers = [*lookup.corpus.documents]
    clear, told = [], []
    for one in lesson().statements[:40]:
        query = Batch.of([query_input(one.tokens, one.salient, lookup.tokenizer.vocab)], pad=0)
        with torch.no_grad():
            scores = lookup.corpus.index.vectors(numbers) @ lookup.model.embedder(query)[0]
        others = [place for place, number in enumerate(numbers) if number != one.source]
        best = sorted(others, key=scores.__getitem__, reverse=True)
        if scores[best[most - 1]] - scores[best[most]] > 1e-3:
            clear.append(one)
            told.append(any(numbers[place] in one.tell for place in best[:most]))
    assert len(clear) > 20 and {*told} == {True, False}
    assert recall(lookup, clear, most) == sum(told) / len(told)
    assert recall(lookup, clear, len(numbers)) == 1


def test_arms_differ_from_realm_in_one_thing_each() -> None:
    """And the last one from the one before it."""
    for name, arm in arms.ARMS.items():
        other = arms.ARMS["quoted statements only" if "source" in name else arms.FULL]
        assert sum(vars(other)[key] != value for key, value in vars(arm).items()) == (name != arms.FULL)


def test_an_arm_begins_where_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    start, cold = tiny(1), tiny(2).embedder
    monkeypatch.setattr(arms, "warm_started", lambda: start)
    monkeypatch.setattr(arms, "untrained_embedder", lambda: cold)
    for name, arm in arms.ARMS.items():
        initialized = arms.initialized(name)
        assert type(initialized) is (TokenREALM if name == "a token at a time" else REALM)
        expected = start.embedder if arm.warm else cold
        assert torch.equal(initialized.embedder.projection.weight, expected.projection.weight)
        assert torch.equal(initialized.reader.transform.weight, start.reader.transform.weight)


def test_outcomes_by_hand() -> None:
    lookup, some = RetrieveAndRead.of(tiny(), world_tokenizer(), lesson().blocks), lesson().statements[:12]
    for one, reading in zip(some, arms.answer_queries(lookup, some, null=True), strict=True):
        told = arms.outcome(one, reading, True)
        true = reading.answers.index(one.answer)
        assert told["right"] == float(reading.answers[0] == one.answer)
        assert told["first"] == float(reading.numbers[1] in one.tell)
        assert told["among four"] == float(any(number in one.tell for number in reading.numbers))
        p = sum(float(reading.priors[z] * reading.likelihoods[z, true]) for z in range(5))
        assert told["loss"] == pytest.approx(-torch.tensor(p).log().item(), rel=1e-4)
        assert told["utility"] == pytest.approx(-told["loss"] - float(reading.likelihoods[0, true].log()), rel=1e-4)
