"""Mapping between the weights of our models ("ours") and those of ``transformers`` ("theirs"); `to_ours` and
`to_theirs` apply it in one direction each."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import torch
from einops import rearrange
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.weights import load_tensors

Model = TypeVar("Model", bound=nn.Module)


@dataclass(frozen=True)
class Form:
    """A difference in weight layout: ``read`` converts their layout to ours, ``write`` converts ours to theirs."""

    read: Callable[[Tensor], Tensor]
    write: Callable[[Tensor], Tensor]


def rearranged(pattern: str, **sizes: int) -> Form:
    """Make a Form for a change of shape or axis order; ``pattern`` is an einops pattern from their layout to ours."""
    theirs, ours = pattern.split(" -> ")
    return Form(partial(rearrange, pattern=pattern, **sizes),
                partial(rearrange, pattern=f"{ours} -> {theirs}", **sizes))


def after_reserved(rows: int) -> Form:
    """Make a Form for a position table that has ``rows`` reserved rows before the first position in their model. They
    are dropped on reading, and zero on writing."""
    return Form(lambda table: table[rows:], lambda table: F.pad(table, (0, 0, rows, 0)))


ALIKE = Form(lambda tensor: tensor, lambda tensor: tensor)
CONV1D = rearranged("input output -> output input")
"""The ``Conv1D`` of ``transformers``: a linear layer with a transposed weight."""


@dataclass(frozen=True)
class Link:
    """One of our weights, the name of its counterpart in a ``transformers`` model, and the difference in layout
    (``form``).

    ``third``: index of our weight (0, 1 or 2) if their weight concatenates the projections of q, k and v.
    """

    ours: str
    theirs: str
    form: Form = ALIKE
    third: int | None = None


def affine(ours: str, theirs: str, form: Form = ALIKE, third: int | None = None) -> list[Link]:
    """Links of the weight and bias of a linear layer or a LayerNorm; ``form`` applies only to the weight."""
    return [Link(f"{ours}.weight", f"{theirs}.weight", form, third),
            Link(f"{ours}.bias", f"{theirs}.bias", third=third)]


def within(part: str, links: Sequence[Link]) -> list[Link]:
    """The same links, with our names relative to a model whose submodule ``part`` is the linked one."""
    return [replace(link, ours=f"{part}.{link.ours}") for link in links]


def to_ours(links: Sequence[Link], theirs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Convert ``transformers`` weights to ours, by name. Raises ValueError if tensors are missing."""
    missing = sorted({link.theirs for link in links} - set(theirs))
    if missing:
        raise ValueError(f"the weights are incomplete: {len(missing)} tensors are missing, such as {missing[0]}")
    ours = {}
    for link in links:
        tensor = link.form.read(theirs[link.theirs])
        ours[link.ours] = tensor if link.third is None else tensor.chunk(3)[link.third]
    return ours


def or_zeros(links: Sequence[Link], theirs: Mapping[str, Tensor], shapes: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Like `to_ours`, but for optional weights: missing ones become zeros of the given ``shapes``, with a warning."""
    missing = [link for link in links if link.theirs not in theirs]
    if missing:
        parts = sorted({link.ours.removesuffix(".weight").removesuffix(".bias") for link in missing})
        warnings.warn(f"the weights contain no {' and no '.join(parts)}: in our model it is initialised to zero, and "
                      "has to be trained", stacklevel=5)
    converted = to_ours([link for link in links if link not in missing], theirs)
    return converted | {link.ours: torch.zeros_like(shapes[link.ours]) for link in missing}


def to_theirs(links: Sequence[Link], ours: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Convert our weights to those of ``transformers``, by name, concatenating projections where the links require
    it."""
    parts: dict[str, list[Tensor]] = {}
    for link in links:
        parts.setdefault(link.theirs, []).append(ours[link.ours])
    forms = {link.theirs: link.form for link in links}
    return {name: forms[name].write(torch.cat(tensors)) for name, tensors in parts.items()}


def bare(theirs: Any) -> str:
    """The prefix, such as ``"encoder."``, that is missing from the weight names of a bare encoder; empty for a model
    with a head."""
    return f"{theirs.base_model_prefix}." if theirs.base_model is theirs else ""


def filled(model: Model, tensors: Mapping[str, Tensor]) -> Model:
    """Load the tensors into our model, which takes their precision and device."""
    first = next(iter(tensors.values()))
    model.to(first.device, first.dtype)
    load_tensors(model, tensors)
    return model


def loaded(theirs: Model, tensors: Mapping[str, Tensor]) -> Model:
    """Load the tensors, named as in its ``state_dict``, into a ``transformers`` model, which takes their precision and
    device."""
    first = next(iter(tensors.values()))
    theirs.to(first.device, first.dtype).load_state_dict(tensors)
    return theirs


def require(config: object, other: str = "ours", /, **expected: object) -> None:
    """Check a configuration, ours or theirs. Raises ValueError for a setting that the ``other`` model does not
    support."""
    for name, value in expected.items():
        given = getattr(config, name, value)
        if given != value:
            raise ValueError(f"this model's configuration has {name} = {given!r}; {other} only supports {value!r}")


def activation(name: str) -> str:
    """Our name (`LayerShape`) of a Hugging Face activation function. Raises ValueError if our models do not support
    it."""
    known = {"gelu": "gelu", "relu": "relu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh"}
    if name not in known:
        raise ValueError(f"this model's activation {name!r} is not supported; supported are {', '.join(known)}")
    return known[name]
