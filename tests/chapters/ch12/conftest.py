"""What the experiments of chapter 12 keep between calls is forgotten, so that a test may change how much is drawn."""

from collections.abc import Iterator

import pytest

from plmlab.chapters.ch12 import blank_arms, blank_exam


@pytest.fixture
def forgotten() -> Iterator[None]:
    """The rows, counts and tables of the exam of blanks, and the arms' tokens, before and after."""
    caches = blank_exam.rows, blank_exam.counted, blank_exam.table, blank_arms.tokens
    for kept in caches:
        kept.cache_clear()
    yield
    for kept in caches:
        kept.cache_clear()
