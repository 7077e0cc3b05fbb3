"""Where the batches come from, and which process takes which."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, Protocol, Self

from torch import Tensor


class Trainable(Protocol):
    """What ``fit`` has to know of a batch: how it is moved, and how many targets it has."""

    @property
    def targets(self) -> Tensor:
        """What each position must predict, [batch time]; IGNORE where a position has no target."""

    def to(self, device: Any) -> Self:
        """The batch on another device."""


Batches = Callable[[int], Trainable] | Sequence[Trainable] | Iterable[Trainable]


class Source:
    """The batches of a run, dealt out: step s uses the ``stride`` batches from ``s · stride`` on.

    ``stride`` is processes × accumulation, and this process takes every ``processes``-th of them from ``rank`` on. So
    many small batches make one large one, whoever computes them. ``draw(step)`` gives this process's, none where the
    batches have run out; steps are asked for in order, after ``skip(steps)`` where a run is resumed. ValueError for an
    empty list, TypeError for what yields no batches.
    """

    def __init__(self, batches: Batches, *, processes: int, rank: int, accumulate: int) -> None:
        self.processes, self.rank, self.stride = processes, rank, processes * accumulate
        self.draw: Callable[[int], list[Trainable]]
        self.skip: Callable[[int], object] = lambda steps: None
        if callable(batches):
            self.draw = self.from_function(batches)
        elif isinstance(batches, Sequence):
            if not batches:
                raise ValueError("the list of batches is empty: there is nothing to train on")
            self.draw = self.from_function(lambda i: batches[i % len(batches)])
        elif isinstance(batches, Iterable):
            self.draw = self.from_stream(batches)
        else:
            raise TypeError(f"batches is a {type(batches).__name__}; give a function step → batch, a list of "
                            "batches, or anything that yields batches")

    def from_function(self, batch: Callable[[int], Trainable]) -> Callable[[int], list[Trainable]]:
        """The ``draw`` of batches that can be had in any order: ``batch(i)`` is the i-th."""
        def draw(step: int) -> list[Trainable]:
            start = step * self.stride
            drawn = [batch(i) for i in range(start + self.rank, start + self.stride, self.processes)]
            if odd := [one for one in drawn if not hasattr(one, "to")]:
                raise TypeError(f"batches gave a {type(odd[0]).__name__}, not a batch; a function must end with "
                                "return, and give the batch of its step")
            return drawn
        return draw

    def from_stream(self, batches: Iterable[Trainable]) -> Callable[[int], list[Trainable]]:
        """The ``draw`` of batches that come one after the other; ``skip`` then passes over those of so many steps."""
        stream = iter(batches)
        self.skip = lambda steps: deque(islice(stream, steps * self.stride), maxlen=0)

        def draw(step: int) -> list[Trainable]:
            everyones = list(islice(stream, self.stride))
            return everyones[self.rank::self.processes] if len(everyones) == self.stride else []
        return draw
