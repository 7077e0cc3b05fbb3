"""The formats that checkpoints had before, as today's: what a model's types, settings and weights were called then."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

FORMAT = 3
"""Today's: the config of a model that holds others, such as a task head, holds theirs."""
RENAMED = {"around_attention": "attention_residual", "around_cross_attention": "cross_attention_residual",
           "around_feed_forward": "feed_forward_residual", "finish": "final_norm"}
"""What parts of a weight's name, dot to dot, were called in format 1."""
MOVED = {"gpt": "", "gpt2": "", "gpt-classifier": "gpt.", "gpt2-classifier": "gpt."}
"""Where a model of format 1 had its token and position embeddings that has them in ``embeddings`` now."""
KINDS = {"sentence": "sentence-classifier", "token": "token-classifier", "span": "span-classifier"}
HEADS = {
    **{f"{encoder}-{kind}": (name, encoder, "encoder") for encoder in ("bert", "unilm", "xlnet", "mpnet")
       for kind, name in KINDS.items()},
    **{name: (name, "bert", "encoder") for name in ("cogqa", "cogqa-self-loops", "one-pass-reader")},
    "gpt-classifier": ("gpt-classifier", "gpt", "gpt"), "gpt2-classifier": ("gpt-classifier", "gpt2", "gpt"),
}
"""Models of format 2 whose config told the size of the model inside them among its own fields → today's type, the type
of the model inside, and the part that it is, which encoders called ``encoder``."""
OWN = ("model_type", "format", "sha256", "labels", "alpha", "extract", "auxiliary")
"""The fields of their configs that are no size."""


def renewed_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """What config.json of format 1, 2 or 3 tells, as format 3 tells it."""
    kind = type_in_2(config)
    if config["format"] == FORMAT or kind not in HEADS:
        return dict(config) | {"model_type": kind, "format": FORMAT}
    today, inner, part = HEADS[kind]
    told = {name: value for name, value in config.items() if name in OWN}
    size = {name: value for name, value in config.items() if name not in OWN}
    return told | {"model_type": today, "format": FORMAT, part: {"model_type": inner, **size}}


def renewed_weights(tensors: Mapping[str, Tensor], config: Mapping[str, Any]) -> dict[str, Tensor]:
    """The weights of a checkpoint whose config.json is ``config`` under their names of today."""
    kind, named = type_in_2(config), dict(tensors)
    if config["format"] == 1:
        moved = {f"{MOVED[kind]}{table}.weight": f"{MOVED[kind]}embeddings.{table}.weight"
                 for table in ("token", "position") if kind in MOVED}
        named = {moved.get(name, name): tensor for name, tensor in named.items()}
        named = {".".join(RENAMED.get(part, part) for part in name.split(".")): tensor
                 for name, tensor in named.items()}
    if config["format"] < FORMAT and kind in HEADS:
        named = {f"encoder.{name.removeprefix('bert.')}" if name.startswith("bert.") else name: tensor
                 for name, tensor in named.items()}
    return named


def type_in_2(config: Mapping[str, Any]) -> str:
    """The model type that config.json names, as format 2 called it."""
    return "bert-token" if config["model_type"] == "bert-tagger" else config["model_type"]
