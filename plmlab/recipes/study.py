"""A study: arms that are compared under one protocol, which refuses what would make the comparison unfair."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from torch import nn

from plmlab.recipes.parts import Parts
from plmlab.recipes.rates import Arm, Scores, none_if_diverged, rates_tried, tune_learning_rates
from plmlab.recipes.statistics import seed_statistics, separated
from plmlab.recipes.stored_models import keep, with_kept

Model = TypeVar("Model", bound=nn.Module)


class Run(NamedTuple):
    """A model that was trained: which arm it is, for how many updates, at what rate, with which seed; and what its
    training returned, mostly a `History`."""

    arm: Arm
    updates: int
    lr: float
    seed: int
    model: Any
    history: Any


class Measured(NamedTuple):
    """What was found of an arm: its learning rate, the development score of every rate that was tried (−∞ where a
    pilot diverged), and seed → what its test gave."""

    lr: float
    scores: Scores
    runs: dict[int, Any]

    def told(self) -> dict[str, Any]:
        """As it is recorded: ``lr``, the ``rates`` tried with their scores (None: diverged), and the test's numbers,
        which is a dict of them, with their spread."""
        return {"lr": self.lr, "rates": rates_tried(self.scores), **seed_statistics(self.runs)}


@dataclass(frozen=True, kw_only=True)
class Study(Generic[Model]):
    """Arms that are compared, as a value; its functions stand in modules, for they run in other processes.

    Attributes:
        name: what its parts and the weights that it keeps are filed under.
        arms: arm, a tuple of numbers and strings, → the learning rates to begin with, neighbours on the `LR_GRID`.
        build: ``build(*arm, seed)`` is an arm's model with random weights of the seed.
        train: ``train(model, *arm, updates=, lr=, seed=, **options)`` trains it; returns what is a `Run`'s ``history``.
        development: the score of a `Run` by which rates are chosen, on data that are not the test's; higher is better.
        test: the numbers of a `Run` that are recorded.
        updates: the numbers of updates that every arm is trained for, each a run of its own; or arm → its own, and then
            ``unequal`` says why they differ.
        nothing: the development score of a model that has learned nothing, such as −log of the number of classes.
        seeds: of the runs; the same for each arm.
        pilots: the seeds that rates are chosen with.
        pilot_updates: after how many updates a rate is judged; None: after as many as the run it is chosen for has.
        unequal: why the budgets differ.

    ValueError: a pilot's seed that is a run's too; budgets that differ without a reason.
    """

    name: str
    arms: Mapping[Arm, Sequence[float]]
    build: Callable[..., Model]
    train: Callable[..., Any]
    development: Callable[[Run], float]
    test: Callable[[Run], Any]
    updates: Sequence[int] | Mapping[Arm, Sequence[int]]
    nothing: float
    seeds: Sequence[int] = (0, 1, 2)
    pilots: Sequence[int] = (9, 10)
    pilot_updates: int | None = None
    unequal: str = ""

    def __post_init__(self) -> None:
        if both := set(self.seeds) & set(self.pilots):
            raise ValueError(f"{self.name}: seeds {sorted(both)} choose the learning rates and are measured too; give "
                             "pilots other seeds")
        if len({tuple(self.budgets(arm)) for arm in self.arms}) > 1 and not self.unequal:
            raise ValueError(f"{self.name}: its arms are trained for different numbers of updates; give them the same, "
                             "or say why in `unequal`")

    def budgets(self, arm: Arm) -> Sequence[int]:
        """The numbers of updates that an arm is trained for."""
        return self.updates[arm] if isinstance(self.updates, Mapping) else self.updates

    def learned(self, *arm: Any, updates: int, lr: float, seed: int, **options: Any) -> Run:
        """An arm, trained here and now; ``options`` are its training's."""
        model = self.build(*arm, seed)
        return Run(arm, updates, lr, seed, model,
                   self.train(model, *arm, updates=updates, lr=lr, seed=seed, **options))

    def live(self, told: Mapping[str, Any], *arm: Any, updates: int, seed: int | None = None, **options: Any) -> Run:
        """One run of what was recorded, again: ``told`` is what `Measured.told` gave; with the first seed, unless
        another is named."""
        return self.learned(*arm, updates=updates, lr=told["lr"], seed=self.seeds[0] if seed is None else seed,
                            **options)

    def measure(self, parts: Parts) -> dict[Arm, Measured]:
        """(*arm, updates) → what was found with the rate that is best for it.

        ValueError where at no rate an arm learned anything, or the best rate stands at the end of the `LR_GRID`.
        """
        return self.at(parts, self.best(parts, [(*arm, updates) for arm in self.arms for updates in self.budgets(arm)]))

    def best(self, parts: Parts, asked: Sequence[Arm]) -> dict[Arm, tuple[float, Scores]]:
        """(*arm, updates) → its best rate, no edge of its grid, with the scores of those that were tried."""
        piloted = {one: (*one[:-1], self.pilot_updates or one[-1]) for one in asked}
        grids = {pilot: self.arms[pilot[:-1]] for pilot in piloted.values()}
        found = tune_learning_rates(parts, self._pilot, self.pilots, grids)
        for pilot, (lr, scores) in found.items():
            if scores[lr] <= self.nothing:
                raise ValueError(f"{self.name}: {pilot} has learned nothing at any rate of {sorted(scores)}: its best "
                                 f"score is {scores[lr]:.4g}, and {self.nothing:.4g} is had for nothing. No rate can "
                                 "be chosen among such runs; give it more updates, or other rates to begin with")
        return {one: found[pilot] for one, pilot in piloted.items()}

    def at(self, parts: Parts, rates: Mapping[Arm, tuple[float, Scores]]) -> dict[Arm, Measured]:
        """(*arm, updates) → what was found with the rate that it is given."""
        folder = str(parts.folder)
        runs = parts(self._run, [(folder, *one, lr, seed) for one, (lr, _) in rates.items() for seed in self.seeds])
        return {one: Measured(lr, scores, {seed: runs[folder, *one, lr, seed] for seed in self.seeds})
                for one, (lr, scores) in rates.items()}

    def trained(self, folder: str | Path, *arm: Any, updates: int, seed: int) -> Model:
        """The model of a run, which `measure` has kept in ``parts.folder``; in evaluation mode."""
        return with_kept(self.build(*arm, seed), self._file(folder, arm, updates, seed))

    def _file(self, folder: str | Path, arm: Arm, updates: int, seed: int) -> Path:
        named = " ".join(map(str, (*arm, updates, seed))).replace("/", "_")
        return Path(folder) / self.name / f"{named}.safetensors"

    @none_if_diverged
    def _pilot(self, *task: Any) -> float:
        *arm, updates, lr, seed = task
        return self.development(self.learned(*arm, updates=updates, lr=lr, seed=seed, show=False))

    def _run(self, folder: str, *task: Any) -> Any:
        *arm, updates, lr, seed = task
        run = self.learned(*arm, updates=updates, lr=lr, seed=seed, show=False)
        keep(run.model, self._file(folder, run.arm, updates, seed))
        return self.test(run)

    @property
    def source(self) -> str:
        """The source of the modules that its functions stand in: what a part was computed by."""
        functions = [one.func if isinstance(one, partial) else one
                     for one in (self.build, self.train, self.development, self.test)]
        return "".join(inspect.getsource(module) for module in
                       dict.fromkeys(inspect.getmodule(function) for function in functions) if module)


def verdict(one: Mapping[str, Any], other: Mapping[str, Any], margin: float) -> str:
    """Of "``one`` is above ``other``", two numbers with their spread: "supported" where each seed of one is above each
    of the other's by more than the margin, "not supported" where it is the other way round, and else "no effect at this
    size"."""
    if separated(one, other, margin):
        return "supported"
    return "not supported" if separated(other, one, margin) else "no effect at this size"
