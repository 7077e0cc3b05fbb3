"""A model's weights as a flat dictionary of named tensors, in which tied weights occur once."""

import hashlib
from collections.abc import Mapping
from typing import TypeVar

import torch
from torch import Tensor, nn

Model = TypeVar("Model", bound=nn.Module)


def device_of(model: nn.Module) -> torch.device:
    """The device of a model's parameters; the CPU for a model without parameters."""
    return next((weight.device for weight in model.parameters()), torch.device("cpu"))


def weights(model: nn.Module) -> dict[str, Tensor]:
    """All parameters and persistent buffers by name, tied weights under their first name; the tensors are not
    copied."""
    saved = model.state_dict(keep_vars=True)
    own = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    return {name: tensor.detach() for name, tensor in own.items() if name in saved}


def snapshot(model: nn.Module) -> dict[str, Tensor]:
    """A copy of the weights, which further training does not change."""
    return {name: tensor.clone() for name, tensor in weights(model).items()}


def fingerprint(model: nn.Module) -> str:
    """SHA-256 over the names, dtypes, shapes and bytes of all weights, in hexadecimal; independent of the device."""
    digest = hashlib.sha256()
    for name, tensor in sorted(weights(model).items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def differences(model: nn.Module, tensors: Mapping[str, Tensor]) -> list[str]:
    """Differences in names and shapes between ``tensors`` and the model's weights, one message each; empty if none."""
    own = weights(model)
    missing = [f"the file lacks {name}" for name in own if name not in tensors]
    extra = [f"the model has no {name}" for name in tensors if name not in own]
    shapes = [
        f"{name} is {tuple(tensors[name].shape)} in the file and {tuple(tensor.shape)} in the model"
        for name, tensor in own.items() if name in tensors and tensors[name].shape != tensor.shape
    ]
    return missing + extra + shapes


def with_pretrained(pretrained: nn.Module, made: Model, part: str) -> Model:
    """Copy the weights of ``pretrained`` into the submodule ``part`` of ``made``, and return ``made``.

    ``made`` is moved to the device and dtype of ``pretrained`` and set to its training mode. The two models share no
    weights.
    """
    reference = next(pretrained.parameters())
    made.to(reference.device, reference.dtype)
    made.get_submodule(part).load_state_dict(pretrained.state_dict())
    return made.train(pretrained.training)


def load_tensors(model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Copy the tensors into the model's weights. Raises ValueError, with the model unchanged, if they do not match."""
    problems = differences(model, tensors)
    if problems:
        more = f", and {len(problems) - 3} more" if len(problems) > 3 else ""
        raise ValueError("these weights do not match the model: " + "; ".join(problems[:3]) + more)
    with torch.no_grad():
        for name, tensor in weights(model).items():
            tensor.copy_(tensors[name])
