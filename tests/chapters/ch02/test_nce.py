"""The two gradients of chapter 02's NCE section, beside autograd's."""

import pytest
import torch

from plmlab.chapters.ch02.factorisation import PairLoss, pair_loss
from plmlab.chapters.ch02.nce import angle, loss_gradients, softmax_summary


def drawn(words: int = 6) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Scores, true probabilities with zeros among them, and noise."""
    rng = torch.Generator().manual_seed(1)
    scores = torch.randn(words, words, generator=rng, dtype=torch.float64)
    given = torch.rand(words, words, generator=rng, dtype=torch.float64)
    given *= torch.rand(words, words, generator=rng) > 0.4
    given += torch.eye(words, dtype=torch.float64)
    noise = torch.rand(words, generator=rng, dtype=torch.float64)
    return scores, given / given.sum(-1, keepdim=True), noise / noise.sum()


@pytest.mark.parametrize("k", [1, 7])
def test_both_are_autograds(k: int) -> None:
    scores, given, noise = drawn()
    scores.requires_grad_()
    likelihood = (given * scores.log_softmax(-1)).sum()
    u = scores.exp()
    nce = (given * (u / (u + k * noise)).log() + k * noise * (k * noise / (u + k * noise)).log()).sum()
    expected = [torch.autograd.grad(value, scores, retain_graph=True)[0] for value in (likelihood, nce)]
    for found, wanted in zip(loss_gradients(scores.detach(), given, noise, k), expected, strict=True):
        assert torch.allclose(found, wanted, atol=1e-12)


def test_a_factor_before_the_sum_is_another_gradient() -> None:
    scores, given, noise = drawn()
    own, one = (loss_gradients(scores, given, noise, 1, factor)[1] for factor in ("per word", "mean over words"))
    assert not torch.allclose(own, one, atol=1e-2)
    ratio = one / (given - scores.exp())
    assert torch.allclose(ratio, ratio[:, :1].expand_as(ratio))


def test_the_angle_by_autograd_through_the_vectors() -> None:
    loss = pair_loss("small")
    rng = torch.Generator().manual_seed(3)
    words, contexts = (torch.randn(len(loss.words), 4, generator=rng, dtype=torch.float64) * 0.5 for _ in "wc")
    words.requires_grad_()
    contexts.requires_grad_()
    chance, noise, k = loss.joint.sum(1, keepdim=True), loss.negative[0] / loss.negative[0].sum(), 5
    given = loss.joint / chance
    raw = words @ contexts.T
    scores = raw - raw.detach().logsumexp(-1, keepdim=True)
    u = scores.exp()
    likelihood = (chance * given * scores.log_softmax(-1)).sum()
    nce = (chance * (given * (u / (u + k * noise)).log() + k * noise * (k * noise / (u + k * noise)).log())).sum()
    both = [torch.autograd.grad(value, (words, contexts), retain_graph=True) for value in (likelihood, nce)]
    one, other = (torch.cat([part.flatten() for part in found]) for found in both)
    degrees = torch.rad2deg(torch.arccos(one @ other / one.norm() / other.norm())).item()
    assert angle(loss, 4, k, seed=3) == pytest.approx(degrees, abs=1e-6)


def test_where_the_model_is_right_no_gradient_is_left() -> None:
    loss = pair_loss("small")
    dense = PairLoss(loss.words, loss.joint + 1e-4, loss.negative)
    given = dense.joint / dense.joint.sum(1, keepdim=True)
    noise = loss.negative[0] / loss.negative[0].sum()
    for found in loss_gradients(given.log(), given, noise, 5):
        assert found.abs().max() < 1e-12


def test_true_probabilities_sum_to_one_and_have_the_conditional_entropy() -> None:
    loss = pair_loss("small")
    dense = PairLoss(loss.words, (loss.joint + 1e-4) / (loss.joint + 1e-4).sum(), loss.negative)
    given = dense.joint / dense.joint.sum(1, keepdim=True)
    entropy = float(-(dense.joint * given.log()).sum())
    assert softmax_summary(dense, given.log()) == pytest.approx((1, entropy))
    assert softmax_summary(dense, given.log() + torch.tensor(5.0).log()) == pytest.approx((5, entropy))
    assert softmax_summary(dense, torch.zeros_like(given))[1] == pytest.approx(float(torch.tensor(147.0).log()))
