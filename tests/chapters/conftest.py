"""What the tests of all recipes use: parts computed here, and learning rates whose best is known."""

from collections.abc import Callable
from pathlib import Path

import pytest

from plmlab.recipes import Parts


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    """No part is done yet; all are computed in this process."""
    return Parts(tmp_path / "recipe.parts.jsonl", processes=0)


@pytest.fixture
def best_at() -> Callable[[float], Callable[..., float]]:
    """From a learning rate a score that is highest there, whatever the arm."""
    def scored(rate: float) -> Callable[..., float]:
        return lambda *arm_rate_seed: -abs(float(arm_rate_seed[-2]) - rate)
    return scored
