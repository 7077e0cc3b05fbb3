"""The run-time type checker of the tests: beartype, as jaxtyping's import hook wants it."""

from collections.abc import Callable, Iterator
from typing import Any, Self, get_args, runtime_checkable

from beartype import BeartypeConf, BeartypeHintOverrides, beartype

# The hook decorates methods one by one, and there beartype cannot tell what class Self is.
checked = beartype(conf=BeartypeConf(hint_overrides=BeartypeHintOverrides({Self: object})))


def check(thing: Callable[..., Any]) -> Callable[..., Any]:
    """The function or class with its annotations checked at every call."""
    for hint in getattr(thing, "__annotations__", {}).values():
        for protocol in protocols(hint):
            runtime_checkable(protocol)
    return checked(thing)


def protocols(hint: Any) -> Iterator[type]:
    """The protocols in an annotation; beartype can only check those that are ``runtime_checkable``."""
    if isinstance(hint, type) and getattr(hint, "_is_protocol", False):
        yield hint
    for part in hint if isinstance(hint, list) else get_args(hint):
        yield from protocols(part)
