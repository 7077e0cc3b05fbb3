"""Conversion of older checkpoint formats: model types, config fields and weight names that have changed since."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

FORMAT = 3
"""Current format: the config of a composite model, such as a task head, contains the configs of its inner models."""
RENAMED = {"around_attention": "attention_residual", "around_cross_attention": "cross_attention_residual",
           "around_feed_forward": "feed_forward_residual", "finish": "final_norm",
           "bert": "encoder", "widen": "up", "narrow": "down"}
"""Components of weight names (between dots) in formats 1 and 2 → current component; the first line is of format 1."""
MOVED = {"gpt": "", "gpt2": "", "gpt-classifier": "gpt.", "gpt2-classifier": "gpt."}
"""Models of format 1 whose token and position embeddings moved into ``embeddings`` → prefix of their weight names."""
KINDS = {"sentence": "sentence-classifier", "token": "token-classifier", "span": "span-classifier"}
HEADS = {
    **{f"{encoder}-{kind}": (name, encoder, "encoder") for encoder in ("bert", "unilm", "xlnet", "mpnet")
       for kind, name in KINDS.items()},
    **{name: (name, "bert", "encoder") for name in ("cogqa", "cogqa-self-loops", "one-pass-reader")},
    "gpt-classifier": ("gpt-classifier", "gpt", "gpt"), "gpt2-classifier": ("gpt-classifier", "gpt2", "gpt"),
}
"""Models of format 2 whose config held the fields of the inner model among its own → current type, type of the inner
model, and its current attribute name; in format 2, encoders were named ``bert``."""
OWN = ("model_type", "format", "sha256", "labels", "alpha", "extract", "auxiliary")
"""Config fields of these models that do not belong to the inner model."""


def renewed_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the contents of config.json from format 1, 2 or 3 to format 3."""
    kind = type_in_2(config)
    if config["format"] == FORMAT or kind not in HEADS:
        return dict(config) | {"model_type": kind, "format": FORMAT}
    current, inner, part = HEADS[kind]
    own = {name: value for name, value in config.items() if name in OWN}
    size = {name: value for name, value in config.items() if name not in OWN}
    return own | {"model_type": current, "format": FORMAT, part: {"model_type": inner, **size}}


def renewed_weights(tensors: Mapping[str, Tensor], config: Mapping[str, Any]) -> dict[str, Tensor]:
    """Rename the weights of a checkpoint, whose config.json is ``config``, to their current names."""
    kind, named = type_in_2(config), dict(tensors)
    if config["format"] == 1:
        moved = {f"{MOVED[kind]}{table}.weight": f"{MOVED[kind]}embeddings.{table}.weight"
                 for table in ("token", "position") if kind in MOVED}
        named = {moved.get(name, name): tensor for name, tensor in named.items()}
    if config["format"] < FORMAT:
        named = {".".join(RENAMED.get(part, part) for part in name.split(".")): tensor
                 for name, tensor in named.items()}
    return named


def type_in_2(config: Mapping[str, Any]) -> str:
    """The model type in config.json, by its name in format 2."""
    return "bert-token" if config["model_type"] == "bert-tagger" else config["model_type"]
