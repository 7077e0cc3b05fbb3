"""Experiments at toy size: other constants, and nothing kept that was computed with their own."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def changed(*changes: tuple[Any, str, Any], forget: Iterable[Callable[..., Any]] = ()) -> Iterator[None]:
    """As long as it lasts, each (module, name, value) holds; the results kept by functions to ``forget`` are dropped
    before and after."""
    caches = [*forget]
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in changes:
            patch.setattr(module, name, value)
        for cache in caches:
            cache.cache_clear()
        yield
    for cache in caches:
        cache.cache_clear()
