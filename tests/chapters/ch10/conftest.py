"""What several tests of chapter 10 read: few texts of each kind."""

from collections.abc import Iterator

import pytest
from toy_size import changed

from plmlab.chapters.ch10 import recall_task
from studies.ch10 import stories


@pytest.fixture(scope="module")
def sizes() -> dict[str, object]:
    """Fifty texts to train on, of two lengths of waiting, and ten in the exam."""
    return {"TRAIN_SIZE": 50, "TEST_SIZE": 10, "MAX_DISTANCES": (8, 128)}


@pytest.fixture(scope="module")
def few_texts(sizes: dict[str, object]) -> Iterator[None]:
    """So few texts; a test file may have other ``sizes``."""
    with changed(*((recall_task, name, value) for name, value in sizes.items()),
                 forget=(recall_task.texts, recall_task.tokenizer, recall_task.train_ids, stories.threads,
                         stories.read)):
        yield
