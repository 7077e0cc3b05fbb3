"""Frozen features (冻结特征): training a model while some of its parts are frozen."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def frozen(*parts: nn.Module) -> Iterator[None]:
    """Context manager that freezes parts of a model: no gradients and no dropout, so their output is deterministic.

    ``with frozen(tagger.encoder): fit(tagger, …)`` trains only the output layer. On exit, ``requires_grad`` is
    restored; the parts stay in evaluation mode, as after ``fit``.
    """
    trainable = [parameter for part in parts for parameter in part.parameters() if parameter.requires_grad]
    for parameter in trainable:
        parameter.requires_grad_(False)
    for part in parts:
        part.eval()
        part.train = lambda mode=True, part=part: part  # type: ignore[method-assign,misc]
    try:
        yield
    finally:
        for part in parts:
            part.__dict__.pop("train", None)
        for parameter in trainable:
            parameter.requires_grad_(True)


def all_but(model: nn.Module, part: nn.Module) -> Iterator[nn.Module]:
    """The largest modules of a model that together are everything except this part: ``frozen(*all_but(model, part))``
    trains only the part, and parameters that belong to the model or to a module around the part directly."""
    for child in model.children():
        if part in [*child.modules()]:
            yield from all_but(child, part) if child is not part else ()
        else:
            yield child
