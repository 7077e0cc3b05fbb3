"""A study: variants compared under one protocol, which rejects unfair comparisons."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
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

NO_EFFECT = "no effect at this size"


class Run(NamedTuple):
    """A training run: its variant, number of updates, learning rate and seed; the trained model; and the value returned
    by the training function, usually a `History`."""

    arm: Arm
    updates: int
    lr: float
    seed: int
    model: Any
    history: Any


class Measured(NamedTuple):
    """The results of a variant: its learning rate ``lr``, the development scores of all rates tried (−∞ if a pilot run
    diverged), and the test results of its ``runs`` by seed."""

    lr: float
    scores: Scores
    runs: dict[int, Any]

    def as_record(self) -> dict[str, Any]:
        """The results in the form in which they are recorded: ``lr``, the ``rates`` tried with their scores (None:
        diverged), and the test results (a dict of numbers), summarized over seeds."""
        return {"lr": self.lr, "rates": rates_tried(self.scores), **seed_statistics(self.runs)}


@dataclass(frozen=True, kw_only=True)
class Study(Generic[Model]):
    """The variants of a comparison and its protocol. Its functions must be defined in modules, because they run in
    other processes.

    Attributes:
        name: the name used for its parts and for the weights that it saves.
        arms: variant, a tuple of numbers and strings, → its initial learning rates, neighbours on the `LR_GRID`.
        build: ``build(*arm, seed)`` returns a variant's model, with random weights drawn with the seed.
        train: ``train(model, *arm, updates=, lr=, seed=, **options)`` trains it; returns the ``history`` of a `Run`.
        development: the score of a `Run` by which rates are chosen, on data other than the test set; higher is better.
        test: the numbers to be recorded for a `Run`.
        updates: the numbers of updates of every variant, each for a separate run; or variant → its own numbers, and
            then ``unequal`` states why they differ.
        nothing: the development score of a model that has learned nothing, such as −log of the number of classes.
        seeds: seeds of the runs; the same for each variant.
        pilots: seeds of the pilot runs that choose the rates.
        pilot_updates: number of updates of the pilot runs; None: the same as in the run for which the rate is chosen.
        unequal: why the budgets differ.

    Raises ValueError if a pilot seed is also the seed of a run, or if budgets differ without a reason.
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
            raise ValueError(f"{self.name}: seeds {sorted(both)} both choose the learning rates and are measured; give "
                             "the pilots other seeds")
        if len({tuple(self.budgets(arm)) for arm in self.arms}) > 1 and not self.unequal:
            raise ValueError(f"{self.name}: its variants are trained for different numbers of updates; give them the "
                             "same, or give the reason in `unequal`")

    def budgets(self, arm: Arm) -> Sequence[int]:
        """The numbers of updates that a variant is trained for."""
        return self.updates[arm] if isinstance(self.updates, Mapping) else self.updates

    def learned(self, *arm: Any, updates: int, lr: float, seed: int, **options: Any) -> Run:
        """Train a variant now, without the cache; ``options`` are passed to its training function."""
        model = self.build(*arm, seed)
        return Run(arm, updates, lr, seed, model,
                   self.train(model, *arm, updates=updates, lr=lr, seed=seed, **options))

    def live(self, told: Mapping[str, Any], *arm: Any, updates: int, seed: int | None = None, **options: Any) -> Run:
        """Repeat one recorded run; ``told`` is the recorded output of `Measured.as_record`. Uses the first seed unless
        another one is given."""
        return self.learned(*arm, updates=updates, lr=told["lr"], seed=self.seeds[0] if seed is None else seed,
                            **options)

    def measure(self, parts: Parts) -> dict[Arm, Measured]:
        """``(*arm, updates)`` → the results of the variant at its best learning rate.

        Raises ValueError if a variant learned nothing at any rate, or if the best rate is at an end of the
        `LR_GRID`.
        """
        return self.at(parts, self.best(parts, [(*arm, updates) for arm in self.arms for updates in self.budgets(arm)]))

    def best(self, parts: Parts, asked: Sequence[Arm]) -> dict[Arm, tuple[float, Scores]]:
        """``(*arm, updates)`` → its best rate, which is never at an edge of its grid, with the scores of the rates
        tried.
        """
        piloted = {one: (*one[:-1], self.pilot_updates or one[-1]) for one in asked}
        grids = {pilot: self.arms[pilot[:-1]] for pilot in piloted.values()}
        found = tune_learning_rates(parts, self._pilot, self.pilots, grids)
        for pilot, (lr, scores) in found.items():
            if scores[lr] <= self.nothing:
                raise ValueError(f"{self.name}: {pilot} has learned nothing at any rate of {sorted(scores)}: its best "
                                 f"score is {scores[lr]:.4g}, and a model that has learned nothing scores "
                                 f"{self.nothing:.4g}. No rate can be chosen among such runs; give it more updates, or "
                                 "other initial rates")
        return {one: found[pilot] for one, pilot in piloted.items()}

    def at(self, parts: Parts, rates: Mapping[Arm, tuple[float, Scores]]) -> dict[Arm, Measured]:
        """``(*arm, updates)`` → its results at the given rate."""
        folder = str(parts.folder)
        runs = parts(self._run, [(folder, *one, lr, seed) for one, (lr, _) in rates.items() for seed in self.seeds])
        return {one: Measured(lr, scores, {seed: runs[folder, *one, lr, seed] for seed in self.seeds})
                for one, (lr, scores) in rates.items()}

    def trained(self, folder: str | Path, *arm: Any, updates: int, seed: int) -> Model:
        """The trained model of a run, in evaluation mode, from the weights that `measure` has saved in
        ``parts.folder``."""
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
        """Source code of the modules that define the study's functions; part of the cache key."""
        functions = [one.func if isinstance(one, partial) else one
                     for one in (self.build, self.train, self.development, self.test)]
        return "".join(inspect.getsource(module) for module in
                       dict.fromkeys(inspect.getmodule(function) for function in functions) if module)


def verdict(one: Mapping[str, Any], other: Mapping[str, Any], margin: float) -> str:
    """Verdict on the claim that ``one`` is above ``other``, both summaries over seeds: "supported" if every seed of
    ``one`` exceeds every seed of ``other`` by more than the margin, "not supported" in the opposite case, and otherwise
    "no effect at this size"."""
    if separated(one, other, margin):
        return "supported"
    return "not supported" if separated(other, one, margin) else NO_EFFECT


def combined_verdict(verdicts: Iterable[str]) -> str:
    """The verdict on a claim that makes several comparisons, from a `verdict` on each: "supported" if all of them are;
    "partly supported" if some are, and the opposite holds in none; "not supported" if only the opposite holds; "mixed"
    if both occur; and otherwise "no effect at this size"."""
    found = {*verdicts}
    if {"supported", "not supported"} <= found:
        return "mixed"
    return "partly supported" if found > {"supported"} else next(iter(found - {NO_EFFECT}), NO_EFFECT)
