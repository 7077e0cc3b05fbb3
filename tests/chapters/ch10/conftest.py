"""What several tests of chapter 10 read: few texts of each kind."""

from collections.abc import Iterator

import pytest

from plmlab.chapters.ch10 import recalling, stories


@pytest.fixture(scope="module")
def few_texts() -> Iterator[None]:
    """Fifty texts to train on, of two lengths of waiting, and ten in the exam."""
    caches = (recalling.texts, recalling.spelling, recalling.read, stories.threads, stories.read)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("READ", 50), ("EXAM", 10), ("WITHIN", (8, 128))):
            patch.setattr(recalling, name, value)
        for cache in caches:
            cache.cache_clear()
        yield
    for cache in caches:
        cache.cache_clear()
