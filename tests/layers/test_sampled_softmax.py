"""Softmax, negative sampling and NCE over pairs, against PyTorch and sums over the whole noise, which is gensim's."""

import math
from itertools import pairwise, product

import numpy as np
import pytest
import torch
from gensim.models import Word2Vec
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from plmlab.layers import sampled_softmax
from plmlab.layers.sampled_softmax import NCE, FullSoftmax, NegativeSampling, WordLoss, noise_distribution

TEXTS, POSITIONS, MODEL, VOCAB, NEGATIVES = 3, 4, 5, 7, 5
COUNTS = torch.tensor([0.0, 3, 1, 40, 12, 7, 5])


class Pairs:
    """Positions of which each says several words: position (t, s) those in ``said[t][s]``, and positions that say
    none."""

    said = (((3, 4), (1,), (), (5, 5, 6)), ((2,), (), (), ()), ((6, 3, 3, 4), (4,), (5,), ()))

    def __init__(self) -> None:
        drawn = torch.Generator().manual_seed(0)
        self.hidden = torch.randn(TEXTS, POSITIONS, MODEL, generator=drawn, dtype=torch.float64, requires_grad=True)
        self.output = torch.randn(VOCAB, MODEL, generator=drawn, dtype=torch.float64, requires_grad=True)
        self.listed = [(t, s, word) for t, s in product(range(TEXTS), range(POSITIONS)) for word in self.said[t][s]]

    def loss(self, by: WordLoss) -> Tensor:
        """What ``by`` says of them."""
        place = torch.tensor([(t, s) for t, s, _ in self.listed])
        targets = torch.tensor([word for *_, word in self.listed])
        scores = (self.hidden[place[:, 0], place[:, 1]] * self.output[targets]).sum(-1)
        return by(scores, targets, self.hidden, self.weights(), self.output)

    def weights(self) -> Tensor:
        """How many pairs each position stands in."""
        return torch.tensor([[float(len(words)) for words in row] for row in self.said])

    def gradients(self, loss: Tensor) -> tuple[Tensor, ...]:
        return torch.autograd.grad(loss, (self.hidden, self.output), retain_graph=True)


def told(kind: type[NegativeSampling], negatives: int = NEGATIVES) -> NegativeSampling:
    """A loss whose noise is that of ``COUNTS``."""
    loss = kind(VOCAB, negatives).double()
    loss.set_noise(COUNTS.double())
    return loss


def same_gradients(pairs: Pairs, one: Tensor, other: Tensor) -> None:
    for mine, theirs in zip(pairs.gradients(one), pairs.gradients(other), strict=True):
        assert_close(mine, theirs, atol=1e-10, rtol=0)


# The noise

def test_the_noise_worked_by_hand() -> None:
    """16, 81 and 1 to the power 3/4 are 8, 27 and 1, together 36."""
    assert noise_distribution(torch.tensor([16.0, 0, 81, 1])).tolist() == pytest.approx([8 / 36, 0, 27 / 36, 1 / 36])
    assert noise_distribution(torch.tensor([1.0, 0, 3]), power=0.0).tolist() == [0.5, 0, 0.5], "0 to the power 0 is 0"


@pytest.mark.parametrize("power", [0.75, 0.5, 1.0])
def test_the_noise_is_gensims(power: float) -> None:
    """gensim keeps it as a table of sums from 0 to 2³¹ − 1."""
    texts = [["a"] * n + ["b"] * 9 + ["c", "d"] * (n % 3) for n in range(1, 8)]
    gensim = Word2Vec(texts, vector_size=2, min_count=1, negative=5, ns_exponent=power, workers=1)
    counts = torch.tensor([float(gensim.wv.get_vecattr(word, "count")) for word in gensim.wv.index_to_key])
    theirs = np.diff(gensim.cum_table.astype(float), prepend=0) / (2 ** 31 - 1)
    assert len(counts) == 4 and noise_distribution(counts, power).tolist() == pytest.approx(theirs.tolist(), rel=1e-5)


@pytest.mark.parametrize("counts", [[0.0, 0.0], [3.0, -1.0], [math.nan, math.nan]])
def test_counts_that_draw_nothing_are_refused(counts: list[float]) -> None:
    with pytest.raises(ValueError, match="word counts of at least 0, one of them above 0"):
        noise_distribution(torch.tensor(counts))


def test_the_noise_is_even_until_it_is_told() -> None:
    loss = NegativeSampling(4, 5)
    assert loss.noise.tolist() == [0.25] * 4
    loss.set_noise(torch.tensor([16.0, 0, 81, 1]))
    assert loss.noise.tolist() == pytest.approx([8 / 36, 0, 27 / 36, 1 / 36])


# The full softmax

def test_the_full_softmax_is_pytorchs_cross_entropy_over_the_pairs() -> None:
    pairs = Pairs()
    place = torch.tensor([(t, s) for t, s, _ in pairs.listed])
    logits = pairs.hidden[place[:, 0], place[:, 1]] @ pairs.output.T
    theirs = F.cross_entropy(logits, torch.tensor([word for *_, word in pairs.listed]))
    assert len(pairs.listed) == 13
    assert_close(pairs.loss(FullSoftmax(0, 0)), theirs, atol=1e-10, rtol=0)
    same_gradients(pairs, pairs.loss(FullSoftmax(0, 0)), theirs)


# Negative sampling and NCE

def judged(pairs: Pairs, kind: type[NegativeSampling], against: Tensor, negatives: int = NEGATIVES) -> Tensor:
    """The mean over pairs of −log σ(s) − k · mean of log σ(−s) over draws, in plain loops; ``against[t]`` has how
    likely each word is drawn for the pairs of text t. NCE's s is the score less log k q."""
    q = (COUNTS.double() ** 0.75) / (COUNTS.double() ** 0.75).sum()
    losses = []
    for t, s, word in pairs.listed:
        def s_of(other: int, vector: Tensor = pairs.hidden[t, s]) -> Tensor:
            score = vector @ pairs.output[other]
            return score - math.log(negatives * float(q[other])) if kind is NCE else score
        loss = -F.logsigmoid(s_of(word))
        for other in range(VOCAB):
            if against[t, other] > 0:
                loss = loss - negatives * against[t, other] * F.logsigmoid(-s_of(other))
        losses.append(loss)
    return torch.stack(losses).mean()


both = pytest.mark.parametrize("kind", [NegativeSampling, NCE])


@both
def test_with_the_draws_given_it_is_the_sum_over_its_decisions(
        kind: type[NegativeSampling], monkeypatch: pytest.MonkeyPatch) -> None:
    draws = torch.tensor([[3, 3, 6, 1], [5, 2, 2, 2], [4, 3, 5, 6]])
    monkeypatch.setattr(sampled_softmax, "SHARED_NEGATIVES", 4)
    monkeypatch.setattr(torch, "multinomial", lambda noise, count, replacement: draws.flatten())
    pairs, shares = Pairs(), F.one_hot(draws, VOCAB).double().mean(1)
    theirs = judged(pairs, kind, shares)
    assert_close(pairs.loss(told(kind)), theirs, atol=1e-10, rtol=0)
    same_gradients(pairs, pairs.loss(told(kind)), theirs)


@both
def test_the_mean_over_draws_is_the_exact_sum_over_the_noise(kind: type[NegativeSampling]) -> None:
    """Levy and Goldberg's ℓ: k times the expectation under the noise, within four standard errors."""
    pairs, loss = Pairs(), told(kind)
    exact = judged(pairs, kind, loss.noise.expand(TEXTS, -1)).item()
    torch.manual_seed(1)
    with torch.no_grad():
        drawn = torch.stack([pairs.loss(loss) for _ in range(1000)])
    error = (drawn.std() / len(drawn) ** 0.5).item()
    assert error < 0.01 * exact and drawn.mean().item() == pytest.approx(exact, abs=4 * error)


def test_each_text_has_draws_of_its_own_and_they_follow_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    real = torch.multinomial
    monkeypatch.setattr(torch, "multinomial", lambda *how, **more: (asked.append(real(*how, **more)), asked[-1])[1])
    torch.manual_seed(2)
    loss = told(NegativeSampling)
    for _ in range(300):
        Pairs().loss(loss)
    drawn = torch.cat(asked)
    assert len(drawn) == 300 * TEXTS * sampled_softmax.SHARED_NEGATIVES
    shares = torch.bincount(drawn, minlength=VOCAB) / len(drawn)
    for share, q in zip(shares.tolist(), loss.noise.tolist(), strict=True):
        assert share == pytest.approx(q, abs=4 * (q / len(drawn)) ** 0.5)


def test_nce_is_minimal_where_the_scores_are_log_probabilities() -> None:
    """Mnih and Teh 2012, §3.1: of one context, with its words drawn as ``p`` says, and any number of negatives."""
    p = torch.tensor([0.5, 0.2, 0.3], dtype=torch.float64)
    for negatives in (1, 5):
        loss = NCE(3, negatives).double()
        loss.set_noise(torch.tensor([1.0, 30.0, 9.0], dtype=torch.float64))
        scores = p.log().requires_grad_()
        (slope,) = torch.autograd.grad(expected(loss, scores, p), scores)
        assert_close(slope, torch.zeros(3, dtype=torch.float64), atol=1e-12, rtol=0)
        moved = expected(loss, scores.detach() + torch.tensor([0.1, 0.1, 0.1]), p)
        assert moved > expected(loss, scores.detach(), p), "they are log-probabilities, not only up to a constant"


def expected(loss: NCE, scores: Tensor, p: Tensor) -> Tensor:
    """The exact expectation of NCE over words drawn by ``p`` and over its noise, from the module's own shift."""
    words = torch.arange(len(p))
    apart = scores - loss.shift(words)
    return -(p * F.logsigmoid(apart)).sum() - loss.negatives * (loss.noise * F.logsigmoid(-apart)).sum()


def test_with_many_negatives_its_gradient_is_that_of_maximum_likelihood() -> None:
    """Mnih and Teh 2012, eq. 8: for scores that are normalised, Σ (p − model) ∇ score as k grows; the difference falls
    as 1 / k."""
    p = torch.tensor([0.5, 0.2, 0.3], dtype=torch.float64)
    scores = torch.tensor([1.0, 2.0, -0.5], dtype=torch.float64).log_softmax(-1).requires_grad_()
    likelihood = scores.detach().exp() - p
    apart = []
    for negatives in (10, 100, 1000, 10_000):
        loss = NCE(3, negatives).double()
        (slope,) = torch.autograd.grad(expected(loss, scores, p), scores)
        apart.append(float((slope - likelihood).abs().max()))
    assert apart[0] > 0.01 and apart[-1] < 1e-3 * float(likelihood.abs().max())
    assert [one / other for one, other in pairwise(apart[1:])] == pytest.approx([10, 10], rel=0.05)


@pytest.mark.parametrize("by", [FullSoftmax(0, 0), told(NegativeSampling), told(NCE)], ids=lambda by: type(by).__name__)
def test_a_position_of_no_pair_adds_nothing(by: WordLoss) -> None:
    """Whatever stands in a position of weight 0, loss and gradients stay as they are, and its own gradient is 0."""
    pairs, other = Pairs(), Pairs()
    empty = pairs.weights() == 0
    with torch.no_grad():
        other.hidden[empty] = 50 * torch.randn(int(empty.sum()), MODEL, dtype=torch.float64)
    losses = []
    for one in (pairs, other):
        torch.manual_seed(3)
        losses.append(one.loss(by))
    assert_close(*losses, atol=1e-10, rtol=0)
    slopes = [one.gradients(loss) for one, loss in zip((pairs, other), losses, strict=True)]
    for mine, theirs in zip(*slopes, strict=True):
        assert_close(mine, theirs, atol=1e-10, rtol=0)
    assert not slopes[1][0][empty].any() and slopes[1][0][~empty].any(-1).all()


@pytest.mark.parametrize("by", [FullSoftmax(0, 0), NegativeSampling(VOCAB, 5), NCE(VOCAB, 5)],
                         ids=lambda by: type(by).__name__)
def test_without_a_pair_there_is_nothing_to_lose(by: WordLoss) -> None:
    """Texts of one word have no pair: 0, and not 0 / 0."""
    hidden = torch.randn(2, 1, MODEL, requires_grad=True)
    loss = by(torch.zeros(0), torch.zeros(0, dtype=torch.long), hidden, torch.zeros(2, 1), torch.randn(VOCAB, MODEL))
    loss.backward()
    assert loss.item() == 0 and not hidden.grad.any()
