"""ELECTRA's claim (Clark et al. 2020, figure 1, tables 1 and 5): given the same compute, a discriminator that learns
from every position is better than masked language models, BERT-Small 75.1 and ELECTRA-Small 79.9 on GLUE.

Variants: the pretraining tasks of table 5, and BERT with the better of the masking rates 30 % and 50 % ("best BERT"),
chosen on development data with the pilot seed. Each is trained for the compute (FLOPs, generator included) of 500,
1,000 and 2,000 updates of BERT with 15 %. Scores: acceptability, fine-tuned (accuracy), and a linear NER classifier on
frozen outputs (entity-level F1), each with 1,024 labels.

**The criteria**, written before any run:

- *Supported*, if at the largest budget ELECTRA is above the best BERT on both scores, its lowest seed above the highest
  seed of BERT, and at the smaller budgets its mean is not below.
- *Partly supported*, if at the largest budget this separation holds on one of the two scores, or on both only against
  BERT with 15 %, or if it holds on both, but a mean at a smaller budget is below.
- *No effect at this size*, if otherwise the means differ on both scores by less than the spread of the seeds, the
  larger of the two ranges from lowest to highest. In all other cases *not supported*.
- "The gain comes from all positions" is supported, if on both scores, at the largest budget, All-Tokens MLM and ELECTRA
  are each separated above Replace MLM and ELECTRA 15 %; partly, if on one; no effect and not supported by the same
  rule, applied to all four pairs.
- The verdict is void if the BERT of 15 % is not at a plateau: if at the largest budget its mean of the two scores on
  development data is more than 2 percentage points above that at half the budget. Then the longest budget is 3,000.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import mean
from typing import Any

from torch import nn

from plmlab.chapters.ch09.learning_signal import TASKS, build, encoder_of, flops_per_update, train, updates_at
from plmlab.recipes import Parts, separated
from plmlab.recipes.study import Run, Study
from plmlab.transfer import MOST, majority, run_result

BUDGETS = (500, 1000, 2000)
"""Compute of a run, in updates of BERT with 15 %."""
PRETRAINING_RATES = (1e-3, 3e-3, 1e-2, 3e-2)
SCORES = {"acceptability": {"features": False}, "NER": {"features": True}}
FINE_TUNING_RATES = {"acceptability": (3e-4, 1e-3, 3e-3), "NER": (1e-2, 3e-2, 1e-1)}
"""Score → whether the encoder is frozen; score → the rates tried on development data."""
LABELS, STEPS, PATIENCE = MOST, 600, 4
PLATEAU = 0.02
BEST_BERT = ("BERT 30%", "BERT 50%")


def scores_of(encoder: nn.Module, seed: int) -> dict[str, dict[str, float]]:
    """Score → its ``test`` and ``development`` value, each at the rate that is best on development data."""
    results = {}
    for name, choices in SCORES.items():
        runs = [
            run_result(encoder, name, LABELS, seed, lr=lr, steps=STEPS, patience=PATIENCE, **choices)
            for lr in FINE_TUNING_RATES[name]
        ]
        best = max(runs, key=lambda run: run["development"])
        results[name] = {"test": best["score"], "development": best["development"]}
    return results


def mean_development(results: Mapping[str, Mapping[str, float]]) -> float:
    """Mean over the scores of the values on development data."""
    return mean(one["development"] for one in results.values())


def development(run: Run) -> float:
    """Mean of the two scores on development data."""
    return mean_development(scores_of(encoder_of(run.model), run.seed))


def test(run: Run) -> dict[str, dict[str, float]]:
    """The two scores of a run."""
    return scores_of(encoder_of(run.model), run.seed)


def untrained(seed: int) -> dict[str, dict[str, float]]:
    """The two scores of an encoder with random weights."""
    return scores_of(encoder_of(build("ELECTRA", seed)), seed)


def study(nothing: float, tasks: Sequence[str] = tuple(TASKS), budgets: Sequence[int] = BUDGETS) -> Study:
    """The study; ``nothing`` is the development score of an untrained encoder. All rates are chosen at the smallest
    budget of BERT with 15 %, in updates."""
    return Study(
        name="learning signal",
        arms={(task,): PRETRAINING_RATES for task in tasks},
        build=build,
        train=train,
        development=development,
        test=test,
        pilots=(9,),
        pilot_updates=budgets[0],
        nothing=nothing,
        updates={(task,): tuple(updates_at(task, budget) for budget in budgets) for task in tasks},
        unequal="equal compute: FLOPs of all matrix products, those of the generator included",
    )


def compare(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Comparison of two summaries over seeds: "above" (all seeds separated), "equal" (the means differ by less than the
    larger range of seeds), or "different"."""
    if separated(one, other):
        return "above"
    spread = max(one["high"] - one["low"], other["high"] - other["low"])
    return "equal" if abs(one["mean"] - other["mean"]) < spread else "different"


def criteria(results: Mapping[str, Mapping[int, Mapping[str, Any]]], best: str) -> dict[str, Any]:
    """The criteria above, for task → budget → score → its summary over seeds; ``best`` names the best BERT. Returns the
    ``verdict`` of the claim, that of ``all positions``, and whether BERT with 15 % is at a ``plateau``."""
    *smaller, largest = sorted(results["ELECTRA"])

    def at(task: str, budget: int, name: str, kind: str = "test") -> Mapping[str, Any]:
        return results[task][budget][name][kind]

    def comparisons(one: str, other: str) -> list[str]:
        return [compare(at(one, largest, name), at(other, largest, name)) for name in SCORES]

    found, against_15 = comparisons("ELECTRA", best), comparisons("ELECTRA", "BERT 15%")
    never_below = all(
        at("ELECTRA", budget, name)["mean"] >= at(best, budget, name)["mean"] for budget in smaller for name in SCORES
    )
    pairs = [
        comparisons(one, other) for one in ("All-Tokens MLM", "ELECTRA") for other in ("Replace MLM", "ELECTRA 15%")
    ]
    by_score = [list(one) for one in zip(*pairs, strict=True)]
    above = [set(one) == {"above"} for one in by_score]
    bert = [
        mean(at("BERT 15%", budget, name, "development")["mean"] for name in SCORES)
        for budget in (smaller[-1], largest)
    ]
    return {
        "verdict": _verdict(
            all(one == "above" for one in found) and never_below,
            "above" in found or set(against_15) == {"above"},
            found,
        ),
        "all positions": _verdict(all(above), any(above), [one for row in by_score for one in row]),
        "plateau": bert[1] - bert[0] <= PLATEAU,
    }


def _verdict(whole: bool, part: bool, comparisons: Sequence[str]) -> str:
    if whole or part:
        return "supported" if whole else "partly supported"
    return "no effect at this size" if set(comparisons) == {"equal"} else "not supported"


def measure(parts: Parts, tasks: Sequence[str] = tuple(TASKS), budgets: Sequence[int] = BUDGETS) -> dict[str, Any]:
    """``untrained``: the scores of a random encoder by seed; ``best bert``; the ``criteria``; and ``tasks``: task →
    ``flops`` of an update and ``budgets``: budget → ``updates``, ``lr``, ``rates`` tried, and score → ``test`` and
    ``development``, with spread."""
    random = parts(untrained, [(seed,) for seed in (9, 0, 1, 2)])
    one = study(mean_development(random[9,]), tasks, budgets)
    pilots = one.best(parts, [(task, updates_at(task, budgets[0])) for task in BEST_BERT])
    scores = {task: max(pilots[task, updates_at(task, budgets[0])][1].values()) for task in BEST_BERT}
    best = max(BEST_BERT, key=scores.__getitem__)
    kept = {arm: rates for arm, rates in one.arms.items() if arm[0] not in BEST_BERT or arm[0] == best}
    found = replace(one, arms=kept).measure(parts)
    told: dict[str, Any] = {
        task: {
            "flops": flops_per_update(task),
            "budgets": {
                budget: {"updates": updates_at(task, budget), **found[task, updates_at(task, budget)].as_record()}
                for budget in budgets
            },
        }
        for (task,) in kept
    }
    return {
        "untrained": [{"seed": seed, **random[seed,]} for seed in (0, 1, 2)],
        "majority": majority("acceptability"),
        "best bert": best,
        "pilots": scores,
        "tasks": told,
        "criteria": criteria({task: row["budgets"] for task, row in told.items()}, best),
    }
