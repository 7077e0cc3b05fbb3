"""Frozen features: the curve is that of training on features made beforehand, and nothing else has moved."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from plmlab.example import Batch
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.task_heads import SentenceClassifier, TokenClassifier
from plmlab.objectives import sequence_classification, token_classification
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import all_but, fit, frozen

VOCAB = Vocabulary(60)
BATCHES = [Batch.of([sequence_classification(list(range(40 + i, 44 + i + n)), n % 2, vocab=VOCAB) for n in range(4)],
                    pad=0)
           for i in range(3)]


def pretrained() -> BERT:
    """Its attention drops out half of its weights in training: features would differ each time."""
    torch.manual_seed(2)
    bert = BERT(BERTConfig(60, time=20, layers=2, model=12, heads=3, inner=20, dropout=0.0, attention_dropout=0.5))
    for parameter in bert.parameters():
        nn.init.normal_(parameter, std=0.3)
    return bert


def test_the_curve_is_that_of_one_layer_on_features_made_beforehand() -> None:
    model = SentenceClassifier.from_pretrained(pretrained().eval())
    layer = nn.Linear(12, 2)
    layer.load_state_dict(model.output.state_dict())
    with torch.no_grad():
        features = [model.encoder.pool(model.encoder(batch)) for batch in BATCHES]
    with frozen(model.encoder):
        history = fit(model, BATCHES, steps=20, lr=0.3, decay="none", clip=None, weight_decay=0.0, show=False)
    optimizer = torch.optim.AdamW(layer.parameters(), lr=0.3, betas=(0.9, 0.95), weight_decay=0.0)
    losses = []
    for step in range(20):
        loss = F.cross_entropy(layer(features[step % 3]), BATCHES[step % 3].labels["class"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert history.losses == pytest.approx(losses, abs=1e-5)
    assert min(losses) < losses[0] - 0.02


def test_only_the_rest_moves_and_afterwards_everything_can() -> None:
    model = TokenClassifier.from_pretrained(pretrained())
    batch = Batch.of([token_classification([40, 41, 42], [0, 1, 1], vocab=VOCAB)], pad=0)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}

    def moved() -> set[str]:
        return {name for name, tensor in model.state_dict().items() if not torch.equal(tensor, before[name])}

    with frozen(model.encoder):
        fit(model, [batch], steps=3, lr=0.01, show=False)
        assert moved() == {"output.weight", "output.bias"}
    assert all(parameter.requires_grad for parameter in model.parameters())
    model.train()
    assert model.encoder.layers[0].training
    fit(model, [batch], steps=1, lr=0.01, show=False)
    assert {"encoder.layers.0.attention.q.weight", "encoder.embeddings.token.weight"} <= moved()


def test_some_layers_and_what_was_frozen_before_stays_so() -> None:
    """The lower layers as features; a weight that was frozen by hand is not thawed."""
    model = TokenClassifier.from_pretrained(pretrained())
    batch = Batch.of([token_classification([40, 41, 42], [0, 1, 1], vocab=VOCAB)], pad=0)
    model.encoder.embeddings.position.weight.requires_grad_(False)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    with frozen(model.encoder.embeddings, model.encoder.layers[0]), frozen(model.encoder.layers[0]):
        assert not model.train().encoder.layers[0].training and model.encoder.layers[1].training
        fit(model, [batch], steps=2, lr=0.01, show=False)
    still = {name for name, tensor in model.state_dict().items() if torch.equal(tensor, before[name])}
    frozen_parts = ("encoder.embeddings.", "encoder.layers.0.", "encoder.pooler.")
    assert still == {name for name in before if name.startswith(frozen_parts)}
    assert not model.encoder.embeddings.position.weight.requires_grad
    assert model.encoder.embeddings.token.weight.requires_grad


def test_an_error_thaws_too() -> None:
    model = TokenClassifier.from_pretrained(pretrained())
    with pytest.raises(RuntimeError), frozen(model.encoder):
        raise RuntimeError
    assert all(parameter.requires_grad for parameter in model.parameters()) and model.train().encoder.training


def test_nothing_left_to_train_is_said() -> None:
    model = TokenClassifier.from_pretrained(pretrained())
    with frozen(model), pytest.raises(ValueError, match="has nothing to train"):
        fit(model, [Batch.of([token_classification([40], [0], vocab=VOCAB)], pad=0)], steps=1, lr=0.01, show=False)


def test_everything_but_one_part() -> None:
    first, inner, last = nn.Linear(2, 2), nn.Linear(2, 3), nn.Linear(3, 2)
    block = nn.Sequential(inner, nn.ReLU(), last)
    model = nn.Sequential(first, block)
    assert [*all_but(model, inner)] == [first, block[1], last] and [*all_but(model, block)] == [first]
    with frozen(*all_but(model, inner)):
        assert [weight.requires_grad for weight in model.parameters()] == [False, False, True, True, False, False]
