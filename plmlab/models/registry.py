"""The list of models that can be saved and loaded: a name, a config class, a model class."""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from torch import nn

Class = TypeVar("Class", bound=type[nn.Module])


@dataclass(frozen=True)
class ModelType:
    """A kind of model, as a checkpoint names it; ``model(config)`` makes a new one."""

    name: str
    config: type
    model: type[nn.Module]


MODELS: dict[str, ModelType] = {}


def model(name: str, config: type) -> Callable[[Class], Class]:
    """Register the class below under ``name``: ``@model("gpt", GPTConfig)`` above ``class GPT``."""
    def register(cls: Class) -> Class:
        MODELS[name] = ModelType(name, config, cls)
        return cls
    return register


def everything() -> dict[str, ModelType]:
    """All model types by name, once every file of ``plmlab.models`` has been loaded."""
    rooms = importlib.import_module("plmlab.models")
    for room in pkgutil.iter_modules(rooms.__path__):
        importlib.import_module(f"plmlab.models.{room.name}")
    return MODELS


def find(name: str) -> ModelType:
    """The model type of that name; a ValueError lists the names there are."""
    if name not in MODELS:
        everything()
    if name not in MODELS:
        raise ValueError(f"there is no model type {name!r} here; there are {', '.join(sorted(MODELS))}")
    return MODELS[name]


def type_of(model: nn.Module) -> ModelType:
    """The registered type of a model in hand."""
    for kind in MODELS.values():
        if type(model) is kind.model:
            return kind
    raise ValueError(f"a {type(model).__name__} is not a registered model type; "
                     "register it with @plmlab.models.registry.model(name, config class)")
