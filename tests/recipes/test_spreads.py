"""Runs of several seeds, nested as they come, as spreads nested alike."""

import pytest

from plmlab.recipes import seed_statistics, seed_summary


def test_every_number_of_nested_runs_has_its_spread() -> None:
    runs = {3: {"loss": 1.0, "right": {"near": 4, "far": 0.5}}, 7: {"loss": 2.0, "right": {"near": 6, "far": 0.1}}}
    told = seed_statistics(runs)
    assert told == {"loss": seed_summary({3: 1.0, 7: 2.0}),
                    "right": {"near": seed_summary({3: 4, 7: 6}), "far": seed_summary({3: 0.5, 7: 0.1})}}
    assert told["right"]["near"]["mean"] == 5 and told["loss"]["seeds"] == [3, 7]


def test_runs_without_a_seed_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one seed"):
        seed_statistics({})
