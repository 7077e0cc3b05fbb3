"""`plmlab models`: what can be built, how large it is, and whether a checkpoint of it is bundled."""

import importlib
from pathlib import Path

import torch
from torch import nn

from plmlab.models.registry import ModelType, everything
from plmlab.paths import DATA

SMALL_VOCAB = 2000
"""The vocabulary that a tiny model is counted with; a base model brings its own."""


def listing(checkpoints: Path = DATA / "checkpoints") -> str:
    """A line for each model type: name, parameters as ``tiny`` and as ``base``, checkpoint, what it is."""
    lines = [f"{'model':<18}{'tiny':>8}{'base':>8}  {'checkpoint':<12}what it is"]
    for name, kind in sorted(everything().items()):
        tiny, base = parameters(kind, "tiny"), parameters(kind, "base")
        here = "bundled" if (checkpoints / name / "model.safetensors").is_file() else "–"
        lines.append(f"{name:<18}{tiny:>8}{base:>8}  {here:<12}{about(kind.model)}")
    return "\n".join([*lines, "", f"Parameters in millions; tiny with a vocabulary of {SMALL_VOCAB:,}."])


def parameters(kind: ModelType, preset: str) -> str:
    """The number of parameters of one preset, in millions; nothing is allocated. A dash where there is none."""
    make = getattr(kind.config, preset, None)
    if make is None:
        return "–"
    config = make(SMALL_VOCAB) if preset == "tiny" else make()
    with torch.device("meta"):
        model = kind.model(config)
    return f"{sum(p.numel() for p in model.parameters()) / 1e6:.1f}"


def about(model: type[nn.Module]) -> str:
    """The first line of what the class, or else its file, says of itself."""
    room = importlib.import_module(model.__module__)
    text = room.__doc__ or model.__doc__ or ""
    return text.strip().splitlines()[0].split(": ")[0] if text else ""
