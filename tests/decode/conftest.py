"""Decoding's tests run on models as small as can be."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def small_models(one_thread: None) -> None:
    """Each file of them has one thread."""
