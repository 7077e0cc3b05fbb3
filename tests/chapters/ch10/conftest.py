"""What several tests of chapter 10 read: few texts of each kind."""

from collections.abc import Iterator

import pytest

from plmlab.chapters.ch10 import recalling, stories


@pytest.fixture(scope="module")
def sizes() -> dict[str, object]:
    """Fifty texts to train on, of two lengths of waiting, and ten in the exam."""
    return {"READ": 50, "EXAM": 10, "WITHIN": (8, 128)}


@pytest.fixture(scope="module")
def few_texts(sizes: dict[str, object]) -> Iterator[None]:
    """So few texts; a test file may have other ``sizes``."""
    caches = (recalling.texts, recalling.spelling, recalling.read, stories.threads, stories.read)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in sizes.items():
            patch.setattr(recalling, name, value)
        for cache in caches:
            cache.cache_clear()
        yield
    for cache in caches:
        cache.cache_clear()
