"""Ablation of REALM: the contribution of each component to retrieval and to the answers.

Guu et al. (2020, table 2) report the percentage of Natural Questions for which, without fine-tuning, the answer occurs
in one of five blocks: 38.5 for REALM, 26.1 with random spans and 24.2 with random tokens masked, 15.1 with an index
thirty times as old, and 13.9 at initialization. Their other results are in `open_domain`. Our measure is recall@4, on
statements of held-out worlds. All variants are trained for the same number of updates from the same weights, except the
variant without the warm start; none of them has converged.

The rules were fixed before the runs, for recall@4 (*retriever*) and for accuracy (*answers*). A component *is worth
something* if every seed with it is above every seed without it by more than `verdicts.MARGIN`; it *does harm* in the
opposite case; otherwise it does not show. The `CHOSEN` variants have their own learning rate, the best of `RATES`
by recall in another world, with one seed; at the lowest of these rates hardly anything is learned, so that it may be
chosen for a variant for which training only hurts. The other variants use REALM's learning rate. (In the first recorded
runs, so did the variants with a stale index, without the warm start and without the null document.)

- *Salient spans help*: compared with random spans and with random tokens.
- *A fresh index helps*, *a warm start helps*, *a null document helps*, *excluding the source helps*.
- *Quoted alone*: only quoted statements, whose source can be retrieved as well, compared with the same without the
  source.
"""

from operator import itemgetter
from typing import Any

from plmlab.chapters.ch16.arms import ARMS, CHOSEN, FULL, SEEDS, outcomes, stored_model, train_arm
from plmlab.recipes import Parts, seed_statistics

RATES = (3e-5, 1e-4, 3e-4, 1e-3)
"""Learning rates that are tried for `CHOSEN`."""


def examined(folder: str, name: str, lr: float, seed: int) -> dict[str, float]:
    """A variant's `outcomes`."""
    return outcomes(name, stored_model(folder, name, lr, seed))


def measure(parts: Parts) -> dict[str, Any]:
    """Variant → its ``lr``, the ``rates`` tried with recall on the development world, its ``curves`` (seed → list of
    (updates, recall@4)), and the spread of its outcomes."""
    folder = str(parts.folder)
    tried = parts(train_arm, [(folder, name, lr, SEEDS[0]) for name in CHOSEN for lr in RATES])
    found = {name: [(lr, tried[folder, name, lr, SEEDS[0]]["development"]) for lr in RATES] for name in CHOSEN}
    best = {name: max(told, key=itemgetter(1))[0] for name, told in found.items()}
    rates = {name: best.get(name, best[FULL]) for name in ARMS}
    runs = parts(train_arm, [(folder, name, lr, seed) for seed in SEEDS for name, lr in rates.items()])
    exams = parts(examined, [(folder, name, lr, seed) for seed in SEEDS for name, lr in rates.items()])
    return {name: {"lr": lr, "rates": found.get(name, []),
                   "curves": {seed: runs[folder, name, lr, seed]["curve"] for seed in SEEDS},
                   "outcomes": seed_statistics({seed: exams[folder, name, lr, seed] for seed in SEEDS})}
            for name, lr in rates.items()}
