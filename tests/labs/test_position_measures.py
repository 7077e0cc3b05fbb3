"""What the Position Lab measures on attention maps, and how it deals positions anew."""

from random import Random

import pytest
import torch

from plmlab.labs.position.lab import previous_share, shuffled, total_variation


def test_the_measures_by_hand() -> None:
    weights = torch.tensor([[.5, .3, .2], [.6, .3, .1], [.1, .7, .2]])
    assert previous_share(weights, torch.tensor([0, 1, 2])).item() == pytest.approx((.6 + .7) / 2)
    assert previous_share(weights, torch.tensor([2, 0, 1])).item() == pytest.approx((.2 + .7) / 2)
    assert previous_share(weights, torch.tensor([0, 0, 0])).isnan()
    assert total_variation(weights, weights[[0, 1, 1]]).item() == pytest.approx((0 + 0 + .5) / 3)


@pytest.mark.parametrize("seed", range(20))
def test_a_shuffle_moves_the_chosen_positions_only(seed: int) -> None:
    position_ids = torch.arange(10, 18)
    moved = shuffled(position_ids, [1, 2, 5], Random(seed))
    assert moved[[0, 3, 4, 6, 7]].tolist() == [10, 13, 14, 16, 17]
    assert sorted(moved.tolist()) == position_ids.tolist()
    assert moved.tolist() != position_ids.tolist()
    assert torch.equal(moved, shuffled(position_ids, [1, 2, 5], Random(seed)))


def test_all_orders_come_up_alike() -> None:
    position_ids = torch.arange(3)
    seen = [tuple(shuffled(position_ids, [0, 1, 2], Random(seed)).tolist()) for seed in range(2000)]
    assert sorted(set(seen)) == [(0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    assert all(abs(seen.count(order) / 2000 - 0.2) < 0.04 for order in set(seen))
