"""Frozen features (冻结特征): a part of the model is used as it is, and only the rest is trained."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def frozen(*parts: nn.Module) -> Iterator[None]:
    """While the ``with`` lasts, no weight of these parts is trained, and their dropout is off: what they make of a text
    is always the same. ``with frozen(tagger.encoder): fit(tagger, …)`` trains the output layer alone.

    Afterwards what could be trained before can be trained again; the parts are left in evaluation mode, as by ``fit``.
    """
    trained = [parameter for part in parts for parameter in part.parameters() if parameter.requires_grad]
    for parameter in trained:
        parameter.requires_grad_(False)
    for part in parts:
        part.eval()
        part.train = lambda mode=True, part=part: part  # type: ignore[method-assign,misc]
    try:
        yield
    finally:
        for part in parts:
            part.__dict__.pop("train", None)
        for parameter in trained:
            parameter.requires_grad_(True)
