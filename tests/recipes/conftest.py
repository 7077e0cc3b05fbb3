"""The full world, shared."""

import pytest

from plmlab import world


@pytest.fixture(scope="session")
def full() -> world.World:
    return world.full()
