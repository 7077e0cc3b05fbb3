"""Tracing of the plmlab code that a model runs: a tiny model processes a text of made-up tokens under Python's
profiler."""

import inspect
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from random import Random
from types import CodeType, FrameType
from typing import Any, Self, get_type_hints

import torch
from torch import nn

from plmlab.batches import collate
from plmlab.example import IGNORE, AnyBatch, AnyExample, Batch, Example, PairBatch
from plmlab.layers.hooks import HookPoint, hook_points
from plmlab.listing import SMALL_VOCAB
from plmlab.models.registry import MODELS, ModelType, architecture_of, pretrainable
from plmlab.text.text import Text
from plmlab.text.vocabulary import Vocabulary

ENTRANCES = ("forward", "pooled_output", "loss")
"""The methods of a model that are called, if it has them."""
PACKAGES = ("plmlab.models.", "plmlab.layers.")
"""Packages whose functions are shown."""
VOCAB = Vocabulary(SMALL_VOCAB)
Module = type[nn.Module]


def example(kind: ModelType, model: nn.Module) -> AnyExample:
    """Make a model's Example from made-up tokens, with its pretraining objective or that of the model with the same
    name. If there is none, use the architecture, with a target and with labels for every task."""
    first, second = annotated(VOCAB.words[:12]), annotated(VOCAB.words[12:20])
    pretrained = kind if kind.pretraining else pretrainable().get(kind.name)
    if pretrained and (pretraining := pretrained.pretraining):
        options: dict[str, Any] = {"vocab": VOCAB, "rng": Random(0)}
        return pretraining.pairs(first, second, True, **options) if pretraining.pairs \
            else pretraining.objective(first, **options)
    architecture = architecture_of(model)
    try:
        result = architecture.example(first, second, VOCAB)
    except ValueError:
        result = architecture.example(first, None, VOCAB)
    if not isinstance(result, Example):
        return result
    index, start = torch.arange(len(result.tokens)), (result.segments == 1).int().argmax()
    zeros = torch.zeros_like(index)
    labels = {"class": zeros[0], "tags": zeros, "start": start, "end": start, "spans": start.expand(1, 2),
              "supporting": zeros, "relevance": zeros, "pointers": zeros[:, None].expand(-1, 4),
              "mentions": (index == 1).long(), "entities": torch.where(index == 1, 0, IGNORE)}
    targets = result.targets if (result.targets != IGNORE).any() else torch.where(index == 1, result.tokens, IGNORE)
    return replace(result, targets=targets, labels=labels)


def annotated(ids: Sequence[int]) -> Text:
    """A text of one sentence and one token per word, whose second word is an entity, for objectives that need them."""
    return Text(ids, words=[(i, i + 1) for i in range(len(ids))], sentences=[(0, len(ids))], entities=[(1, 2)])


def filled(kind: Any, batch: Any, config: Any) -> Any:
    """Make an argument of type ``kind`` for a method: the batch, the encoder's side of a batch of pairs, or a dataclass
    that consists of such batches and of tensors. An axis without a fixed length has one element. In a float tensor, an
    axis has the length given by the ``config`` field of the same name, such as ``width``, if there is one."""
    if kind is Batch and isinstance(batch, PairBatch):
        return batch.source
    if is_dataclass(kind) and not isinstance(batch, kind):  # type: ignore[arg-type]
        hints = get_type_hints(kind)
        return kind(**{part.name: filled(hints[part.name], batch, config)
                       for part in fields(kind)})  # type: ignore[operator]
    if not hasattr(kind, "dim_str"):
        return batch
    is_float = "float32" in kind.dtypes
    sizes = [int(axis) if axis.isdigit() else getattr(config, axis, 1) if is_float else 1
             for axis in kind.dim_str.split()]
    if "bool" in kind.dtypes:
        return torch.ones(sizes, dtype=torch.bool)
    return torch.zeros(sizes, dtype=torch.float if is_float else torch.long)


def ours(cls: type) -> bool:
    """Whether a class is a module that is neither part of PyTorch nor a hook point."""
    return not cls.__module__.startswith("torch.") and issubclass(cls, nn.Module) and not issubclass(cls, HookPoint)


@dataclass
class Trace:
    """A tiny model and the code that it has run.

    Attributes:
        kind: the model type.
        model: the model.
        at: path → class of each submodule defined in plmlab.
        ran: class → name of a method or function that ran → its code, followed by the code of the methods that it calls
            through ``super()``; in the order of the first calls.
        callers: code of a function → class and name of the method that called it first.
        unfinished: name of a method that raised an error → the error message.
    """

    kind: ModelType
    model: nn.Module
    at: dict[str, Module]
    ran: dict[Module, dict[str, list[CodeType]]] = field(default_factory=dict)
    callers: dict[CodeType, tuple[Module, str]] = field(default_factory=dict)
    unfinished: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, kind: ModelType) -> Self:
        """Build a tiny model and run it. Raises ValueError if the type is not a neural network or has no ``tiny``
        configuration."""
        network = issubclass(kind.model, nn.Module)
        if not network or not hasattr(kind.config, "tiny"):
            problem = "has no tiny configuration" if network else "is not a neural network"
            raise ValueError(f"{kind.name} {problem}, so its forward pass cannot be traced; its code is in "
                             f"{inspect.getsourcefile(kind.model)}")
        model = kind.model(kind.config.tiny(SMALL_VOCAB)).eval()
        trace = cls(kind, model, {path: type(module) for path, module in model.named_modules(remove_duplicate=False)
                                  if ours(type(module))})
        batch = collate([example(kind, model)], VOCAB.need("pad"))  # type: ignore[arg-type]
        trace.run(batch)
        for point in hook_points(model).values():
            point.records.append(lambda _: None)
        trace.run(batch)
        return trace

    def run(self, batch: AnyBatch) -> None:
        """Call the model's methods and record the code that runs. Attention takes its explicit path instead of the
        fused one, because recording hook points are registered."""
        for method in (getattr(self.model, name) for name in ENTRANCES if hasattr(self.model, name)):
            parameter, profiler = next(iter(inspect.signature(method).parameters.values())), sys.getprofile()
            try:
                argument = filled(parameter.annotation, batch, self.model.config)
                sys.setprofile(self.seen)
                with torch.no_grad():
                    method(argument)
            except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
                self.unfinished[method.__name__] = str(error)
            finally:
                sys.setprofile(profiler)

    def seen(self, frame: FrameType, event: str, _: Any) -> None:
        """Profiler callback: record the called code if it can be shown and was called by a plmlab module."""
        if event != "call" or not self.known(frame) or isinstance(frame.f_locals.get("self"), HookPoint):
            return
        code, caller = frame.f_code, frame
        while not (self.known(caller) and type(caller.f_locals.get("self")) in self.held):
            if caller.f_back is None:
                return
            caller = caller.f_back
        cls, owner = type(caller.f_locals["self"]), code.co_qualname.rpartition(".")[0]
        name = code.co_name if any(owner == base.__qualname__ for base in cls.__mro__) else code.co_qualname
        if name == code.co_qualname and self.callers.setdefault(code, (cls, caller.f_code.co_name))[0] is not cls:
            return
        chain = self.ran.setdefault(cls, {}).setdefault(name, [])
        if code not in chain:
            chain.append(code)

    def known(self, frame: FrameType) -> bool:
        """Whether the called function can be shown."""
        name, module = frame.f_code.co_qualname, str(frame.f_globals.get("__name__"))
        return "<" not in name and ".__" not in name and (module in self.modules or module.startswith(PACKAGES))

    @cached_property
    def held(self) -> set[Module]:
        """The classes of the model's submodules."""
        return {*self.at.values()}

    @cached_property
    def modules(self) -> set[str]:
        """The names of the Python modules of these classes and their base classes."""
        return {base.__module__ for cls in self.held for base in cls.__mro__ if ours(base)}

    def role(self, path: str) -> str:
        """The path of a module relative to the innermost registered model around it, with # for each number, so that a
        layer of BERT has the same role in every model that contains a BERT."""
        steps, registered = path.split(".") if path else [], {kind.model for kind in MODELS.values()}
        start = max((n for n in range(1, len(steps) + 1)
                     if registered & {*self.at.get(".".join(steps[:n]), nn.Module).__mro__}), default=0)
        return ".".join("#" if step.isdigit() else step for step in steps[start:])

    def roles(self, cls: Module) -> list[str]:
        """The roles of the modules of a class."""
        return [*dict.fromkeys(self.role(path) for path, module in self.at.items() if module is cls)]

    def chains(self, role: str, name: str) -> Iterator[list[CodeType]]:
        """Yield, for each class with this role, the code that ran under ``name`` or, if none did, the code that would
        run."""
        for cls in dict.fromkeys(cls for path, cls in self.at.items() if self.role(path) == role):
            method = getattr(cls, name, None)
            yield self.ran.get(cls, {}).get(name) or ([inspect.unwrap(method).__code__] if inspect.isfunction(method)
                                                      else [])

    def weights(self) -> dict[str, list[str]]:
        """Role and shape of a weight → the paths and shapes of all weights with that role and shape."""
        weights: dict[str, list[str]] = {}
        for path, module in self.model.named_modules():
            for name, weight in module.named_parameters(recurse=False):
                suffix = f".{name} {'×'.join(map(str, weight.shape))}"
                weights.setdefault(self.role(path) + suffix, []).append((path + suffix).lstrip("."))
        return weights

    def shared(self) -> dict[tuple[str, ...], list[str]]:
        """Roles → paths of each module with weights that occurs several times in the model, except modules inside such
        a module."""
        paths: dict[nn.Module, list[str]] = {}
        for path, module in self.model.named_modules(remove_duplicate=False):
            if any(True for _ in module.parameters()):
                paths.setdefault(module, []).append(path)
        groups = [group for group in paths.values() if len(group) > 1]
        outer = tuple(f"{path}." for group in groups for path in group)
        return {tuple(dict.fromkeys(map(self.role, group))): group for group in groups
                if not all(path.startswith(outer) for path in group)}
