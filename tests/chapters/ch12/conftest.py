"""What the experiments of chapter 12 keep between calls is forgotten, so that a test may change how much is drawn."""

from collections.abc import Iterator

import pytest

from plmlab.chapters.ch12 import blank_exam
from studies.ch12 import blank_fillers, blank_infilling


@pytest.fixture
def forgotten() -> Iterator[None]:
    """The rows, counts and tables of the exam of blanks, and the arms' tokens, before and after."""
    caches = blank_exam.rows, blank_fillers.counted, blank_fillers.table, blank_infilling.tokens
    for kept in caches:
        kept.cache_clear()
    yield
    for kept in caches:
        kept.cache_clear()
