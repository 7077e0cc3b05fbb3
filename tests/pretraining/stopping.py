"""A run that something happens to when a batch is drawn."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from plmlab.pretraining import Plan
from plmlab.pretraining.material import Material


def stopped_at(step: int, act: Callable[[], None], through: Callable[[Plan, Path], Material],
               asked: int = 1) -> Callable[[Plan, Path], Material]:
    """The material that ``through`` gives, but ``act`` is called before the batch of that step is given, asked for so
    many times."""
    def material(plan: Plan, folder: Path) -> Material:
        made, times = through(plan, folder), 0

        def batch(i: int):
            nonlocal times
            times += i == step
            if i == step and times == asked:
                act()
            return made.batches(i)
        return replace(made, batches=batch)
    return material
