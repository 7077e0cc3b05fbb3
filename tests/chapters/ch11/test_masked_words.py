"""Masked words: the test set, and a model with the exact posterior, which has the exact losses."""

from collections.abc import Sequence
from math import log

import pytest
import torch
from torch import Tensor, nn

from plmlab import world
from plmlab.chapters.ch11 import arms, masked_words
from plmlab.chapters.ch11.masked_words import (
    IN_PERMUTATION,
    INDEPENDENT,
    KINDS,
    SEQUENTIAL,
    MaskedWords,
    exact,
    examples,
    nats,
    prediction_orders,
    ungrammatical,
)
from plmlab.example import IGNORE, Batch
from plmlab.world.datasets.tokenizer import small_world_tokenizer


class ExactModel(nn.Module):
    """The exact posterior at each target, given the visible words, including those targets that its query stream
    attends to."""

    def forward(self, batch: Batch) -> Tensor:
        vocab, time = small_world_tokenizer().vocab, batch.size[1]
        logits = torch.full((*batch.size, len(small_world_tokenizer())), -1e9)
        attn_mask = (batch.query_stream_mask or batch.visible).dense(time, time)
        for row, tokens in enumerate(batch.tokens.tolist()):
            places = batch.position_ids[row % len(batch.position_ids), 0].tolist()
            targets = [position for position, target in enumerate(batch.targets[row].tolist()) if target != IGNORE]
            first = int(tokens[0] == vocab.cls)
            length = places[tokens.index(vocab.sep)] - first
            for position in targets:
                seen = [key for key in range(time) if attn_mask is None or attn_mask[row, 0, position, key]]
                known = {places[key] - first: tokens[key] for key in seen if tokens[key] not in vocab.special}
                words = [small_world_tokenizer().tokens([known.get(place, 0)])[0] for place in range(length)]
                missing = [place for place in range(length) if place not in known]
                beliefs = dict(zip(missing, world.small().posterior(words, missing, "test"), strict=True))
                for word, p in beliefs[places[position] - first].items():
                    logits[row, position, small_world_tokenizer().encode(word, plain=True)[0]] = log(p)
        return logits


@pytest.mark.parametrize("kind", KINDS)
def test_the_test_set_of_a_kind(kind: str) -> None:
    test_set = examples(kind)
    assert len({example.words for example in test_set}) == len(test_set) >= 90
    assert masked_words.fraction_in_training(kind) > 0.9
    for example in test_set:
        assert len(example.masked) == (1 if kind == "single word" else 2)
        assert example.masked == tuple(sorted(example.masked))
        if kind in ("name", "adjacent words"):
            assert example.masked[1] - example.masked[0] == 1
    if kind == "name":
        assert all(example.words[position][0].isupper() for example in test_set for position in example.masked)


def test_the_independence_bound_and_the_joint_floor_by_hand() -> None:
    """The number of a noun and its verb must agree, so that half of the independent samples are wrong."""
    example = next(example for example in examples("noun and verb") if len(example.words) == 4)
    joint = world.small().joint(list(example.words), example.masked, "test")
    true = tuple(example.words[position] for position in example.masked)
    left = sum(p for said, p in joint.items() if said[0] == true[0])
    right = sum(p for said, p in joint.items() if said[1] == true[1])
    found = exact(example)
    assert found.joint == pytest.approx(-log(joint[true])) and found.independent == pytest.approx(-log(left * right))
    ones = {said: sum(p for other, p in joint.items() if other[0] == said) for said in {a for a, _ in joint}}
    others = {said: sum(p for other, p in joint.items() if other[1] == said) for said in {b for _, b in joint}}
    assert found.ungrammatical == pytest.approx(sum(p * q for a, p in ones.items() for b, q in others.items()
                                                 if (a, b) not in joint))
    assert exact(examples("single word")[0]).ungrammatical == pytest.approx(0)


@pytest.mark.parametrize("name", ["BERT", "XLNet's network, masked LM (80/10/10)", "MPNet",
                                  "MPNet's network, permutation LM", "XLNet"])
@pytest.mark.parametrize("kind", ["single word", "name", "noun and verb"])
def test_the_exact_posterior_has_the_exact_loss(name: str, kind: str) -> None:
    """Sequentially the joint floor, in either order; independently the independence bound. Its sequential samples are
    all sentences."""
    arm, test_set, exact_model = arms.ARMS[name], examples(kind)[:12], ExactModel()
    losses = [exact(example).joint if arm.sequential else exact(example).independent for example in test_set]
    for i in range(len(prediction_orders(test_set[0]))):
        got = nats(arm, exact_model, [(example, prediction_orders(example)[i]) for example in test_set])
        assert got.sum(1).tolist() == pytest.approx(losses, abs=1e-4)
    if kind == "noun and verb":
        wrong = ungrammatical(arm, exact_model, test_set * 4, IN_PERMUTATION if arm.sequential else INDEPENDENT)
        assert wrong == 0 if arm.sequential else 0.2 < wrong < 0.8


@pytest.mark.parametrize("kind", ["name", "noun and verb"])
def test_the_exact_posterior_queried_sequentially_has_the_joint_loss(kind: str) -> None:
    """The second word is predicted with the first one visible."""
    bert, test_set, exact_model = arms.ARMS["BERT"], examples(kind)[:12], ExactModel()
    for i in (0, 1):
        queries = [(example, prediction_orders(example)[i]) for example in test_set]
        sequential = nats(bert, exact_model, queries, SEQUENTIAL)
        assert sequential.sum(1).tolist() == pytest.approx([exact(example).joint for example in test_set], abs=1e-4)
        independent = nats(bert, exact_model, queries)
        second = nats(bert, exact_model, [(example, order[1:]) for example, order in queries])
        assert torch.equal(sequential, torch.cat([independent[:, :1], second], 1))
    assert ungrammatical(bert, exact_model, test_set * 4, SEQUENTIAL) == 0


def test_random_words_form_no_sentence() -> None:
    class Uniform(nn.Module):
        def forward(self, batch: Batch) -> Tensor:
            return torch.zeros(*batch.size, len(small_world_tokenizer()))
    assert ungrammatical(arms.ARMS["XLNet"], Uniform(), examples("name")[:30], IN_PERMUTATION) > 0.9


def test_a_variant_is_evaluated_with_its_saved_weights(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    few: dict[str, Sequence[MaskedWords]] = {kind: examples(kind)[:6] for kind in KINDS}
    monkeypatch.setattr(masked_words, "examples", lambda kind, source: few[kind])
    monkeypatch.setattr(arms, "EVAL_BATCHES", 1)
    arms.evaluation_batches.cache_clear()
    arms.train_and_save(str(tmp_path), "MPNet", 2, 1e-3, 0)
    told = masked_words.evaluate_saved(str(tmp_path), "MPNet", 2, 0)
    model = arms.load_trained(str(tmp_path), "MPNet", 2, 0)
    arms.evaluation_batches.cache_clear()
    one = few["name"]
    both = [nats(arms.ARMS["MPNet"], model, [(example, prediction_orders(example)[i]) for example in one]).sum(1)
            for i in (0, 1)]
    assert told["name"]["nats"] == pytest.approx(float((both[0] + both[1]).mean() / 2))
    assert told["name"]["disagreement"] == pytest.approx(float((both[0] - both[1]).abs().mean()))
    assert set(told["single word"]) == {"nats"} and told["adjacent words"]["ungrammatical"] > 0.5
