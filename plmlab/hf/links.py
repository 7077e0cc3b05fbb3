"""Which weight of our models is which of Hugging Face's: `to_ours` reads the links one way, `to_theirs` the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, nn

from plmlab.weights import put

Model = TypeVar("Model", bound=nn.Module)


@dataclass(frozen=True)
class Link:
    """One weight of ours, and where it lies in a Hugging Face model.

    ``turned``: theirs is of a ``Conv1D``, which keeps its weight as (in, out), not (out, in).
    ``third``: theirs holds the projections to q, k and v side by side, and ours is number 0, 1 or 2 of them.
    """

    ours: str
    theirs: str
    turned: bool = False
    third: int | None = None


def affine(ours: str, theirs: str, *, turned: bool = False, third: int | None = None) -> list[Link]:
    """The links of the weight and the bias of one linear layer, or of one norm."""
    return [Link(f"{ours}.{part}", f"{theirs}.{part}", turned, third) for part in ("weight", "bias")]


def to_ours(links: Sequence[Link], theirs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Our weights, by name, out of theirs; a ValueError names one that is not there."""
    lacking = sorted({link.theirs for link in links} - set(theirs))
    if lacking:
        raise ValueError(f"these weights are not whole: {len(lacking)} tensors are missing, {lacking[0]} among them")
    ours = {}
    for link in links:
        tensor = theirs[link.theirs]
        tensor = tensor.t() if link.turned else tensor
        ours[link.ours] = tensor if link.third is None else tensor.chunk(3)[link.third]
    return ours


def to_theirs(links: Sequence[Link], ours: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Their weights, by name, out of ours: parts that they keep side by side are joined, a
    ``Conv1D``'s is transposed."""
    theirs: dict[str, list[Tensor]] = {}
    for link in links:
        theirs.setdefault(link.theirs, []).append(ours[link.ours])
    turned = {link.theirs for link in links if link.turned}
    return {name: torch.cat(parts).t() if name in turned else torch.cat(parts) for name, parts in theirs.items()}


def filled(model: Model, tensors: Mapping[str, Tensor]) -> Model:
    """Our model with these weights put in, in their precision and on their device."""
    some = next(iter(tensors.values()))
    model.to(some.device, some.dtype)
    put(model, tensors)
    return model


def loaded(theirs: Model, tensors: Mapping[str, Tensor]) -> Model:
    """A model of theirs with these weights, named as in its ``state_dict``, in their precision and on their device."""
    some = next(iter(tensors.values()))
    theirs.to(some.device, some.dtype).load_state_dict(tensors)
    return theirs


def require(config: object, **expected: object) -> None:
    """Check a Hugging Face configuration: a ValueError where it asks for what our model does not do."""
    for name, value in expected.items():
        given = getattr(config, name, value)
        if given != value:
            raise ValueError(f"this model's configuration says {name} = {given!r}; ours can only do {value!r}")


def activation(name: str) -> str:
    """Our name, in ``LayerShape``, of an activation of Hugging Face's; a ValueError for one that ours do not have."""
    known = {"gelu": "gelu", "relu": "relu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh"}
    if name not in known:
        raise ValueError(f"this model's activation is {name!r}; ours are {', '.join(known)}")
    return known[name]
