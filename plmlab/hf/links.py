"""Which weight of our models is which of Hugging Face's: `to_ours` reads the links one way, `to_theirs` the other."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import torch
from einops import rearrange
from torch import Tensor, nn

from plmlab.weights import load_tensors

Model = TypeVar("Model", bound=nn.Module)


@dataclass(frozen=True)
class Form:
    """How a weight of theirs lies otherwise than ours: ``read`` makes ours of it, ``write`` theirs again."""

    read: Callable[[Tensor], Tensor]
    write: Callable[[Tensor], Tensor]


def rearranged(pattern: str, **sizes: int) -> Form:
    """The same numbers in another order or shape: ``pattern`` says it as einops does, theirs -> ours."""
    theirs, ours = pattern.split(" -> ")
    return Form(partial(rearrange, pattern=pattern, **sizes),
                partial(rearrange, pattern=f"{ours} -> {theirs}", **sizes))


ALIKE = Form(lambda tensor: tensor, lambda tensor: tensor)
CONV1D = rearranged("input output -> output input")
"""A ``Conv1D`` of theirs, a linear layer that lies on its side."""


@dataclass(frozen=True)
class Link:
    """One weight of ours, and where it lies in a Hugging Face model, in what ``form``.

    ``third``: theirs holds the projections to q, k and v side by side, and ours is number 0, 1 or 2 of them.
    """

    ours: str
    theirs: str
    form: Form = ALIKE
    third: int | None = None


def affine(ours: str, theirs: str, form: Form = ALIKE, third: int | None = None) -> list[Link]:
    """The links of the weight and the bias of one linear layer, or of one norm; ``form`` is that of the weight."""
    return [Link(f"{ours}.weight", f"{theirs}.weight", form, third),
            Link(f"{ours}.bias", f"{theirs}.bias", third=third)]


def within(part: str, links: Sequence[Link]) -> list[Link]:
    """The same links, counted from a model of ours that holds this one as its ``part``."""
    return [replace(link, ours=f"{part}.{link.ours}") for link in links]


def to_ours(links: Sequence[Link], theirs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Our weights, by name, out of theirs; a ValueError names one that is not there."""
    lacking = sorted({link.theirs for link in links} - set(theirs))
    if lacking:
        raise ValueError(f"these weights are not whole: {len(lacking)} tensors are missing, {lacking[0]} among them")
    ours = {}
    for link in links:
        tensor = link.form.read(theirs[link.theirs])
        ours[link.ours] = tensor if link.third is None else tensor.chunk(3)[link.third]
    return ours


def or_zeros(links: Sequence[Link], theirs: Mapping[str, Tensor], shapes: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The same for weights that may be missing: those are zeros, of the shapes of ours, and a warning says so."""
    lacking = [link for link in links if link.theirs not in theirs]
    if lacking:
        parts = sorted({link.ours.removesuffix(".weight").removesuffix(".bias") for link in lacking})
        warnings.warn(f"the weights hold no {' and no '.join(parts)}: ours is zero, still to be trained", stacklevel=5)
    found = to_ours([link for link in links if link not in lacking], theirs)
    return found | {link.ours: torch.zeros_like(shapes[link.ours]) for link in lacking}


def to_theirs(links: Sequence[Link], ours: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Their weights, by name, out of ours, in their form; parts that they keep side by side are joined."""
    parts: dict[str, list[Tensor]] = {}
    for link in links:
        parts.setdefault(link.theirs, []).append(ours[link.ours])
    forms = {link.theirs: link.form for link in links}
    return {name: forms[name].write(torch.cat(tensors)) for name, tensors in parts.items()}


def bare(theirs: Any) -> str:
    """What their names of weights count from, if this is an encoder without a head: ``"encoder."``, or nothing."""
    return f"{theirs.base_model_prefix}." if theirs.base_model is theirs else ""


def filled(model: Model, tensors: Mapping[str, Tensor]) -> Model:
    """Our model with these weights put in, in their precision and on their device."""
    some = next(iter(tensors.values()))
    model.to(some.device, some.dtype)
    load_tensors(model, tensors)
    return model


def loaded(theirs: Model, tensors: Mapping[str, Tensor]) -> Model:
    """A model of theirs with these weights, named as in its ``state_dict``, in their precision and on their device."""
    some = next(iter(tensors.values()))
    theirs.to(some.device, some.dtype).load_state_dict(tensors)
    return theirs


def require(config: object, other: str = "ours", /, **expected: object) -> None:
    """Check a configuration, theirs or ours: a ValueError where it asks for what the ``other`` model does not do."""
    for name, value in expected.items():
        given = getattr(config, name, value)
        if given != value:
            raise ValueError(f"this model's configuration says {name} = {given!r}; {other} can only do {value!r}")


def activation(name: str) -> str:
    """Our name, in ``LayerShape``, of an activation of Hugging Face's; a ValueError for one that ours do not have."""
    known = {"gelu": "gelu", "relu": "relu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh"}
    if name not in known:
        raise ValueError(f"this model's activation is {name!r}; ours are {', '.join(known)}")
    return known[name]
