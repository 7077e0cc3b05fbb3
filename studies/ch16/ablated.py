"""REALM without one of its parts: what each is worth to the retriever and to the answers.

Guu et al. (2020, table 2) report for how many of 100 questions of Natural Questions the answer stands in one of five
blocks, nothing fine-tuned: 38.5 for REALM, 26.1 with random spans and 24.2 with random tokens hidden, 15.1 with an
index thirty times as old, and 13.9 in the beginning. `open_domain` has their other figures. Ours is recall at four, of
statements of worlds that were never trained on. All arms have the same updates, from the same weights but where the
warm start is what they lack; that is no plateau for any.

Written before the runs, by recall at four (*retriever*), and by the share of right answers (*answers*). A part *is
worth something* if each seed with it is above each seed without it by more than `verdicts.MARGIN`; it *does harm* if
each seed without is above by as much; else it does not show. The rate of what is hidden is the arm's own, the best of
`RATES` by recall in another world, with one seed; at the lowest of them hardly anything is learned, so that an arm
which only loses by learning may choose that. The other arms have REALM's.

- *Salient spans help*: against random spans and against random tokens.
- *A fresh index helps*, *a warm start helps*, *a null document helps*, *excluding the source helps*.
- *Quoted alone*: with the source looked up as well, against the same without.
"""

from operator import itemgetter
from typing import Any

from plmlab.chapters.ch16.arms import ARMS, CHOSEN, FULL, SEEDS, kept, learned, outcomes
from plmlab.recipes import Parts, seed_statistics

RATES = (3e-5, 1e-4, 3e-4, 1e-3)
"""What the rates of `CHOSEN` are chosen from."""


def examined(folder: str, name: str, lr: float, seed: int) -> dict[str, float]:
    """An arm's `outcomes`."""
    return outcomes(name, kept(folder, name, lr, seed))


def measure(parts: Parts) -> dict[str, Any]:
    """Arm → its ``lr``, the ``rates`` that were tried with recall on the development world, its ``curves`` (seed → of
    (updates, recall at four)), and the spread of its outcomes."""
    folder = str(parts.folder)
    tried = parts(learned, [(folder, name, lr, SEEDS[0]) for name in CHOSEN for lr in RATES])
    found = {name: [(lr, tried[folder, name, lr, SEEDS[0]]["development"]) for lr in RATES] for name in CHOSEN}
    best = {name: max(told, key=itemgetter(1))[0] for name, told in found.items()}
    rates = {name: best.get(name, best[FULL]) for name in ARMS}
    runs = parts(learned, [(folder, name, lr, seed) for seed in SEEDS for name, lr in rates.items()])
    exams = parts(examined, [(folder, name, lr, seed) for seed in SEEDS for name, lr in rates.items()])
    return {name: {"lr": lr, "rates": found.get(name, []),
                   "curves": {seed: runs[folder, name, lr, seed]["curve"] for seed in SEEDS},
                   "outcomes": seed_statistics({seed: exams[folder, name, lr, seed] for seed in SEEDS})}
            for name, lr in rates.items()}

