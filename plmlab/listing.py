"""`plmlab models`: what can be built, how large it is, and which checkpoints of it are bundled."""

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
"""The vocabulary that a tiny model is counted with; a base model brings its own."""


def listing(checkpoints: Path = DATA / "checkpoints") -> str:
    """A line for each model type: name, parameters as ``tiny`` and as ``base``, checkpoints, what it is."""
    here = bundled(checkpoints)
    rows = [("model", "tiny", "base", "pretrain as", "checkpoint", "what it is")] + [
        (name, parameters(kind, "tiny"), parameters(kind, "base"), kind.pretraining.name if kind.pretraining else "–",
         ", ".join(here.get(name, "–")), about(kind.model)) for name, kind in sorted(all_models().items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.rjust(width) if column in (1, 2) else cell.ljust(width)
                       for column, (cell, width) in enumerate(zip(row, widths, strict=True))).rstrip() for row in rows]
    return "\n".join([*lines, "", f"Parameters in millions; tiny with a vocabulary of {SMALL_VOCAB:,}."])


def bundled(checkpoints: Path) -> dict[str, list[str]]:
    """Model type → the names of its checkpoints in a folder."""
    found: dict[str, list[str]] = {}
    for config in sorted(checkpoints.glob("*/config.json")):
        kind = json.loads(config.read_text(encoding="utf-8")).get("model_type", "")
        found.setdefault(kind, []).append(config.parent.name)
    return found


class Unfilled(TorchFunctionMode):
    """What is done to a tensor in place, is not done: a model made inside is not told its numbers. On the "meta" device
    there are none, and most of the time goes into how they would be drawn."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """The first argument as it is, for a function whose name ends in one underscore; else what it gives."""
        kwargs = kwargs or {}
        if func.__name__.endswith("_") and not func.__name__.endswith("__"):
            return next(iter((*args, *kwargs.values())))
        return func(*args, **kwargs)


def parameters(kind: ModelType, preset: str) -> str:
    """The number of parameters of one preset, in millions; nothing is allocated. A dash where there is none."""
    make = getattr(kind.config, preset, None)
    if make is None:
        return "–"
    config = make(SMALL_VOCAB) if preset == "tiny" else make()
    with torch.device("meta"), Unfilled():
        model = kind.model(config)
    return f"{sum(p.numel() for p in model.parameters()) / 1e6:.1f}"


def about(model: type[nn.Module]) -> str:
    """What the class says of itself up to the first colon, and its paper, or the one that its file names."""
    room = importlib.import_module(model.__module__)
    first = (room.__doc__ or "").strip().split("\n")[0]
    paper = first[first.find("("):first.find(")") + 1]
    told = (model.__doc__ or first).strip().split("\n")[0].split(":")[0]
    return told if "(" in told else f"{told} {paper}".strip()
