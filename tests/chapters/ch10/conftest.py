"""What several tests of chapter 10 read: few texts of each kind."""

from collections.abc import Iterator

import pytest
from toy_size import changed

from plmlab.chapters.ch10 import recalling
from studies.ch10 import stories


@pytest.fixture(scope="module")
def sizes() -> dict[str, object]:
    """Fifty texts to train on, of two lengths of waiting, and ten in the exam."""
    return {"READ": 50, "TEST_SIZE": 10, "WITHIN": (8, 128)}


@pytest.fixture(scope="module")
def few_texts(sizes: dict[str, object]) -> Iterator[None]:
    """So few texts; a test file may have other ``sizes``."""
    with changed(*((recalling, name, value) for name, value in sizes.items()),
                 forget=(recalling.texts, recalling.tokenizer, recalling.read, stories.threads, stories.read)):
        yield
