"""Fine-tuning of the pretrained variants on tasks as text to text, each at its own learning rate.

A run starts from the pretraining run with the same seed. The learning rate of each variant and task is chosen by the
score on development rows, in one run from the first pretraining run, with another seed for fine-tuning.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from types import ModuleType
from typing import Any

from plmlab.recipes import Parts, none_if_diverged, rates_tried, tune_learning_rates
from plmlab.recipes.statistics import seed_summary
from studies.ch13 import noises, spans
from studies.ch13.text_to_text import TASKS, fine_tune, score

STUDIES: dict[str, ModuleType] = {"noises": noises, "spans": spans}
SEEDS, PILOTS = (0, 1, 2), (9,)
UPDATES = 400
"""Updates of a run, and of a pilot run."""


def tuned_score(study: str, folder: str, variant: str, task: str, lr: float, seed: int, start: int, rows: str) -> float:
    """The score on the ``rows`` ("development" or "test_set") of a task after fine-tuning on it, from the pretraining
    run with the seed ``start``."""
    module = STUDIES[study]
    model = (module.build(variant, seed) if variant == module.SCRATCH else
             module.STUDY.trained(folder, variant, updates=module.UPDATES, seed=start))
    fine_tune(model, task, updates=UPDATES, lr=lr, seed=seed, show=False)
    return score(model, task, getattr(TASKS[task].rows(), rows))


@none_if_diverged
def lr_score(study: str, folder: str, variant: str, task: str, lr: float, seed: int) -> float:
    """The score of a pilot run on the development rows."""
    return tuned_score(study, folder, variant, task, lr, seed, SEEDS[0], "development")


def run_score(study: str, folder: str, variant: str, task: str, lr: float, seed: int) -> float:
    """The score of a run on the test rows."""
    return tuned_score(study, folder, variant, task, lr, seed, seed, "test_set")


def fine_tuned(parts: Parts, study: str, groups: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Fine-tune every variant of a study on every task; ``groups``: name of a group → its tasks.

    Returns ``tasks``: task → variant → ``lr``, the ``rates`` tried with their development scores, and ``score``, with
    spread; and ``means``: group → variant → the mean score of its tasks, with spread.
    """
    folder, variants = str(parts.folder), STUDIES[study].VARIANTS
    tasks = [task for group in groups.values() for task in group]
    arms = [(study, folder, variant, task) for variant in variants for task in tasks]
    best = tune_learning_rates(parts, lr_score, PILOTS, dict.fromkeys(arms, STUDIES[study].FINE_TUNING_RATES))
    runs = parts(run_score, [(*arm, best[arm][0], seed) for arm in arms for seed in SEEDS])

    def scores(variant: str, task: str) -> dict[int, float]:
        arm = study, folder, variant, task
        return {seed: runs[*arm, best[arm][0], seed] for seed in SEEDS}

    def record(variant: str, task: str) -> dict[str, Any]:
        lr, tried = best[study, folder, variant, task]
        return {"lr": lr, "rates": rates_tried(tried), "score": seed_summary(scores(variant, task))}

    return {"tasks": {task: {variant: record(variant, task) for variant in variants} for task in tasks},
            "means": {name: {variant: seed_summary({seed: fmean(scores(variant, task)[seed] for task in group)
                                                    for seed in SEEDS}) for variant in variants}
                      for name, group in groups.items()}}
