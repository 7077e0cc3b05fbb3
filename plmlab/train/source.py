"""The source of a run's batches, and their distribution over processes."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, Protocol, Self

from torch import Tensor


class Trainable(Protocol):
    """Interface of the batches that ``fit`` accepts."""

    @property
    def targets(self) -> Tensor:
        """Targets, [batch time]; IGNORE at positions without a loss."""

    def to(self, device: Any) -> Self:
        """Copy to a device."""


Batches = Callable[[int], Trainable] | Sequence[Trainable] | Iterable[Trainable]


class Source:
    """Distributes the batches of a run: step s uses the ``stride`` batches from ``s · stride`` on.

    ``stride`` is processes × accumulation; this process takes every ``processes``-th of these batches, starting at
    ``rank``. The effective batch of an update is therefore independent of the number of processes. ``draw(step)``
    returns the batches of this process, or an empty list once there are no more; it must be called with consecutive
    steps, after ``skip(steps)`` if a run is resumed. Raises ValueError for an empty list, TypeError for an object that
    yields no batches.
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
        """Make the ``draw`` function for random access: ``batch(i)`` is the i-th batch."""
        def draw(step: int) -> list[Trainable]:
            start = step * self.stride
            drawn = [batch(i) for i in range(start + self.rank, start + self.stride, self.processes)]
            if invalid := [item for item in drawn if not hasattr(item, "to")]:
                raise TypeError(f"batches gave a {type(invalid[0]).__name__}, not a batch; a function must end with "
                                "return, and return the batch of its step")
            return drawn
        return draw

    def from_stream(self, batches: Iterable[Trainable]) -> Callable[[int], list[Trainable]]:
        """Make the ``draw`` function for a stream of batches; ``skip(steps)`` then discards the batches of these
        steps."""
        stream = iter(batches)
        self.skip = lambda steps: deque(islice(stream, steps * self.stride), maxlen=0)

        def draw(step: int) -> list[Trainable]:
            batches_of_step = list(islice(stream, self.stride))
            return batches_of_step[self.rank::self.processes] if len(batches_of_step) == self.stride else []
        return draw
