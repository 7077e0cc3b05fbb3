"""Comparison of two outputs, and descriptions of what is wrong with one of them."""

import math
from dataclasses import is_dataclass
from typing import Any

import torch
from torch import Tensor

RELATIVE, ABSOLUTE = 1e-4, 1e-4
NAN = "exp of a large number is ∞, and ∞/∞, 0/0 and ∞ · 0 are NaN. Did you write the softmax by hand?"
"""The usual cause of NaN."""
FEW = 20
"""Tensors with up to this many numbers are listed; larger ones are described by their shape."""


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal, numbers within a tolerance; NaN equals NaN. Numeric types may differ."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return one.shape == other.shape and bool(close(one, other).all())
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, int | float) and isinstance(other, int | float):
        return same(torch.tensor(one), torch.tensor(other))
    return type(one) is type(other) and bool(one == other)


def close(one: Tensor, other: Tensor) -> Tensor:
    """Element-wise test whether two tensors of the same shape agree within a tolerance of 1e-4; NaN equals NaN."""
    return torch.isclose(one.detach().double(), other.double(), RELATIVE, ABSOLUTE, equal_nan=True)


def shaped(value: Any, like: Any) -> Any:
    """Convert the value to the type of ``like`` where the difference does not matter: list or tuple, scalar tensor or
    number. All elements of a list are converted to the type of the first element of ``like``."""
    if isinstance(like, tuple) and isinstance(value, tuple | list) and len(value) == len(like):
        return tuple(map(shaped, value, like))
    if isinstance(like, list) and isinstance(value, tuple | list):
        return [shaped(one, like[0]) for one in value] if like else [*value]
    if isinstance(like, int | float) and getattr(value, "ndim", None) == 0:
        return value.item()
    return value


def misfit(value: Any, like: Any, name: str = "the output") -> str:
    """The reason why a value cannot be compared with ``like`` element by element; "" if it can."""
    if value is None:
        return f"{name} is None: does the function end in a `return`?"
    if isinstance(like, tuple):
        if not isinstance(value, tuple):
            return f"{name} is {described(value)}; {len(like)} values were expected: {described(like)}"
        if len(value) != len(like):
            return f"{name} has {len(value)} parts; {len(like)} were expected: {described(like)}"
        parts = enumerate(zip(value, like, strict=True), 1)
        return next(filter(None, (misfit(*pair, f"part {i} of {name}") for i, pair in parts)), "")
    if isinstance(like, list):
        return "" if isinstance(value, list) else f"{name} is {described(value)}; expected a list"
    if isinstance(like, Tensor):
        return tensor_misfit(value, like, name)
    if not isinstance(value, int | float):
        return f"{name} is {described(value)}; expected a number"
    return f"{name} is not a number (nan): {NAN}" if math.isnan(value) else ""


def tensor_misfit(value: Any, like: Tensor, name: str) -> str:
    """The reason why a value cannot be compared with a tensor (type, shape, dtype, NaN); "" if it can."""
    if not isinstance(value, Tensor):
        return f"{name} is {described(value)}; expected a tensor {list(like.shape)}"
    if value.shape != like.shape:
        return f"{name} has the shape {list(value.shape)}; expected {list(like.shape)}"
    if value.dtype != like.dtype:
        return f"{name} has dtype {kind(value)}; expected {kind(like)}"
    if not bool(value.isnan().any()):
        return ""
    place = value.isnan().nonzero()[0].tolist()
    return f"{name} contains NaN (not a number){f', first at {place}' if place else ''}: {NAN}"


def difference(value: Any, right: Any, name: str = "") -> str:
    """The first place where two values of the same shape differ, with both values, rounded. Lists may differ in
    length."""
    if isinstance(right, tuple):
        parts, whole = enumerate(zip(value, right, strict=True), 1), name or "the output, "
        return next(difference(*pair, f"part {i} of {whole}") for i, pair in parts if not same(*pair))
    if isinstance(right, list):
        known = min(len(value), len(right))
        at = next((i for i in range(known) if not same(value[i], right[i])), known)
        one, other = (described(some[at]) if at < len(some) else "nothing" for some in (value, right))
        return f"{name}at [{at}]: yours is {one}, expected {other}"
    if not isinstance(right, Tensor):
        return f"{name}yours is {rounded(value)}, expected {rounded(right)}"
    place = (~close(value, right)).nonzero()[0].tolist()
    yours, theirs = value[tuple(place)].item(), right[tuple(place)].item()
    where = f"at {place}: " if place else ""
    return f"{name}{where}yours is {rounded(yours)}, expected {rounded(theirs)}"


def described(value: Any) -> str:
    """A short description of a value: the numbers of a small tensor, otherwise its shape."""
    if isinstance(value, Tensor):
        few = 0 < value.numel() <= FEW and value.device.type != "meta"
        return str(rounded(value.tolist())) if few else f"a tensor {list(value.shape)}"
    if isinstance(value, tuple):
        return f"({', '.join(map(described, value))}{',' * (len(value) == 1)})"
    if value is None or isinstance(value, int | float | str) or is_plain_list(value) or is_dataclass(value):
        text = str(rounded(value))
        return text if len(text) <= 80 else f"{text[:77]}…"
    return f"an object of type {type(value).__name__}"


def is_plain_list(value: Any) -> bool:
    """Whether a value is a list or tuple of numbers, strings and other plain lists."""
    return isinstance(value, list | tuple) and all(isinstance(v, int | float | str) or is_plain_list(v) for v in value)


def rounded(value: Any) -> Any:
    """Round floats to four decimals, also inside lists and tuples; −0.0 becomes 0.0."""
    if isinstance(value, list | tuple):
        return (list if isinstance(value, list) else tuple)(map(rounded, value))
    return round(value, 4) + 0.0 if isinstance(value, float) else value


def kind(tensor: Tensor) -> str:
    """The dtype of a tensor as one word: "float32"."""
    return str(tensor.dtype).removeprefix("torch.")
