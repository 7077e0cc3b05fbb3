"""Saving and loading of model weights that one part of a recipe stores in the recipe's folder for another part."""

from pathlib import Path
from typing import TypeVar

from safetensors.torch import load_file, save_file
from torch import nn

from plmlab.weights import load_tensors, weights

Model = TypeVar("Model", bound=nn.Module)


def keep(model: nn.Module, file: Path) -> None:
    """Save a model's weights to a file; creates the folder if needed."""
    file.parent.mkdir(parents=True, exist_ok=True)
    save_file(weights(model), file)


def with_kept(model: Model, file: Path) -> Model:
    """Load the weights in a file into the model and return it in evaluation mode. Raises ValueError if they do not
    fit."""
    load_tensors(model, load_file(file))
    return model.eval()
