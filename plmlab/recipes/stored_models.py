"""Weights that a part of a recipe leaves in the recipe's folder for a later one."""

from pathlib import Path
from typing import TypeVar

from safetensors.torch import load_file, save_file
from torch import nn

from plmlab.weights import load_tensors, weights

Model = TypeVar("Model", bound=nn.Module)


def keep(model: nn.Module, file: Path) -> None:
    """Write a model's weights to a file; its folder is made where there is none."""
    file.parent.mkdir(parents=True, exist_ok=True)
    save_file(weights(model), file)


def with_kept(model: Model, file: Path) -> Model:
    """The model with the weights of a file, in evaluation mode; a ValueError where they are another model's."""
    load_tensors(model, load_file(file))
    return model.eval()
