"""The four tasks of chapter 08 for UniLM, BERT and GPT: does a model that can also generate lose accuracy on
classification?

UniLM's input has the same format as BERT's, with full attention and segments A and B. GPT has an input format only for
classification: one or two sentences, with the class predicted at [END] (Radford et al. 2018, §3.2).

The rule was fixed before the runs. UniLM *reads as well as BERT* (Dong et al. 2019, table 11: 80.8, compared with 80.5,
on GLUE) if there is no task in which BERT's lowest seed is above UniLM's highest; *worse* if there are two or more such
tasks; *better* if there are none, and two or more tasks in which UniLM's lowest seed is above BERT's highest. With 300
rows the standard error is up to three percentage points.

Learning rates are the best of a growing grid by the mean development score over all seeds. (By the score of the first
seed alone, UniLM got a rate for "paraphrase" at which the other two seeds learned almost nothing.) UniLM's network with
random weights was added after the other runs.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch

from plmlab.chapters.ch12.pretrained import RANDOM_INIT
from plmlab.chapters.ch12.tuned import CLASSES
from plmlab.example import Example
from plmlab.models.gpt import GPT2
from plmlab.models.gpt_classifier import GPTClassifier
from plmlab.objectives import gpt_classification
from plmlab.recipes import Parts, separated, tuned_by_all_seeds
from plmlab.train import Diverged
from plmlab.transfer import MOST, TASKS, accuracy, development, fit_rows, majority, run_result, test_set, training_rows
from plmlab.world.datasets.tokenizer import ids, world_tokenizer
from studies.ch12.pretrained import pretrained

SEEDS = (0, 1, 2)
STEPS, PATIENCE = 600, 4
"""Maximum updates, and early-stopping patience in evaluations."""
RATES = dict.fromkeys(TASKS, (3e-4, 1e-3, 3e-3)) | {"extractive QA": (1e-3, 3e-3, 1e-2)}
ARMS = {"UniLM": tuple(TASKS), "BERT": tuple(TASKS), "GPT": CLASSES, RANDOM_INIT: tuple(TASKS)}
"""Model → its tasks."""


def read_by_gpt(task: str, row: Any) -> Example:
    """GPT's input for a row of a classification task."""
    if task == "acceptability":
        return gpt_classification(ids(row.words), int(row.right), vocab=world_tokenizer().vocab)
    return gpt_classification(ids(row.first), int(row.same), pair=ids(row.second), vocab=world_tokenizer().vocab)


def gpt_score(model: GPTClassifier, task: str, rows: Sequence[Any]) -> float:
    """Accuracy of a fine-tuned GPT on these rows."""
    return accuracy(model, partial(read_by_gpt, task), rows)


def gpt_reached(gpt: GPT2, task: str, lr: float, seed: int) -> dict[str, float | int]:
    """The result of a GPT run, with the same values as `plmlab.transfer.run_result`."""
    torch.manual_seed(seed)
    model = GPTClassifier.from_pretrained(gpt, TASKS[task].labels)
    try:
        history = fit_rows(model, [read_by_gpt(task, row) for row in training_rows(task, seed)], seed, lr=lr,
                           steps=STEPS,
                           score=lambda _: gpt_score(model, task, development(task, seed)), patience=PATIENCE,
                           show=False)
    except Diverged:
        return {"score": 0.0, "development": 0.0, "updates": 0}
    assert history.best is not None
    updates, best = history.best
    return {"score": gpt_score(model.eval(), task, test_set(task)), "development": best, "updates": updates}


def run(folder: str, model: str, task: str, lr: float, seed: int) -> dict[str, float | int]:
    """The result of a run with all labels."""
    whole: Any = pretrained(folder, model)
    if isinstance(whole, GPT2):
        return gpt_reached(whole, task, lr, seed)
    return run_result(whole.encoder, task, MOST, seed, lr=lr, steps=STEPS, patience=PATIENCE)


def above(tasks: dict[str, dict[str, Any]], one: str, other: str) -> list[str]:
    """The tasks in which one model's lowest seed is above the other's highest."""
    return [task for task, told in tasks.items()
            if {one, other} <= set(told) and separated(told[one]["score"], told[other]["score"])]


def measure(parts: Parts) -> dict[str, Any]:
    """``tasks``: task → model → ``lr``, the ``rates`` tried with their development scores, and the results of `run`,
    with spread; ``majority``: the accuracy of the majority class; ``above``: "UniLM above BERT" and so on → the tasks.
    """
    folder = str(parts.folder)
    runs = tuned_by_all_seeds(parts, run, {(folder, model, task): RATES[task] for model, of in ARMS.items()
                                           for task in of}, SEEDS)
    tasks = {task: {model: runs[folder, model, task] for model, of in ARMS.items() if task in of} for task in TASKS}
    return {"tasks": tasks, "majority": {name: majority(name) for name in CLASSES},
            "above": {f"{one} above {other}": above(tasks, one, other)
                      for one, other in (("UniLM", "BERT"), ("BERT", "UniLM"), ("UniLM", "GPT"), ("GPT", "UniLM"),
                                         ("UniLM", RANDOM_INIT))},
            "labels": MOST, "steps": STEPS, "patience": PATIENCE}
