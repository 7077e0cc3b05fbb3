"""The exact loss of skip-gram: its minimum against numerical search, its descent, and what draws of pairs come to."""

from collections.abc import Sequence
from math import log

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar
from sklearn.decomposition import TruncatedSVD
from torch.testing import assert_close

from plmlab import world
from plmlab.chapters.ch02.factorisation import (
    PairLoss,
    factors_of,
    filled_svd_above,
    minimise_exact,
    minimise_with_negatives,
    pair_loss,
    scores,
    truncated_svd,
)
from plmlab.layers.sampled_softmax import NegativeSampling
from plmlab.vectors import WordVectors
from plmlab.world import World
from plmlab.world.probability.automaton import Arc, Builder, Start

SMALL = pair_loss("small")
SIZE = len(SMALL.words)


def toy(sentences: Sequence[Sequence[str]]) -> World:
    """A world that says these sentences, all as likely, as far as the exact loss asks for one."""
    builder, starts = Builder(), []
    for i, words in enumerate(sentences):
        state = 0
        for word in reversed(words):
            state = builder.state([Arc(word, None, state, 1)])
        starts.append(Start(str(i), state, 1))
    automaton, made = builder.automaton(starts), World.__new__(World)
    made.automaton = lambda split="train": automaton  # type: ignore[method-assign]
    return made


def random_scores(seed: int, scale: float = 2.0) -> torch.Tensor:
    drawn = torch.Generator().manual_seed(seed)
    return scale * torch.randn(SIZE, SIZE, generator=drawn, dtype=torch.float64)


def cell(loss: PairLoss, i: int, j: int, score: float) -> float:
    """What one pair of words adds to the loss, by hand."""
    return float(loss.joint[i, j]) * np.logaddexp(0, -score) + float(loss.negative[i, j]) * np.logaddexp(0, score)


def test_a_toy_worked_by_hand() -> None:
    """The one sentence is "a b": its pairs (a, b) and (b, a) have a half each, the noise is even; with k = 2 each word
    is drawn 2 · ½ · ½ times. At 0 all costs log 2, three decisions a pair. At its best a pair that occurs costs
    ½ (log 2 + log 2), and one that never does nothing."""
    loss = PairLoss.of(toy([["a", "b"]]), negatives=2)
    assert loss.words == ("a", "b") and loss.joint.tolist() == [[0, 0.5], [0.5, 0]]
    assert_close(loss.negative, torch.full((2, 2), 0.5).double())
    assert loss(torch.zeros(2, 2)) == pytest.approx(3 * log(2))
    assert loss.optimum.tolist() == [[-torch.inf, 0], [0, -torch.inf]] and loss.floor == pytest.approx(2 * log(2))
    assert loss.above(torch.zeros(2, 2)) == pytest.approx(0.5)


def test_the_window_and_the_noise_are_word2vecs() -> None:
    """Of "a b c" with a window of 2, a pair one apart is read always, one two apart half of the time; and the counts
    1, 1, 2 of "a b", "c c" are raised to 3/4."""
    loss = PairLoss.of(toy([["a", "b", "c"]]), window=2)
    assert_close(loss.joint, torch.tensor([[0, 1, 0.5], [1, 0, 1], [0.5, 1, 0]], dtype=torch.float64) / 5)
    loss = PairLoss.of(toy([["a", "b"], ["c", "c"]]), negatives=1)
    whole = 2 + 2 ** 0.75
    noise = torch.tensor([1 / whole, 1 / whole, 2 ** 0.75 / whole], dtype=torch.float64)
    assert_close(loss.negative, loss.joint.sum(1, keepdim=True) * noise)
    assert loss.joint[2, 2] == 0.5


def test_shares_add_up() -> None:
    assert float(SMALL.joint.sum()) == pytest.approx(1) and float(SMALL.negative.sum()) == pytest.approx(5)
    assert_close(SMALL.joint, SMALL.joint.T)
    assert 0 < SMALL.occurs.double().mean() < 1


def test_each_cell_is_lowest_where_it_says() -> None:
    """By golden search, of forty cells that occur; a pair that never does costs ever less further down."""
    some = SMALL.occurs.nonzero()[::60][:40].tolist()
    for i, j in some:
        found = minimize_scalar(lambda score, i=i, j=j: cell(SMALL, i, j, score) * 1e4, bounds=(-15, 15),
                                method="bounded", options={"xatol": 1e-8})
        assert found.x == pytest.approx(float(SMALL.optimum[i, j]), abs=1e-3)
    i, j = (~SMALL.occurs).nonzero()[5].tolist()
    assert SMALL.optimum[i, j] == -torch.inf and cell(SMALL, i, j, -30) < cell(SMALL, i, j, -10) < cell(SMALL, i, j, 0)
    assert len(some) == 40


def test_the_floor_is_the_sum_of_the_lowest_cells() -> None:
    lowest = sum(cell(SMALL, i, j, float(SMALL.optimum[i, j])) for i, j in SMALL.occurs.nonzero().tolist())
    assert SMALL.floor == pytest.approx(lowest, rel=1e-9)
    assert SMALL.above(SMALL.optimum.clamp(min=-50)) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_no_scores_lie_below_it(seed: int) -> None:
    assert SMALL.above(random_scores(seed)) > 0
    near = SMALL.optimum.clamp(min=-50) + 0.01 * random_scores(seed)
    assert 0 < SMALL.above(near) < 0.01
    assert SMALL.distance(near) == pytest.approx(0.02, rel=0.2), "0.01 · 2 on each"
    assert SMALL.distance(torch.where(SMALL.occurs, SMALL.optimum, 7.0)) == 0


def test_its_gradient_is_joint_and_negative_beside_the_logistic_function() -> None:
    given = random_scores(3).requires_grad_()
    (slope,) = torch.autograd.grad(SMALL.mean(given), given)
    share = given.detach().sigmoid()
    assert_close(slope, SMALL.negative * share - SMALL.joint * (1 - share), atol=1e-12, rtol=0)
    at_best = SMALL.optimum.clamp(min=-700).requires_grad_()
    (slope,) = torch.autograd.grad(SMALL.mean(at_best), at_best)
    assert slope.abs().max() < 1e-12


def test_in_single_precision_it_is_nearly_the_same() -> None:
    given = random_scores(1)
    assert SMALL.mean(given.float()).dtype == torch.float32
    assert float(SMALL.mean(given.float())) == pytest.approx(SMALL(given), rel=1e-5)
    assert SMALL(given.float()) == pytest.approx(SMALL(given), rel=1e-6)


def test_drawn_pairs_come_to_it() -> None:
    """Negative sampling asked with single pairs, as often as each occurs: the mean of many draws, within four standard
    errors."""
    loss = NegativeSampling(SIZE, 5)
    drawn = torch.Generator().manual_seed(0)
    words, contexts = torch.randn(SIZE, 6, generator=drawn), torch.randn(SIZE, 6, generator=drawn)
    loss.noise.copy_((SMALL.negative / (5 * SMALL.joint.sum(1, keepdim=True)))[0])
    torch.manual_seed(1)
    found = []
    for _ in range(400):
        w, c = np.divmod(torch.multinomial(SMALL.joint.flatten(), 200, replacement=True).numpy(), SIZE)
        w, c = torch.from_numpy(w), torch.from_numpy(c)
        hidden = words[w][:, None]
        found.append(loss((words[w] * contexts[c]).sum(-1), c, hidden, torch.ones(200, 1), contexts))
    drawn_losses = torch.stack(found).double()
    error = float(drawn_losses.std()) / len(found) ** 0.5
    exact = SMALL(scores((words, contexts)))
    assert error < 0.005 * exact and float(drawn_losses.mean()) == pytest.approx(exact, abs=4 * error)


def test_with_enough_numbers_the_descent_comes_to_the_floor() -> None:
    one = minimise_exact(SMALL, SIZE, steps=1500, lr=0.05, seed=0)
    assert one[0].shape == one[1].shape == (SIZE, SIZE) and not one[0].requires_grad
    assert 0 <= SMALL.above(scores(one)) < 0.001


def test_with_few_it_stays_above_and_more_come_nearer() -> None:
    above = {size: SMALL.above(scores(minimise_exact(SMALL, size, steps=300, lr=0.1, seed=1))) for size in (1, 4, 16)}
    assert above[1] > 2 * above[4] > 4 * above[16] > 0
    again = minimise_exact(SMALL, 4, steps=5, lr=0.1, seed=1)
    assert torch.equal(again[0], minimise_exact(SMALL, 4, steps=5, lr=0.1, seed=1)[0])
    assert not torch.equal(again[0], minimise_exact(SMALL, 4, steps=5, lr=0.1, seed=2)[0])


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("size", [1, 10, 60])
def test_truncated_svd_is_numpys(size: int, positive: bool) -> None:
    """The best table of that rank by Eckart and Young: numpy's, and as far from the whole as its other values."""
    table = np.where(SMALL.occurs, SMALL.optimum, 0.0)
    table = np.maximum(table, 0) if positive else table
    left, values, right = np.linalg.svd(table)
    found = truncated_svd(SMALL, size, positive=positive)
    assert found[0].shape == found[1].shape == (SIZE, size)
    assert_close(scores(found), torch.from_numpy((left[:, :size] * values[:size]) @ right[:size]), atol=1e-8, rtol=0)
    assert float((scores(found) - torch.from_numpy(table)).norm()) == pytest.approx((values[size:] ** 2).sum() ** 0.5)
    for one in found:
        assert_close(one.norm(dim=0) ** 2, torch.from_numpy(values[:size]), msg="shared out evenly")


def test_factors_stand_in_the_order_of_the_loss() -> None:
    turned = tuple(reversed(SMALL.words[1:]))
    matrix = torch.randn(SIZE - 1, 3, generator=torch.Generator().manual_seed(0))
    words, contexts = factors_of(SMALL, WordVectors(turned, matrix), WordVectors(turned, 2 * matrix))
    assert not words[0].any() and torch.equal(words[1:], matrix.flip(0)) and torch.equal(contexts, 2 * words)


def test_it_is_made_once_for_each_world() -> None:
    assert pair_loss("small") is SMALL and pair_loss("small", 1) is not SMALL
    assert SMALL.words == tuple(world.small().automaton().vocabulary)
    assert_close(pair_loss("small", 1).optimum, SMALL.optimum + log(5))


def test_without_negative_pairs_every_score_is_accepted() -> None:
    collapsed, normal = (minimise_with_negatives(SMALL, share, 20, steps=100, lr=0.03, seed=0) for share in (0.0, 1.0))
    assert collapsed["accepted"] == 1 and collapsed["loss"] < 0.01 and collapsed["cosine"] > normal["cosine"] + 0.2
    factors = minimise_exact(SMALL, 20, steps=100, lr=0.03, seed=0)
    assert normal["loss"] == SMALL(scores(factors))
    unit = factors[0].numpy() / np.linalg.norm(factors[0].numpy(), axis=1, keepdims=True)
    assert normal["cosine"] == pytest.approx((unit @ unit.T)[~np.eye(SIZE, dtype=bool)].mean(), abs=1e-5)


def test_svd_of_the_filled_matrix() -> None:
    """At full rank it is the matrix itself; below, scikit-learn's."""
    table = torch.where(SMALL.occurs, SMALL.optimum, -2.0)
    found = filled_svd_above(SMALL, -2.0, (10, SIZE))
    assert found[SIZE] == pytest.approx(SMALL.above(table))
    svd = TruncatedSVD(10, algorithm="arpack", random_state=0)
    assert found[10] == pytest.approx(SMALL.above(torch.from_numpy(svd.inverse_transform(svd.fit_transform(
        table.numpy())))), rel=1e-6)
