"""Recipe of chapter 06: agreement over up to 12 words, and over 50, 200 and 500; string reversal by number of heads.

Learning rates are chosen with two pilot seeds, on sentences that are not in the test set, from a grid that is extended
until its best value is not at an edge.
"""

from typing import Any

from torch import nn

from plmlab.chapters.ch06 import agreement, backwards, long_chains
from plmlab.recipes import Parts, pilot_score, rates_tried, seed_summary, tune_learning_rate

SEEDS = (0, 1, 2)
PILOTS = (9, 10)
"""Seeds for the choice of learning rates; not used for the results."""
GRID = (3e-3, 1e-2, 3e-2)
LONG_GRIDS = {"Transformer": (1e-3, 3e-3, 1e-2), "LSTM": GRID}


def main(parts: Parts) -> dict[str, Any]:
    """Record ``agreement``, ``long chains`` and ``heads``, with all learning rates tried for each configuration."""
    return {"agreement": short(parts), "long chains": long(parts), "heads": heads(parts)}


def short(parts: Parts) -> dict[str, Any]:
    """``steps``; and ``kinds``: model → agreement accuracy ``near`` and ``far`` at each step, with its spread."""
    kinds: dict[str, Any] = {}
    for kind in agreement.KINDS:
        lr, scores = tune_learning_rate(pilot_score(parts, agreement.lr_score, PILOTS, kind), GRID)
        runs = parts(agreement.curves, [(kind, lr, seed) for seed in SEEDS])
        by_seed = {seed: runs[kind, lr, seed] for seed in SEEDS}
        kinds[kind] = {
            "lr": lr, "rates": rates_tried(scores), "parameters": size(agreement.build(kind, 0)),
        } | {reach: by_step({seed: run[reach] for seed, run in by_seed.items()}) for reach in ("near", "far")}
    return {"steps": looks(agreement.EVERY, agreement.STEPS), "kinds": kinds}


def long(parts: Parts) -> dict[str, Any]:
    """``steps``; and ``kinds``: model → words between noun and verb → accuracy at each step (``seen``), and at the
    length not trained on (``unseen``). Learning rates are chosen at the shorter length."""
    kinds: dict[str, Any] = {}
    shorter, longer = long_chains.LENGTHS
    for kind, grid in LONG_GRIDS.items():
        lr, scores = tune_learning_rate(pilot_score(parts, long_chains.lr_score, PILOTS, kind, shorter), grid)
        runs = parts(long_chains.run, [(kind, between, lr, seed) for between in (shorter, longer) for seed in SEEDS])
        kinds[kind] = {
            "lr": lr, "rates": rates_tried(scores), "parameters": size(long_chains.build(kind, 0, shorter)),
        } | {str(between): {"seen": by_step({seed: runs[kind, between, lr, seed]["seen"] for seed in SEEDS}),
                            "unseen": seed_summary({seed: runs[kind, between, lr, seed]["unseen"] for seed in SEEDS})}
             for between in (shorter, longer)}
    return {"steps": looks(long_chains.EVERY, long_chains.STEPS), "unseen": long_chains.UNSEEN, "kinds": kinds}


def heads(parts: Parts) -> dict[str, Any]:
    """``steps``; and ``heads``: number of heads → ``loss`` on new strings at each of these steps, with spread."""
    results: dict[str, Any] = {}
    for count in backwards.HEADS:
        lr, scores = tune_learning_rate(pilot_score(parts, backwards.lr_score, PILOTS, count), GRID)
        runs = parts(backwards.backwards, [(count, lr, seed) for seed in SEEDS])
        results[str(count)] = {"lr": lr, "rates": rates_tried(scores),
                               "loss": by_step({seed: runs[count, lr, seed] for seed in SEEDS})}
    return {"steps": looks(backwards.EVERY, backwards.STEPS), "heads": results}


def looks(every: int, last: int) -> list[int]:
    """Steps after which a run is evaluated."""
    return list(range(every, last + 1, every))


def by_step(runs: dict[int, list[float]]) -> list[dict[str, Any]]:
    """Spread over the seeds at each step; ``runs``: seed → values at each step."""
    return [seed_summary(dict(zip(runs, values, strict=True))) for values in zip(*runs.values(), strict=True)]


def size(model: nn.Module) -> int:
    """Number of parameters of a model."""
    return sum(parameter.numel() for parameter in model.parameters())
