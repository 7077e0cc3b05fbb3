"""Where an ambiguous word's vector lies: its company is that of its senses together, and its vector the best for it."""

import pytest
import torch
from torch.nn import functional as F

from plmlab.chapters.ch02.factorisation import pair_loss
from plmlab.chapters.ch02.senses import best_vector, contexts_of, halves, senses


def contexts(size: int = 8) -> torch.Tensor:
    return torch.randn(len(pair_loss("full").words), size, generator=torch.Generator().manual_seed(0)) * 0.3


def test_the_company_of_a_word_is_that_of_its_senses_together() -> None:
    loss, found = pair_loss("full"), contexts_of("bank")
    assert set(found) == {"bank.money", "bank.river"}
    whole = sum(found.values())
    row = loss.joint[loss.words.index("bank")]
    assert torch.allclose(whole / whole.sum(), row / row.sum(), atol=1e-12)
    money, water = (loss.words.index(word) for word in ("borrowed", "water"))
    assert found["bank.money"][money] > 0 == found["bank.river"][money]
    assert found["bank.river"][water] > 0 == found["bank.money"][water]


def test_no_vector_has_a_lower_loss() -> None:
    loss, table = pair_loss("full"), contexts()
    near = contexts_of("bank")["bank.river"]
    given, noise = near / near.sum(), loss.negative[0] / loss.joint.sum(1)[0]

    def mean(vector: torch.Tensor) -> float:
        scores = (table @ vector).double()
        return float((given * F.softplus(-scores)).sum() + (noise * F.softplus(scores)).sum()
                     + 1e-3 * vector.double().square().sum())

    best = best_vector(near, table, loss)
    rng = torch.Generator().manual_seed(1)
    steps = [step * torch.randn(8, generator=rng) for step in (0.01, 0.1, 1.0) for _ in "abc"]
    assert all(mean(best) < mean(best + step) for step in steps)


def test_a_mixture_is_at_least_as_near_as_either() -> None:
    told = senses("bank", contexts())
    assert told.shares[0] + told.shares[1] == pytest.approx(1) and set(told.senses) == {"bank.money", "bank.river"}
    assert told.mixture >= max(told.alike) - 1e-6


def test_a_word_of_one_sense_is_told() -> None:
    with pytest.raises(ValueError, match="'baker' has only one sense"):
        senses("baker", contexts())


def test_halves_are_parts_of_one_company() -> None:
    """A cut that leaves all to one half is the word itself."""
    told = halves("baker", contexts())
    assert sum(told.shares) == pytest.approx(1) and 0 < told.shares[0] < 1
    assert told.mixture >= max(told.alike) - 1e-6
    assert told.mixture == pytest.approx(halves("baker", contexts()).mixture, abs=1e-4)
