"""How a wrong output stands to the right one on all inputs: its negative, a multiple, its exp, in another order."""

from collections.abc import Callable, Sequence
from math import log
from typing import Any

import torch
from torch import Tensor

from plmlab.exercises.comparing import same

Pair = tuple[Any, Any]
MADE: dict[str, Callable[[Tensor], Tensor]] = {
    "yours is the negative of what is right: is there a sign too many, or one too few?": torch.neg,
    "yours is exp of what is right (of a loss: the perplexity)": torch.exp,
    "yours is the logarithm of what is right": torch.log,
    "yours is the softmax of what is right": lambda right: right.softmax(-1) if right.dim() else right,
    "yours is log-softmax of what is right": lambda right: right.log_softmax(-1) if right.dim() else right,
    "yours is what is right divided by ln 2: in bits, where nats are asked for": lambda right: right / log(2),
    "yours is what is right times ln 2: in nats, where bits are asked for": lambda right: right * log(2),
    "yours is transposed: its last two axes have changed places": lambda right: right.mT if right.dim() > 1 else right,
}
"""What is said → what is made of the right output."""
MULTIPLES = (
    ("yours is what is right times {}: is it a sum, where a mean is asked for?", lambda yours, right: yours / right),
    ("yours is what is right divided by {}: does a mean count too many?", lambda yours, right: right / yours),
)


def relation(pairs: Sequence[Pair]) -> str:
    """What holds between the learner's output and the right one on every input, in a phrase; "" for nothing.

    ``pairs`` are (yours, right), an input each.
    """
    if pairs and all(isinstance(right, tuple) for _, right in pairs):
        if all(isinstance(yours, tuple) and len(yours) == len(right) > 1 and same(yours[::-1], right)
               for yours, right in pairs):
            return "yours has the right parts, but in the opposite order"
        return ""
    tensors = [(_tensor(yours), _tensor(right)) for yours, right in pairs]
    known = [(yours, right) for yours, right in tensors if yours is not None and right is not None]
    if not known or len(known) < len(pairs) or all(same(*pair) for pair in known):
        return ""
    for said, make in MADE.items():
        if all(same(yours, make(right)) for yours, right in known):
            return said
    if all(yours.shape == right.shape and same(*(x.flatten().sort()[0] for x in (yours, right)))
           for yours, right in known) and any(right.numel() > 1 for _, right in known):
        return "yours has the right numbers, but some stand at other places"
    return next(filter(None, (_multiple(said, of, known) for said, of in MULTIPLES)), "")


def _tensor(value: Any) -> Tensor | None:
    """Floats as a tensor; None for what has no floats."""
    if isinstance(value, float):
        return torch.tensor(value)
    return value.detach().float() if isinstance(value, Tensor) and value.is_floating_point() else None


def _multiple(said: str, of: Callable[[Tensor, Tensor], Tensor], pairs: Sequence[tuple[Tensor, Tensor]]) -> str:
    """The phrase with the whole number from 2 on, one an input, that the outputs differ by; "" where there is none."""
    found = []
    for yours, right in pairs:
        if yours.shape != right.shape or not right.numel() or not bool((right.abs() > 1e-6).all()):
            return ""
        times = of(yours, right)
        number = round(float(times.mean())) if bool(times.isfinite().all()) else 0
        if number < 1 or not same(times, torch.full_like(times, number)):
            return ""
        found.append(number)
    if max(found) < 2:
        return ""
    if len({*found}) == 1:
        return said.format(found[0])
    return said.format(f"{', '.join(map(str, found[:-1]))} and {found[-1]} on the inputs, in turn")
