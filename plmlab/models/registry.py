"""The list of models: each declares here, from its own file, what it is, how it reads a text and what pretrains it."""

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from torch import nn

from plmlab.example import Batch, BidirectionalExample, Example
from plmlab.models.architectures import Architecture
from plmlab.text.tokenizers import Tokenizer

Class = TypeVar("Class", bound=type[nn.Module])


@dataclass(frozen=True)
class Pretraining:
    """How a model is pretrained, for ``plmlab pretrain``.

    Attributes:
        name: what a person calls the model ("bert").
        objective: what each text is made an Example by.
        learn: learns the tokens, (texts, size) → Tokenizer.
        added: how many tokens the objective adds to a text.
        stream: whether it reads windows of one long stream, each position predicting the next token, and not text by
            text.
        pairs: what a pair of sentences is made an Example by, where a corpus has pairs (``next_sentence``); None for a
            model that reads none.
        likelihood: whether its loss is the mean −log p of what it must say, so that it has the objective's floor, and
            a perplexity.
        prepare: what a new model is told of its words and batches before it is trained, (model, tokenizer, batches) →
            None.
        asks: whether a batch has anything to predict, where that is not certain; a text of which none has is refused.
    """

    name: str
    objective: Callable[..., Example | BidirectionalExample]
    learn: Callable[[Iterable[str], int], Tokenizer]
    added: int = 0
    stream: bool = False
    pairs: Callable[..., Example] | None = None
    likelihood: bool = True
    prepare: Callable[[nn.Module, Tokenizer, Callable[[int], Batch]], None] | None = None
    asks: Callable[[Any], bool] | None = None


@dataclass(frozen=True)
class ModelType:
    """A kind of model, as a checkpoint names it; ``model(config)`` makes a new one."""

    name: str
    config: Any
    model: type[nn.Module]
    architecture: Architecture | None
    pretraining: Pretraining | None = None


@dataclass(frozen=True)
class ModelSpec:
    """A model inside another one, as the config of the outer one holds it: its class and its config."""

    model: type[nn.Module]
    config: Any

    @classmethod
    def of(cls, model: nn.Module) -> Self:
        """That of a model in hand."""
        return cls(type(model), model.config)

    def build(self) -> Any:
        """A new model, with random weights."""
        return self.model(self.config)


MODELS: dict[str, ModelType] = {}


def model(name: str, config: type, architecture: Architecture | None = None, pretraining: Pretraining | None = None,
          ) -> Callable[[Class], Class]:
    """Register the class below: ``@model("gpt", GPTConfig, DECODER)`` above ``class GPT``. A model without an
    ``architecture`` reads what its ``encoder`` reads. A ValueError where another class has that name already."""
    def register(cls: Class) -> Class:
        if name in MODELS and _place(MODELS[name].model) != _place(cls):
            raise ValueError(f"a model type {name!r} is registered already, by {'.'.join(_place(MODELS[name].model))}; "
                             "give another name")
        MODELS[name] = ModelType(name, config, cls, architecture, pretraining)
        return cls
    return register


def _place(cls: type) -> tuple[str, str]:
    return cls.__module__, cls.__qualname__


def all_models() -> dict[str, ModelType]:
    """All model types by name, once every file of ``plmlab.models`` has been loaded."""
    rooms = importlib.import_module("plmlab.models")
    for room in pkgutil.iter_modules(rooms.__path__):
        importlib.import_module(f"plmlab.models.{room.name}")
    return MODELS


def model_type(name: str) -> ModelType:
    """The model type of that name; a ValueError lists the names there are."""
    if name not in MODELS:
        all_models()
    if name not in MODELS:
        raise ValueError(f"there is no model type {name!r} here; there are {', '.join(sorted(MODELS))}")
    return MODELS[name]


def pretrainable() -> dict[str, ModelType]:
    """The model types that ``plmlab pretrain`` can make, by what a person calls them."""
    return {kind.pretraining.name: kind for kind in all_models().values() if kind.pretraining}


def type_of(model: nn.Module) -> ModelType:
    """The registered type of a model in hand; a ValueError for one of no registered class."""
    return registered(type(model))


def registered(cls: type[nn.Module]) -> ModelType:
    """The type as which a class is registered; a ValueError for a class that is not."""
    for kind in MODELS.values():
        if cls is kind.model:
            return kind
    raise ValueError(f"a {cls.__name__} is not a registered model type; "
                     "register it with @plmlab.models.registry.model(name, config class, architecture)")


def registered_base(cls: type[nn.Module]) -> ModelType:
    """As what a class is registered, or the class that it varies; a ValueError where neither is."""
    for above in cls.__mro__:
        for kind in MODELS.values():
            if above is kind.model:
                return kind
    raise ValueError(f"how a {cls.__name__} reads a plain text is not known here; give an Example made by "
                     "its objective")


def architecture_of(model: nn.Module) -> Architecture:
    """What a model in hand reads and writes: as its class is registered, or the class that it varies; of one that is
    registered without, what its ``encoder`` does."""
    return registered_base(type(model)).architecture or architecture_of(model.encoder)  # type: ignore[arg-type]
