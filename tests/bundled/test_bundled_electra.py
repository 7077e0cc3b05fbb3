"""The bundled ELECTRA tells replaced tokens from original ones as its README states."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from readmes import stated
from torch.nn import functional as F

from plmlab import world
from plmlab.checkpoints import home, load
from plmlab.example import IGNORE
from plmlab.models.electra import ELECTRA, replace_tokens, rtd_input, sample
from plmlab.pretraining.material import WORLD_HELD_OUT
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import build_world_tokenizer

NAME, BATCH, TOLERANCE = "electra-world", 32, 0.02
"""The samples of the generator differ between versions of torch, hence the ``TOLERANCE``."""
FIGURES = {"generator": "held-out loss of the generator", "replaced": "fraction of replaced tokens",
           "loss": "held-out loss of the discriminator", "constant": "loss of a constant prediction",
           "auc": "AUC of replaced tokens", "f1": "F1 of replaced tokens"}
"""Figure → how its row in the README begins."""


@torch.no_grad()
def figures(model: Any, batches: Callable[[int], Any], count: int) -> dict[str, float]:
    """The `FIGURES` of an ELECTRA on batches: losses in nats, per target of the generator and per real token of the
    discriminator; AUC and F1 of the replaced tokens, with a replaced token predicted where its probability exceeds
    ½."""
    torch.manual_seed(1)
    losses, logits, labels = [], [], []
    for i in range(count):
        batch = batches(i)
        is_target = batch.targets != IGNORE
        told = model.generator.token_logits(model.generator.encoder(batch)[is_target])
        losses.append(F.cross_entropy(told, batch.targets[is_target], reduction="none"))
        corrupted, replaced = replace_tokens(batch, sample(told))
        logits.append(model(corrupted)[batch.padding_mask])
        labels.append(replaced[batch.padding_mask])
    x, y = torch.cat(logits), torch.cat(labels)
    rate, found = y.double().mean(), x > 0
    return {"generator": float(torch.cat(losses).mean()), "replaced": float(rate),
            "loss": float(F.binary_cross_entropy_with_logits(x, y.float())),
            "constant": float(F.binary_cross_entropy(rate, rate)), "auc": auc(x, y),
            "f1": float(2 * (found & y).sum() / (found.sum() + y.sum()))}


def auc(scores: torch.Tensor, labels: torch.Tensor) -> float:
    """The probability that a random positive has a higher score than a random negative; ties count half."""
    below = torch.searchsorted(negatives := scores[~labels].sort().values, positives := scores[labels])
    upto = torch.searchsorted(negatives, positives, right=True)
    return float((below + upto).double().mean() / 2 / len(negatives))


def held_out(tokenizer: Any, batch: int) -> Callable[[int], Any]:
    """Batches of the test sentences, as in pretraining."""
    return sentence_batches(world.full(), "test", tokenizer, rtd_input, batch, seed=1)


def test_auc_counts_pairs() -> None:
    scores, labels = torch.tensor([0.1, 0.4, 0.4, 0.8]), torch.tensor([False, True, False, True])
    assert auc(scores, labels) == pytest.approx(3.5 / 4)


@pytest.mark.bundled
@pytest.mark.parametrize("name", [NAME])
def test_an_electra_tells_replaced_tokens_as_its_readme_tells(name: str) -> None:
    model, tokenizer = load(name)
    found = figures(model, held_out(tokenizer, BATCH), -(-WORLD_HELD_OUT // BATCH))
    for figure, row in FIGURES.items():
        assert found[figure] == pytest.approx(stated(name, row), rel=TOLERANCE), figure
    assert found["loss"] < 0.9 * found["constant"] and found["auc"] > 0.8


@pytest.mark.parametrize("name", [NAME])
def test_ten_sentences_have_their_loss(name: str, same_ten: Callable[[str, float], None]) -> None:
    """The generator's loss and the discriminator's with samples that are the most probable tokens: nothing is drawn."""
    model, tokenizer = load(name)
    batch = held_out(tokenizer, 10)(0)
    is_target = batch.targets != IGNORE
    with torch.no_grad():
        told = model.generator.token_logits(model.generator.encoder(batch)[is_target])
        loss = model.discriminator.replaced_token_loss(*replace_tokens(batch, told.argmax(-1)))
        same_ten(name, float(F.cross_entropy(told, batch.targets[is_target]) + loss))


@pytest.mark.parametrize("name", [NAME])
def test_both_networks_are_in_four_megabytes(name: str) -> None:
    model, tokenizer = load(name)
    assert sum(path.stat().st_size for path in (home() / name).iterdir()) < 4e6
    assert type(model.encoder) is ELECTRA and model.encoder is model.discriminator.encoder
    assert model.generator.encoder.embeddings.token is model.encoder.embeddings.token
    assert tokenizer.fingerprint == build_world_tokenizer(world.full(), ["english"]).fingerprint
