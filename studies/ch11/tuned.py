"""What pretraining with an order is worth in tuning: XLNet, MPNet and BERT in the four uses of chapter 08.

All labels, three seeds. A model's rate in a task is the better of two by the score of the first seed on the development
rows, which are none of the exam's: chapter 08's best for its BERT and a neighbour of that.

Written before the runs. *One model is worth more in tuning than another* if in all four tasks its mean over the seeds
is higher, and in two of them at least every one of its seeds is above every one of the other's. In three of four, or
with seeds that overlap, nothing is said: 300 rows have a standard error of up to three points. The paper's claim is
that of XLNet against BERT at equal size (Yang et al. 2019, table 1), and that of MPNet against both (Song et al. 2020,
table 2). Whichever wins, it is the whole model: distances, an order, and BERT's question whether a segment follows are
not told apart here; the arms of the small world tell them apart.
"""

from itertools import permutations
from typing import Any

from plmlab.models.task_heads import SentenceClassifier
from plmlab.recipes import Parts, runs_at_best_rates, separated
from plmlab.transfer import MOST, TASKS, majority, run_result
from studies.ch11.pretrained import PLANS, encoder, pretrained

SEEDS = (0, 1, 2)
STEPS, PATIENCE = 600, 4
"""Updates at most, and how many measurements without a better one end a run."""
RATES = {"one sentence": (3e-4, 1e-3), "a pair": (3e-4, 1e-3), "names": (3e-4, 1e-3), "an answer": (1e-3, 3e-3)}


def run(folder: str, model: str, task: str, lr: float, seed: int) -> dict[str, float | int]:
    """What a run with all labels has reached."""
    return run_result(encoder(pretrained(folder, model)), task, MOST, seed, lr=lr, steps=STEPS, patience=PATIENCE)


def beaten(tasks: dict[str, dict[str, Any]], one: str, other: str) -> dict[str, int]:
    """In how many tasks the mean of one model is ``higher`` than the other's, and its seeds are all ``separated``
    above."""
    scores = [(told[one]["score"], told[other]["score"]) for told in tasks.values()]
    return {"higher": sum(a["mean"] > b["mean"] for a, b in scores),
            "apart": sum(separated(a, b) for a, b in scores)}


def measure(parts: Parts) -> dict[str, Any]:
    """``tasks``: task → model → ``lr``, the ``rates`` tried with their development scores, and what `run` tells,
    with spread; ``majority``: what one class gives; ``over``: "XLNet over BERT" and so on → what `beaten` tells."""
    folder = str(parts.folder)
    runs = runs_at_best_rates(parts, run, {(folder, model, task): RATES[task] for model in PLANS for task in TASKS},
                              SEEDS)
    tasks = {task: {model: runs[folder, model, task] for model in PLANS} for task in TASKS}
    return {"tasks": tasks,
            "majority": {name: majority(name) for name, task in TASKS.items() if task.head is SentenceClassifier},
            "over": {f"{one} over {other}": beaten(tasks, one, other) for one, other in permutations(PLANS, 2)},
            "labels": MOST, "steps": STEPS, "patience": PATIENCE}
