"""The run-time type checker of the tests: beartype, as jaxtyping's import hook wants it, where there are shapes."""

from collections.abc import Callable, Iterator
from typing import Any, Self, get_args, runtime_checkable

from beartype import BeartypeConf, BeartypeHintOverrides, beartype
from jaxtyping import AbstractArray

Decorate = Callable[..., Any]

# The hook decorates methods one by one, and there beartype cannot tell what class Self is.
checked = beartype(conf=BeartypeConf(hint_overrides=BeartypeHintOverrides({Self: object})))


def check(thing: Callable[..., Any]) -> Callable[..., Any]:
    """The function or class with its annotations checked at every call."""
    for hint in getattr(thing, "__annotations__", {}).values():
        for protocol in protocols(hint):
            runtime_checkable(protocol)
    return checked(thing)


def where_shapes_are(jaxtyped: Decorate) -> Decorate:
    """``jaxtyped``, but a function or dataclass whose annotations hold no shape stays as it is: most calls are of
    such, and what else their annotations say is left to the static type checker."""
    def decorate(*, typechecker: Decorate) -> Decorate:
        checking = jaxtyped(typechecker=typechecker)
        return lambda thing: checking(thing) if shaped(thing.__init__ if isinstance(thing, type) else thing) else thing
    return decorate


def shaped(function: Callable[..., Any]) -> bool:
    """Whether a shape is among a function's annotations, or a text, which may stand for one."""
    return any(isinstance(part, str) or (isinstance(part, type) and issubclass(part, AbstractArray))
               for hint in getattr(function, "__annotations__", {}).values() for part in parts(hint))


def protocols(hint: Any) -> Iterator[type]:
    """The protocols in an annotation; beartype can only check those that are ``runtime_checkable``."""
    return (part for part in parts(hint) if isinstance(part, type) and getattr(part, "_is_protocol", False))


def parts(hint: Any) -> Iterator[Any]:
    """An annotation, and all that it is made of."""
    yield hint
    for part in hint if isinstance(hint, list) else get_args(hint):
        yield from parts(part)
