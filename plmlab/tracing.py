"""Which code of ours a model runs: a tiny one is made, and run on a text of made-up tokens under Python's profiler."""

import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from random import Random
from types import CodeType, FrameType
from typing import Any, Self, get_type_hints

import torch
from torch import nn

from plmlab.batches import collated
from plmlab.example import IGNORE, AnyBatch, AnyExample, Example
from plmlab.layers.hooks import HookPoint, hook_points
from plmlab.listing import SMALL_VOCAB
from plmlab.models.registry import MODELS, ModelType, architecture_of, pretrainable
from plmlab.text.vocabulary import Vocabulary

ENTRANCES = ("forward", "summary", "loss")
"""What is called of a model, as far as it has them."""
ROOMS = ("plmlab.models.", "plmlab.layers.")
"""Where functions stand that are worth showing."""
VOCAB = Vocabulary(SMALL_VOCAB)
Module = type[nn.Module]


def example(kind: ModelType, model: nn.Module) -> AnyExample:
    """What a model reads of made-up tokens: by the objective that pretrains it, or that pretrains what is named like
    it. Where there is none, by its architecture, with a target, and with a label for whatever task it has."""
    first, second = VOCAB.words[:12], VOCAB.words[12:20]
    pretrained = kind if kind.pretraining else pretrainable().get(kind.name)
    if pretrained and (how := pretrained.pretraining):
        given: dict[str, Any] = {"vocab": VOCAB, "rng": Random(0)}
        return how.pairs(first, second, True, **given) if how.pairs else how.objective(first, **given)
    reads = architecture_of(model)
    try:
        made = reads.example(first, second, VOCAB)
    except ValueError:
        made = reads.example(first, None, VOCAB)
    if not isinstance(made, Example):
        return made
    positions, start = torch.arange(len(made.tokens)), (made.segments == 1).int().argmax()
    each = torch.zeros_like(positions)
    labels = {"class": each[0], "tags": each, "start": start, "end": start, "spans": start.expand(1, 2),
              "supporting": each, "pointers": each[:, None].expand(-1, 4)}
    targets = made.targets if (made.targets != IGNORE).any() else torch.where(positions == 1, made.tokens, IGNORE)
    return replace(made, targets=targets, labels=labels)


def filled(kind: Any, batch: Any, config: Any) -> Any:
    """A value of the ``kind`` that a method asks for: the batch, or, of a larger kind, what consists of such batches
    and of tensors. An axis without a fixed length has one element; of vectors, as many as the ``config`` says of a
    field of that name, such as ``width``."""
    if is_dataclass(kind) and not isinstance(batch, kind):  # type: ignore[arg-type]
        hints = get_type_hints(kind)
        return kind(**{part.name: filled(hints[part.name], batch, config)
                       for part in fields(kind)})  # type: ignore[operator]
    if not hasattr(kind, "dim_str"):
        return batch
    real = "float32" in kind.dtypes
    sizes = [int(axis) if axis.isdigit() else getattr(config, axis, 1) if real else 1 for axis in kind.dim_str.split()]
    if "bool" in kind.dtypes:
        return torch.ones(sizes, dtype=torch.bool)
    return torch.zeros(sizes, dtype=torch.float if real else torch.long)


def ours(cls: type) -> bool:
    """Whether a class of modules is neither PyTorch's nor a hook point."""
    return not cls.__module__.startswith("torch.") and issubclass(cls, nn.Module) and not issubclass(cls, HookPoint)


@dataclass
class Trace:
    """A tiny model, and the code that has run in it.

    Attributes:
        kind: its type.
        model: the model itself.
        at: path → class of each module of ours that it holds.
        ran: such a class → name of a method that ran → its code, then that of those which it calls by ``super()``; or
            the name of a function and its code. In the order of the first calls.
        callers: a function's code → the class and the name of the method that called it first.
        unfinished: what of the model could not be run to its end → why.
    """

    kind: ModelType
    model: nn.Module
    at: dict[str, Module]
    ran: dict[Module, dict[str, list[CodeType]]] = field(default_factory=dict)
    callers: dict[CodeType, tuple[Module, str]] = field(default_factory=dict)
    unfinished: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, kind: ModelType) -> Self:
        """Make the model and run it. A ValueError for what is no neural network, or has no tiny size."""
        network = issubclass(kind.model, nn.Module)
        if not network or not hasattr(kind.config, "tiny"):
            raise ValueError(f"{kind.name} {'has no tiny size' if network else 'is no neural network'}, so that there "
                             f"is no forward pass to run; its code is in {inspect.getsourcefile(kind.model)}")
        model = kind.model(kind.config.tiny(SMALL_VOCAB)).eval()
        trace = cls(kind, model, {path: type(module) for path, module in model.named_modules(remove_duplicate=False)
                                  if ours(type(module))})
        batch = collated([example(kind, model)], VOCAB.need("pad"))  # type: ignore[arg-type]
        trace.run(batch)
        for point in hook_points(model).values():
            point.records.append(lambda _: None)
        trace.run(batch)
        return trace

    def run(self, batch: AnyBatch) -> None:
        """Call the model, and keep what runs. Where somebody watches, what is fused otherwise is written out."""
        for method in (getattr(self.model, name) for name in ENTRANCES if hasattr(self.model, name)):
            asked, before = next(iter(inspect.signature(method).parameters.values())), sys.getprofile()
            try:
                given = filled(asked.annotation, batch, self.model.config)
                sys.setprofile(self.seen)
                with torch.no_grad():
                    method(given)
            except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as problem:
                self.unfinished[method.__name__] = str(problem)
            finally:
                sys.setprofile(before)

    def seen(self, frame: FrameType, event: str, _: Any) -> None:
        """Keep the code that is called, where it can be shown and a module of ours has called it."""
        if event != "call" or not self.known(frame) or isinstance(frame.f_locals.get("self"), HookPoint):
            return
        code, above = frame.f_code, frame
        while not (self.known(above) and type(above.f_locals.get("self")) in self.held):
            if above.f_back is None:
                return
            above = above.f_back
        cls, owner = type(above.f_locals["self"]), code.co_qualname.rpartition(".")[0]
        name = code.co_name if any(owner == one.__qualname__ for one in cls.__mro__) else code.co_qualname
        if name == code.co_qualname and self.callers.setdefault(code, (cls, above.f_code.co_name))[0] is not cls:
            return
        chain = self.ran.setdefault(cls, {}).setdefault(name, [])
        if code not in chain:
            chain.append(code)

    def known(self, frame: FrameType) -> bool:
        """Whether a call is of a function that can be shown."""
        name, room = frame.f_code.co_qualname, str(frame.f_globals.get("__name__"))
        return "<" not in name and ".__" not in name and (room in self.rooms or room.startswith(ROOMS))

    @cached_property
    def held(self) -> set[Module]:
        """The classes of the modules that the model holds."""
        return {*self.at.values()}

    @cached_property
    def rooms(self) -> set[str]:
        """The files of these classes, and of those that they inherit from."""
        return {above.__module__ for cls in self.held for above in cls.__mro__ if ours(above)}

    def role(self, path: str) -> str:
        """A path with # for each number, counted from the innermost registered model around it: what a layer of BERT is
        to BERT, it is to whatever BERT is part of."""
        steps, whole = path.split(".") if path else [], {kind.model for kind in MODELS.values()}
        start = max((n for n in range(1, len(steps) + 1)
                     if whole & {*self.at.get(".".join(steps[:n]), nn.Module).__mro__}), default=0)
        return ".".join("#" if step.isdigit() else step for step in steps[start:])

    def roles(self, cls: Module) -> list[str]:
        """What the modules of a class are to the model."""
        return [*dict.fromkeys(self.role(path) for path, one in self.at.items() if one is cls)]

    def chains(self, role: str, name: str) -> Iterator[list[CodeType]]:
        """For each class of a role the code that ran under a name; where none did, that which would run."""
        for cls in dict.fromkeys(cls for path, cls in self.at.items() if self.role(path) == role):
            found = getattr(cls, name, None)
            yield self.ran.get(cls, {}).get(name) or ([inspect.unwrap(found).__code__] if inspect.isfunction(found)
                                                      else [])

    def weights(self) -> dict[str, list[str]]:
        """What a weight is to the model, with its shape → all such weights by their paths, with their shapes."""
        found: dict[str, list[str]] = {}
        for path, module in self.model.named_modules():
            for name, weight in module.named_parameters(recurse=False):
                told = f".{name} {'×'.join(map(str, weight.shape))}"
                found.setdefault(self.role(path) + told, []).append((path + told).lstrip("."))
        return found
