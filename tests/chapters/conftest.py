"""What the tests of all recipes use: learning rates whose best is known."""

from collections.abc import Callable

import pytest


@pytest.fixture
def best_at() -> Callable[[float], Callable[..., float]]:
    """From a learning rate a score that is highest there, whatever the arm."""
    def scored(rate: float) -> Callable[..., float]:
        return lambda *arm_rate_seed: -abs(float(arm_rate_seed[-2]) - rate)
    return scored
