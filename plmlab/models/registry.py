"""The model registry: each model file registers its type, configuration, input format and pretraining."""

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Self, TypeVar

from torch import nn

from plmlab.example import AnyExample, Batch, Example
from plmlab.models.architectures import Architecture
from plmlab.text.tokenizers import Tokenizer

Class = TypeVar("Class", bound=type[nn.Module])


@dataclass(frozen=True)
class Pretraining:
    """How ``plmlab pretrain`` pretrains a model.

    Attributes:
        name: the model's name on the command line ("bert").
        objective: makes an Example of each text.
        learn: trains the tokenizer, (texts, size) → Tokenizer.
        added: the number of special tokens that the objective adds to a text.
        documents: whether to train on documents of several sentences instead of single sentences, if the corpus has
            both (the Small World).
        stream: whether to train on windows of one concatenated token stream, with next-token targets, instead of on
            separate texts.
        pairs: makes an Example of a sentence pair, if the corpus has pairs (``next_sentence``); None for a model that
            does not take pairs.
        likelihood: whether the loss is the mean −log p of the targets, so that the objective's floor and perplexity
            apply.
        prepare: prepares a new model for its vocabulary and data before training, (model, tokenizer, batches) → None.
        has_targets: whether a batch has any target, for objectives that may produce none; a corpus without any target
            is rejected.
        optimizer: the optimizer of `plmlab.train.fit`.
    """

    name: str
    objective: Callable[..., AnyExample]
    learn: Callable[[Iterable[str], int], Tokenizer]
    added: int = 0
    documents: bool = False
    stream: bool = False
    pairs: Callable[..., Example] | None = None
    likelihood: bool = True
    prepare: Callable[[nn.Module, Tokenizer, Callable[[int], Batch]], None] | None = None
    has_targets: Callable[[Any], bool] | None = None
    optimizer: Literal["adamw", "adafactor"] = "adamw"

    @property
    def registered(self) -> Callable[..., AnyExample]:
        """The objective as it is registered, without choices that the model has preset."""
        return self.objective.func if isinstance(self.objective, partial) else self.objective


@dataclass(frozen=True)
class ModelType:
    """A registered model type, under the name used in checkpoints; ``model(config)`` builds a new model."""

    name: str
    config: Any
    model: type[nn.Module]
    architecture: Architecture | None
    pretraining: Pretraining | None = None


@dataclass(frozen=True)
class ModelSpec:
    """Class and configuration of a submodel, as stored in the configuration of the enclosing model."""

    model: type[nn.Module]
    config: Any

    @classmethod
    def of(cls, model: nn.Module) -> Self:
        """The specification of an existing model."""
        return cls(type(model), model.config)

    def build(self) -> Any:
        """Build a new model with random weights."""
        return self.model(self.config)


MODELS: dict[str, ModelType] = {}


def model(name: str, config: type, architecture: Architecture | None = None, pretraining: Pretraining | None = None,
          ) -> Callable[[Class], Class]:
    """Class decorator that registers a model type: ``@model("gpt", GPTConfig, DECODER)``. A model without an
    ``architecture`` uses that of its ``encoder``. Raises ValueError if the name is already used by another class."""
    def register(cls: Class) -> Class:
        if name in MODELS and _full_name(MODELS[name].model) != _full_name(cls):
            raise ValueError(f"the model type {name!r} is already registered, by "
                             f"{'.'.join(_full_name(MODELS[name].model))}; choose another name")
        MODELS[name] = ModelType(name, config, cls, architecture, pretraining)
        return cls
    return register


def _full_name(cls: type) -> tuple[str, str]:
    return cls.__module__, cls.__qualname__


def all_models() -> dict[str, ModelType]:
    """All model types by name; imports every module of ``plmlab.models``."""
    package = importlib.import_module("plmlab.models")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"plmlab.models.{module.name}")
    return MODELS


def model_type(name: str) -> ModelType:
    """The model type with the given name. Raises a ValueError that lists all names if there is none."""
    if name not in MODELS:
        all_models()
    if name not in MODELS:
        raise ValueError(f"unknown model type {name!r}; choose one of {', '.join(sorted(MODELS))}")
    return MODELS[name]


def pretrainable() -> dict[str, ModelType]:
    """The model types that ``plmlab pretrain`` can train, by their name on the command line."""
    return {kind.pretraining.name: kind for kind in all_models().values() if kind.pretraining}


def type_of(model: nn.Module) -> ModelType:
    """The registered type of a model. Raises ValueError if its class is not registered."""
    return registered(type(model))


def registered(cls: type[nn.Module]) -> ModelType:
    """The registered type of a class. Raises ValueError if the class is not registered."""
    for kind in MODELS.values():
        if cls is kind.model:
            return kind
    raise ValueError(f"a {cls.__name__} is not a registered model type; "
                     "register it with @plmlab.models.registry.model(name, config class, architecture)")


def registered_base(cls: type[nn.Module]) -> ModelType:
    """The registered type of a class, or of its nearest registered base class. Raises ValueError if neither exists."""
    for base in cls.__mro__:
        for kind in MODELS.values():
            if base is kind.model:
                return kind
    raise ValueError(f"neither {cls.__name__} nor a base class of it is a registered model type, so its input format "
                     "is unknown; instead of a plain text, give an Example made by its objective")


def architecture_of(model: nn.Module) -> Architecture:
    """The architecture of a model, as registered for its class or its nearest registered base class; that of its
    ``encoder`` if the type is registered without one."""
    return registered_base(type(model)).architecture or architecture_of(model.encoder)  # type: ignore[arg-type]
