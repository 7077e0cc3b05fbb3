"""REALM without one of its parts: what each is worth to the retriever and to the answers.

Guu et al. (2020, table 2) report recall at 5 on the development questions of Natural Questions, nothing fine-tuned:
38.2 for REALM, 35.3 with random spans and 32.3 with random tokens hidden, and 28.7 with an index thirty times as old.
Ours is recall at four, of statements of worlds that were never trained on. All arms have the same updates, from the
same weights but where the warm start is what they lack; that is no plateau for any.

Written before the runs, by recall at four (*retriever*), and by the share of right answers (*answers*). A part *is
worth something* if each seed with it is above each seed without it by more than `MARGIN`; it *does harm* if each seed
without is above by as much; else it does not show. The rate of what is hidden is the arm's own, chosen on another
world, with one seed; the other arms have REALM's.

- *Salient spans help*: against random spans and against random tokens.
- *A fresh index helps*, *a warm start helps*, *a null document helps*, *excluding the source helps*.
- *Quoted alone*: with the source looked up as well, against the same without.
"""

from collections.abc import Mapping
from typing import Any

from plmlab.chapters.ch16.arms import ARMS, FULL, RATE, SEEDS, kept, learned, outcomes
from plmlab.recipes import Parts, spreads

MARGIN = 0.02
RATES = (3e-4, RATE, 1e-3)
"""What the rates of `CHOSEN` are chosen from."""
CHOSEN = (FULL, "random spans", "random tokens")
"""The arms that have a rate of their own."""


def examined(folder: str, name: str, lr: float, seed: int) -> dict[str, float]:
    """An arm's `outcomes`."""
    return outcomes(name, kept(folder, name, lr, seed))


def measure(parts: Parts) -> dict[str, Any]:
    """Arm → its ``lr``, the ``rates`` that were tried with recall on the development world, its ``curves`` (seed → of
    (updates, recall at four)), and the spread of its outcomes."""
    folder = str(parts.folder)
    tried = parts(learned, [(folder, name, lr, SEEDS[0]) for name in CHOSEN for lr in RATES])
    best = {name: max(RATES, key=lambda lr, name=name: tried[folder, name, lr, SEEDS[0]]["development"])  # type: ignore[misc]
            for name in CHOSEN}
    rates = {name: best.get(name, best[FULL]) for name in ARMS}
    runs = parts(learned, [(folder, name, lr, seed) for seed in SEEDS for name, lr in rates.items()])
    exams = parts(examined, [(folder, name, lr, seed) for seed in SEEDS for name, lr in rates.items()])
    return {name: {"lr": lr, "rates": _tried(tried, folder, name),
                   "curves": {seed: runs[folder, name, lr, seed]["curve"] for seed in SEEDS},
                   "outcomes": spreads({seed: exams[folder, name, lr, seed] for seed in SEEDS})}
            for name, lr in rates.items()}


def _tried(tried: Mapping[tuple[Any, ...], Any], folder: str, name: str) -> list[tuple[float, float]]:
    return [(lr, tried[folder, name, lr, SEEDS[0]]["development"]) for lr in RATES] if name in CHOSEN else []
