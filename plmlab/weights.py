"""A model's weights as a flat table of named tensors, tied ones once."""

import hashlib
from collections.abc import Mapping
from typing import TypeVar

import torch
from torch import Tensor, nn

Model = TypeVar("Model", bound=nn.Module)


def device_of(model: nn.Module) -> torch.device:
    """The device of a model's parameters; the CPU for a model that has none."""
    return next((weight.device for weight in model.parameters()), torch.device("cpu"))


def weights(model: nn.Module) -> dict[str, Tensor]:
    """Every parameter and every buffer that is saved with the model, under its (first) name; no copies."""
    saved = model.state_dict(keep_vars=True)
    own = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    return {name: tensor.detach() for name, tensor in own.items() if name in saved}


def snapshot(model: nn.Module) -> dict[str, Tensor]:
    """A copy of the weights that later training does not change."""
    return {name: tensor.clone() for name, tensor in weights(model).items()}


def fingerprint(model: nn.Module) -> str:
    """Changes when a weight does: sha256 over the names, types, shapes and bytes, in hexadecimal; the device does not
    count."""
    told = hashlib.sha256()
    for name, tensor in sorted(weights(model).items()):
        told.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        told.update(tensor.cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return told.hexdigest()


def differences(model: nn.Module, tensors: Mapping[str, Tensor]) -> list[str]:
    """What keeps the tensors from being weights of this model, a phrase each; empty if nothing does."""
    own = weights(model)
    lacks = [f"the file lacks {name}" for name in own if name not in tensors]
    extra = [f"the model has no {name}" for name in tensors if name not in own]
    shapes = [
        f"{name} is {tuple(tensors[name].shape)} in the file and {tuple(tensor.shape)} in the model"
        for name, tensor in own.items() if name in tensors and tensors[name].shape != tensor.shape
    ]
    return lacks + extra + shapes


def with_pretrained(pretrained: nn.Module, made: Model, part: str) -> Model:
    """The model ``made`` with a copy of a pretrained one's weights in its ``part``, on that one's device, in its
    precision and its mode; the pretrained one stays as it is, whatever is learned here."""
    some = next(pretrained.parameters())
    made.to(some.device, some.dtype)
    made.get_submodule(part).load_state_dict(pretrained.state_dict())
    return made.train(pretrained.training)


def load_tensors(model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Copy the tensors into the model; a ValueError, and an untouched model, where they do not fit."""
    problems = differences(model, tensors)
    if problems:
        more = f", and {len(problems) - 3} more" if len(problems) > 3 else ""
        raise ValueError("these weights are not this model's: " + "; ".join(problems[:3]) + more)
    with torch.no_grad():
        for name, tensor in weights(model).items():
            tensor.copy_(tensors[name])
