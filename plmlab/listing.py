"""`plmlab models`: the list of model types, with their sizes and bundled checkpoints."""

import importlib
import json
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from plmlab.models.registry import ModelType, all_models
from plmlab.paths import DATA

SMALL_VOCAB = 2000
"""Vocabulary size for counting the parameters of a tiny model; a base model has its own."""


def listing(checkpoints: Path = DATA / "checkpoints") -> str:
    """One line per model type: name, number of parameters of the presets ``tiny`` and ``base``, checkpoints,
    description."""
    names = bundled(checkpoints)
    rows = [("model", "tiny", "base", "pretrain as", "checkpoint", "what it is")] + [
        (name, parameters(kind, "tiny"), parameters(kind, "base"), kind.pretraining.name if kind.pretraining else "–",
         ", ".join(names.get(name, "–")), about(kind.model)) for name, kind in sorted(all_models().items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.rjust(width) if column in (1, 2) else cell.ljust(width)
                       for column, (cell, width) in enumerate(zip(row, widths, strict=True))).rstrip() for row in rows]
    return "\n".join([*lines, "", f"Parameters in millions; tiny with a vocabulary of {SMALL_VOCAB:,}."])


def bundled(checkpoints: Path) -> dict[str, list[str]]:
    """Model type → the names of its checkpoints in the given folder."""
    names: dict[str, list[str]] = {}
    for config in sorted(checkpoints.glob("*/config.json")):
        kind = json.loads(config.read_text(encoding="utf-8")).get("model_type", "")
        names.setdefault(kind, []).append(config.parent.name)
    return names


class Unfilled(TorchFunctionMode):
    """Mode in which in-place operations do nothing, so that models are built without initializing their weights. On the
    "meta" device there is no data to initialize, but calling the initializers would take most of the time."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Return the first argument unchanged if the function's name ends in one underscore; otherwise call it."""
        kwargs = kwargs or {}
        if func.__name__.endswith("_") and not func.__name__.endswith("__"):
            return next(iter((*args, *kwargs.values())))
        return func(*args, **kwargs)


def parameters(kind: ModelType, preset: str) -> str:
    """Number of parameters of a preset, in millions, counted without allocating memory; a dash if the model has no such
    preset."""
    build_config = getattr(kind.config, preset, None)
    if build_config is None:
        return "–"
    config = build_config(SMALL_VOCAB) if preset == "tiny" else build_config()
    with torch.device("meta"), Unfilled():
        model = kind.model(config)
    return f"{sum(p.numel() for p in model.parameters()) / 1e6:.1f}"


def about(model: type[nn.Module]) -> str:
    """Description of a model: the first line of the class docstring, up to a colon, and the paper, taken from the
    module docstring if the class docstring names none."""
    module = importlib.import_module(model.__module__)
    first = (module.__doc__ or "").strip().split("\n")[0]
    paper = first[first.find("("):first.find(")") + 1]
    title = (model.__doc__ or first).strip().split("\n")[0].split(":")[0]
    return title if "(" in title else f"{title} {paper}".strip()
