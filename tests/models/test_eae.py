"""EaE: its losses text by text, where the memory is and what it changes, padding, detection, and top-k."""

import math
from dataclasses import replace

import pytest
import torch
from entity_small import EAE, TEXTS, eae, examples, padded_left, unlabelled
from realm_small import same
from torch import Tensor

from plmlab.example import IGNORE, Batch
from plmlab.mentions import BEGIN, INSIDE, OUTSIDE
from plmlab.models.eae import EaE, EaEConfig, EaEPretraining

BATCH = Batch.of(examples(), pad=0)
NAMES = ["masked_lm", "mentions", "linking", "entity_prediction"]


def nll(logits: Tensor, target: int) -> float:
    values = logits.tolist()
    return math.log(math.fsum(math.exp(value - max(values)) for value in values)) + max(values) - values[target]


def run(model: EaEPretraining, row: int) -> tuple[Tensor, Tensor, Tensor]:
    """One text without a batch, layer by layer, with a loop over its mentions and the softmax over all entities: the
    states below the memory, after it, and at the end."""
    encoder, [batch], (text, *_) = model.encoder, [Batch.of(examples()[row:row + 1], pad=0)], TEXTS[row]
    below = encoder.embeddings(batch)
    for layer in encoder.layers[:2]:
        below = layer(below, batch.visible)
    above, vectors = below.clone(), encoder.memory.entities.weight
    for start, end in text.entities:
        query = encoder.memory.query(torch.cat([below[0, 1 + start], below[0, end]]))
        above[0, 1 + start] += encoder.memory.output((vectors @ query).softmax(0) @ vectors)
    above = encoder.memory.norm(above)
    return below[0], above[0], encoder.layers[2](above, batch.visible)[0]


@torch.no_grad()
def test_the_four_losses_text_by_text() -> None:
    model = eae().train()
    worth: dict[str, list[float]] = {name: [] for name in NAMES}
    for row, (text, links, _) in enumerate(TEXTS):
        below, above, hidden = run(model, row)
        same(model.encoder(BATCH)[row, :len(hidden)], hidden)
        same([*model.encoder.all_hidden_states(BATCH)][2][row, :len(hidden)], above)
        example, vectors = examples()[row], model.encoder.memory.entities.weight
        worth["masked_lm"] += [nll(model.token_logits(hidden[t]), int(target))
                               for t, target in enumerate(example.targets) if target != IGNORE]
        tags = ["O"] * (len(text) + 2)
        for start, end in text.entities:
            tags[1 + start:1 + end] = "B" + "I" * (end - start - 1)
        worth["mentions"] += [nll(model.encoder.mention_tags(below[t]), "OBI".index(tag)) for t, tag in enumerate(tags)]
        for (start, end), entity in zip(text.entities, links, strict=True):
            if entity != IGNORE:
                for name, layer, states in (("linking", model.encoder.memory.query, below),
                                            ("entity_prediction", model.entity_query, hidden)):
                    worth[name].append(nll(vectors @ layer(torch.cat([states[1 + start], states[end]])), entity))
    losses = model.losses(BATCH)
    other = {**BATCH.labels, "entities": BATCH.labels["entities"].clamp(max=0)}
    same(model.encoder(replace(BATCH, labels=other)), model.encoder(BATCH), 0)
    assert [*losses] == NAMES and [len(worth[name]) for name in NAMES] == [8, 40, 7, 7]
    for name, some in worth.items():
        assert float(losses[name]) == pytest.approx(math.fsum(some) / len(some), abs=1e-9), name
    assert float(model.loss(BATCH)) == pytest.approx(math.fsum(map(float, losses.values())), abs=1e-9)



def test_padding_changes_no_loss() -> None:
    """On the right, where texts differ in length, it is there already; here it is on the left too, by odd numbers."""
    model = eae()
    expected = [float(loss.detach()) for loss in model.losses(BATCH).values()]
    for count in (1, 3):
        moved = padded_left(BATCH, count)
        assert [float(loss.detach()) for loss in model.losses(moved).values()] == pytest.approx(expected, abs=1e-9)
        found, before = (model.encoder.reading(unlabelled(one)).mentions for one in (moved, BATCH))
        assert len(before) and torch.equal(found.rows, before.rows) and torch.equal(found.first, before.first + count)



@torch.no_grad()
def test_without_labels_mentions_are_detected() -> None:
    """With a tagger of fixed answers: nothing; one long mention, never one that begins with an I; every token."""
    model = eae()
    tagger = model.encoder.mention_tags
    tagger.weight.zero_()
    sizes = BATCH.padding_mask.sum(1).tolist()
    for tag in (OUTSIDE, INSIDE, BEGIN):
        tagger.bias.copy_(9 * torch.eye(3)[tag])
        mentions = model.encoder.reading(unlabelled(BATCH)).mentions
        assert mentions.rows.bincount(minlength=4).tolist() == [[0] * 4, sizes, [1] * 4][tag]
        assert mentions.last.tolist() == [[], mentions.first.tolist(), [size - 1 for size in sizes]][tag]
        assert len(model.encoder.reading(BATCH).mentions) == 8, "a label has priority"
        assert model(unlabelled(BATCH)).isfinite().all()


@torch.no_grad()
def test_training_uses_all_entities_and_inference_the_best_ones() -> None:
    model = eae()
    few, everything = model.encoder(BATCH), model.train().encoder(BATCH)
    assert not torch.allclose(few, everything)
    model.eval().encoder.config = replace(EAE, top_k=EAE.entities)
    same(model.encoder(BATCH), everything, 1e-9)


def test_gradients_reach_every_weight_but_the_pooler() -> None:
    model = eae().train()
    model.loss(BATCH).backward()
    for name, weight in model.named_parameters():
        assert ("pooler" in name) == (weight.grad is None), name
    assert model.encoder.memory.entities.weight.grad.abs().sum(1).all()
    model.zero_grad()
    model.losses(BATCH)["masked_lm"].backward()
    assert model.encoder.memory.entities.weight.grad.abs().sum(1).all(), "through the memory, without a link"
    assert model.encoder.mention_tags.weight.grad is None


def test_texts_without_mentions_or_links_have_finite_losses() -> None:
    model = eae().train()
    for labels in ({"mentions": torch.zeros_like(BATCH.targets)}, {"entities": torch.full_like(BATCH.targets, IGNORE)}):
        batch = replace(BATCH, labels={**BATCH.labels, **labels})
        losses = model.losses(batch)
        assert losses["linking"] == losses["entity_prediction"] == 0
        model.loss(batch).backward()
        assert all(weight.grad is None or weight.grad.isfinite().all() for weight in model.parameters())
    with pytest.raises(ValueError, match="no label 'mentions'"):
        model.loss(unlabelled(BATCH))


def test_sizes() -> None:
    """The paper states 367 million parameters."""
    with torch.device("meta"):
        model = EaEPretraining(EaEConfig.base())
    assert round(sum(weight.numel() for weight in model.parameters()) / 1e6) == 367
    for after in (0, 4):
        with pytest.raises(ValueError, match="one of the 3 layers"):
            EaE(replace(EAE, memory_after=after))
