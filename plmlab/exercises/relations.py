"""The relation between wrong outputs and the expected ones on all inputs: negated, multiplied, exponentiated,
reordered."""

from collections.abc import Callable, Sequence
from math import log
from typing import Any

import torch
from torch import Tensor

from plmlab.exercises.comparing import same

Pair = tuple[Any, Any]
MADE: dict[str, Callable[[Tensor], Tensor]] = {
    "yours is the negative of the expected output: is there a sign too many, or one too few?": torch.neg,
    "yours is exp of the expected output (for a loss: the perplexity)": torch.exp,
    "yours is the logarithm of the expected output": torch.log,
    "yours is the softmax of the expected output": lambda right: right.softmax(-1) if right.dim() else right,
    "yours is the log-softmax of the expected output": lambda right: right.log_softmax(-1) if right.dim() else right,
    "yours is the expected output divided by ln 2: in bits instead of nats": lambda right: right / log(2),
    "yours is the expected output times ln 2: in nats instead of bits": lambda right: right * log(2),
    "yours is transposed: its last two axes are swapped": lambda right: right.mT if right.dim() > 1 else right,
}
"""Phrase → the transformation of the expected output."""
MULTIPLES = (
    ("yours is the expected output times {}: is it a sum instead of a mean?", lambda yours, right: yours / right),
    ("yours is the expected output divided by {}: does a mean count too many?", lambda yours, right: right / yours),
)


def relation(pairs: Sequence[Pair]) -> str:
    """The relation between the learner's output and the expected one on every input, as a phrase; "" if there is none.

    ``pairs`` holds a pair (yours, expected) for each input.
    """
    if pairs and all(isinstance(right, tuple) for _, right in pairs):
        if all(isinstance(yours, tuple) and len(yours) == len(right) > 1 and same(yours[::-1], right)
               for yours, right in pairs):
            return "yours has the correct parts, but in reverse order"
        return ""
    tensors = [(_tensor(yours), _tensor(right)) for yours, right in pairs]
    known = [(yours, right) for yours, right in tensors if yours is not None and right is not None]
    if not known or len(known) < len(pairs) or all(same(*pair) for pair in known):
        return ""
    for phrase, make in MADE.items():
        if all(same(yours, make(right)) for yours, right in known):
            return phrase
    if all(yours.shape == right.shape and same(*(x.flatten().sort()[0] for x in (yours, right)))
           for yours, right in known) and any(right.numel() > 1 for _, right in known):
        return "yours has the correct numbers, but some are in the wrong places"
    return next(filter(None, (_multiple(phrase, of, known) for phrase, of in MULTIPLES)), "")


def _tensor(value: Any) -> Tensor | None:
    """Convert a float or a floating-point tensor to a tensor; None for any other value."""
    if isinstance(value, float):
        return torch.tensor(value)
    return value.detach().float() if isinstance(value, Tensor) and value.is_floating_point() else None


def _multiple(phrase: str, of: Callable[[Tensor, Tensor], Tensor], pairs: Sequence[tuple[Tensor, Tensor]]) -> str:
    """The phrase with the integer factors by which the outputs differ, one per input and at least one of them above 1;
    "" if there are no such factors."""
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
        return phrase.format(found[0])
    return phrase.format(f"{', '.join(map(str, found[:-1]))} and {found[-1]} on the inputs, in turn")
