"""What several tests of chapter 14 draw from: all questions of one and more hops, and the first comparisons."""

from collections.abc import Iterator
from functools import cache

import pytest
from toy_size import changed

from plmlab.chapters.ch14 import training

FEW = 2000
first = cache(training._known.__wrapped__)
"""A kind's questions, kept apart from those that other tests of the process draw."""


@pytest.fixture(scope="module", autouse=True)
def few_comparisons() -> Iterator[None]:
    """Two thousand of the forty thousand; there are fewer of the other kinds, which are all there."""
    with changed((training, "MOST", FEW), (training, "_known", first)):
        yield
