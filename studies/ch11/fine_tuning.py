"""The benefit of pretraining with a factorization order for fine-tuning: XLNet, MPNet and BERT on the four tasks of
chapter 08.

All runs use all labels and three seeds. The learning rate of a model for a task is the better of two, by the first
seed's score on the development rows, which are disjoint from the test set. The two are chapter 08's best rate for its
BERT and an adjacent one.

Fixed before the runs. *One model is better than another* if in all four tasks its mean over the
seeds is higher, and in at least two of them its lowest seed is above the other model's highest. If only three tasks
agree, or if seeds overlap, no conclusion is drawn, because with 300 rows the standard error is up to three percentage
points. The papers compare XLNet with BERT at equal size (Yang et al. 2019, table 1), and MPNet with both (Song et al.
2020, table 2). The comparison is of whole models: it does not separate the effects of relative positions, of the order,
and of BERT's next-sentence prediction; the variants on the small world do.
"""

from itertools import permutations
from typing import Any

from plmlab.models.task_heads import SentenceClassifier
from plmlab.recipes import Parts, compare_models, runs_at_best_rates
from plmlab.transfer import MOST, TASKS, majority, run_result
from studies.ch11.pretrained import PLANS, encoder, load_model

SEEDS = (0, 1, 2)
STEPS, PATIENCE = 600, 4
"""Maximum updates, and early-stopping patience in evaluations."""
RATES = {"acceptability": (3e-4, 1e-3), "paraphrase": (3e-4, 1e-3), "NER": (3e-4, 1e-3), "extractive QA": (1e-3, 3e-3)}


def run(folder: str, model: str, task: str, lr: float, seed: int) -> dict[str, float | int]:
    """The result of a run with all labels."""
    return run_result(encoder(load_model(folder, model)), task, MOST, seed, lr=lr, steps=STEPS, patience=PATIENCE)


def measure(parts: Parts) -> dict[str, Any]:
    """``tasks``: task → model → ``lr``, the ``rates`` tried with their development scores, and the results of `run`,
    with spread; ``majority``: the accuracy of the majority class; ``comparisons``: "XLNet vs. BERT" and so on → the
    counts of `compare_models`."""
    folder = str(parts.folder)
    runs = runs_at_best_rates(parts, run, {(folder, model, task): RATES[task] for model in PLANS for task in TASKS},
                              SEEDS)
    tasks = {task: {model: runs[folder, model, task] for model in PLANS} for task in TASKS}
    return {"tasks": tasks,
            "majority": {name: majority(name) for name, task in TASKS.items() if task.head is SentenceClassifier},
            "comparisons": {f"{one} vs. {other}": compare_models(tasks, one, other)
                            for one, other in permutations(PLANS, 2)},
            "labels": MOST, "steps": STEPS, "patience": PATIENCE}
