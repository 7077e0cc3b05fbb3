"""Two outputs are compared, and what is wrong with one of them is put into words."""

import math
from typing import Any

import torch
from torch import Tensor

RELATIVE, ABSOLUTE = 1e-4, 1e-4
NAN = "exp of a large number is ∞, and ∞/∞, 0/0 and ∞ · 0 are NaN. Is the softmax written by hand?"
"""Where NaN comes from."""
FEW = 20
"""So many numbers are shown one by one; of a larger tensor only the shape."""


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal, numbers within a tolerance; NaN equals NaN. Types of numbers are not compared."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return one.shape == other.shape and bool(close(one, other).all())
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, int | float) and isinstance(other, int | float):
        return same(torch.tensor(one), torch.tensor(other))
    return type(one) is type(other) and bool(one == other)


def close(one: Tensor, other: Tensor) -> Tensor:
    """Where two tensors of one shape agree, within a ten-thousandth; NaN agrees with NaN."""
    return torch.isclose(one.detach().double(), other.double(), RELATIVE, ABSOLUTE, equal_nan=True)


def shaped(value: Any, like: Any) -> Any:
    """The value as ``like`` is, where the difference does no harm: a list for a tuple, a tuple for a list, a number in
    a tensor. All things of a list are as its first is."""
    if isinstance(like, tuple) and isinstance(value, tuple | list) and len(value) == len(like):
        return tuple(map(shaped, value, like))
    if isinstance(like, list) and isinstance(value, tuple | list):
        return [shaped(one, like[0]) for one in value] if like else [*value]
    if isinstance(like, int | float) and getattr(value, "ndim", None) == 0:
        return value.item()
    return value


def misfit(value: Any, like: Any, name: str = "the output") -> str:
    """What keeps a value from being compared with ``like`` number by number, in words; "" for nothing."""
    if value is None:
        return f"{name} is None: does the function end in a `return`?"
    if isinstance(like, tuple):
        if not isinstance(value, tuple):
            return f"{name} is {described(value)}; {len(like)} things were expected: {described(like)}"
        if len(value) != len(like):
            return f"{name} has {len(value)} parts; {len(like)} were expected: {described(like)}"
        parts = enumerate(zip(value, like, strict=True), 1)
        return next(filter(None, (misfit(*pair, f"part {i} of {name}") for i, pair in parts)), "")
    if isinstance(like, list):
        return "" if isinstance(value, list) else f"{name} is {described(value)}; expected was a list"
    if isinstance(like, Tensor):
        return tensor_misfit(value, like, name)
    if not isinstance(value, int | float):
        return f"{name} is {described(value)}; expected was a number"
    return f"{name} is not a number (nan): {NAN}" if math.isnan(value) else ""


def tensor_misfit(value: Any, like: Tensor, name: str) -> str:
    """What keeps a value from being compared with a tensor (type, shape, kind of numbers, NaN),
    in words; "" for nothing."""
    if not isinstance(value, Tensor):
        return f"{name} is {described(value)}; expected was a tensor {list(like.shape)}"
    if value.shape != like.shape:
        return f"{name} has the shape {list(value.shape)}; expected was {list(like.shape)}"
    if value.dtype != like.dtype:
        return f"{name} holds {kind(value)} numbers; expected were {kind(like)}"
    if not bool(value.isnan().any()):
        return ""
    place = value.isnan().nonzero()[0].tolist()
    return f"{name} holds NaN, which is not a number{f', first at {place}' if place else ''}: {NAN}"


def difference(value: Any, right: Any, name: str = "") -> str:
    """The first place where two values of one shape differ, with both, rounded. Lists may be of different lengths."""
    if isinstance(right, tuple):
        parts, whole = enumerate(zip(value, right, strict=True), 1), name or "the output, "
        return next(difference(*pair, f"part {i} of {whole}") for i, pair in parts if not same(*pair))
    if isinstance(right, list):
        known = min(len(value), len(right))
        at = next((i for i in range(known) if not same(value[i], right[i])), known)
        one, other = (described(some[at]) if at < len(some) else "nothing" for some in (value, right))
        return f"{name}at [{at}]: yours is {one}, right is {other}"
    if not isinstance(right, Tensor):
        return f"{name}yours is {rounded(value)}, right is {rounded(right)}"
    place = (~close(value, right)).nonzero()[0].tolist()
    yours, theirs = value[tuple(place)].item(), right[tuple(place)].item()
    where = f"at {place}: " if place else ""
    return f"{name}{where}yours is {rounded(yours)}, right is {rounded(theirs)}"


def described(value: Any) -> str:
    """What a value is, shortly: a tensor's numbers where they are few, else its shape."""
    if isinstance(value, Tensor):
        few = 0 < value.numel() <= FEW and value.device.type != "meta"
        return str(rounded(value.tolist())) if few else f"a tensor {list(value.shape)}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(described, value)) + ")"
    if isinstance(value, int | float | str) or is_plain_list(value):
        text = str(rounded(value))
        return text if len(text) <= 80 else f"{text[:77]}…"
    return f"an object of type {type(value).__name__}"


def is_plain_list(value: Any) -> bool:
    """Whether a list, or a tuple in it, holds nothing but numbers, words and such lists."""
    return isinstance(value, list | tuple) and all(isinstance(v, int | float | str) or is_plain_list(v) for v in value)


def rounded(value: Any) -> Any:
    """Floats to four decimals, wherever they stand in a list or tuple; no −0.0."""
    if isinstance(value, list | tuple):
        return (list if isinstance(value, list) else tuple)(map(rounded, value))
    return round(value, 4) + 0.0 if isinstance(value, float) else value


def kind(tensor: Tensor) -> str:
    """The type of a tensor's numbers as one word: "float32"."""
    return str(tensor.dtype).removeprefix("torch.")
