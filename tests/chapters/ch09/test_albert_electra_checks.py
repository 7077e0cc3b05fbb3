"""The checks accept the right code, and each wrong version fails one of them."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.chapters.ch09 import albert_electra_checks as checks
from plmlab.example import IGNORE, Batch

pytestmark = pytest.mark.usefixtures("one_thread")


class Mini(nn.Module):
    """The notebook's ALBERT; a subclass makes one mistake."""

    def __init__(self, vocab: int, E: int, H: int, heads: int, inner: int, layers: int) -> None:
        super().__init__()
        self.token, self.position, self.segment = (nn.Embedding(rows, E) for rows in (vocab, 512, 2))
        self.norm, self.project, self.layers = nn.LayerNorm(E, 1e-12), nn.Linear(E, H), layers
        self.layer = nn.TransformerEncoderLayer(H, heads, inner, 0.0, partial(F.gelu, approximate="tanh"), 1e-12,
                                                batch_first=True)

    def stack(self) -> list[nn.Module]:
        return [self.layer] * self.layers

    def forward(self, tokens: Tensor, segments: Tensor, padding: Tensor) -> Tensor:
        x = self.token(tokens) + self.position(torch.arange(tokens.shape[1])) + self.segment(segments)
        x = self.project(self.norm(x))
        for layer in self.stack():
            x = layer(x, src_key_padding_mask=padding)
        return x


class EqualButNotOne(Mini):
    """Layers with equal weights, copied when the model is first used and not counted."""

    def stack(self) -> list[nn.Module]:
        if "copies" not in self.__dict__:
            self.__dict__["copies"] = [deepcopy(self.layer) for _ in range(self.layers)]
        return self.__dict__["copies"]


class OwnLayers(Mini):
    """A layer for each depth."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.more = nn.ModuleList(deepcopy(self.layer) for _ in range(self.layers - 1))

    def stack(self) -> list[nn.Module]:
        return [self.layer, *self.more]


class WidePositions(Mini):
    """Positions of width H."""

    def __init__(self, vocab: int, E: int, H: int, *sizes: int) -> None:
        super().__init__(vocab, E, H, *sizes)
        self.position = nn.Embedding(512, H)


class NoProjection(Mini):
    """Embeddings that are not projected."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.project = nn.Identity()


def test_the_right_albert_passes() -> None:
    assert len(checks.albert(Mini)) == 5 and all(checks.albert(Mini).values())


@pytest.mark.parametrize("wrong", [EqualButNotOne, OwnLayers, WidePositions, NoProjection])
def test_a_wrong_albert_fails(wrong: type[Mini]) -> None:
    assert not all(checks.albert(wrong).values())


def loss(generator: Callable, discriminator: Callable, batch: Batch, mistake: str = "") -> Tensor:
    """The notebook's loss of ELECTRA, or one with a mistake."""
    selected, real = batch.targets != IGNORE, batch.padding_mask
    logits = generator(batch)[selected]
    samples = torch.multinomial(logits.detach().softmax(-1), 1)[:, 0]
    right = samples == batch.targets[selected]
    if mistake == "correct samples are replaced":
        right = torch.zeros_like(right)
    replaced = selected.masked_scatter(selected, ~right)
    tokens = batch.tokens if mistake == "[MASK]" else batch.tokens.masked_scatter(selected, samples)
    counted = {"selected only": selected, "padding": torch.ones_like(real)}.get(mistake, real)
    judged = discriminator(replace(batch, tokens=tokens))
    disc = F.binary_cross_entropy_with_logits(judged[counted], replaced[counted].float())
    if mistake == "gradient through the samples":
        chosen = logits.softmax(-1).gather(1, samples[:, None])
        disc = disc + disc.detach() * (chosen - chosen.detach()).sum()
    return F.cross_entropy(logits, batch.targets[selected]) + (1 if mistake == "λ = 1" else 50) * disc


def test_the_right_loss_passes() -> None:
    assert len(checks.electra(loss)) == 6 and all(checks.electra(loss).values())


@pytest.mark.parametrize("mistake", ["correct samples are replaced", "[MASK]", "selected only", "padding",
                                     "gradient through the samples", "λ = 1"])
def test_a_wrong_loss_fails(mistake: str) -> None:
    assert not all(checks.electra(partial(loss, mistake=mistake)).values())


def test_copied_embeddings_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    model = checks.small_electra()
    model.generator.encoder.embeddings.token = deepcopy(model.encoder.embeddings.token)
    monkeypatch.setattr(checks, "small_electra", lambda: model)
    assert not checks.electra(loss)["embeddings shared, not copied"]


def test_the_discriminators_loss_reaches_only_what_is_its_own_or_shared() -> None:
    assert checks.reached_weights() == {"the generator's own weights": (25, 0), "shared embeddings": (5, 5),
                                        "the discriminator's other weights": (22, 20)}
