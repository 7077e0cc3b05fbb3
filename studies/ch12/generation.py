"""Two generation tasks for every model of `pretrained`: translation into Chinese, and summarization of an article.

Each model is fine-tuned as in its own paper (`generation_modes`), and generates greedily; for comparison, UniLM's
network with random weights is trained in the same way. The pretraining text does not reveal which sentences are
translations of each other. The rows are described in `plmlab.world.datasets.generation_tasks`.

Fixed before the runs: a model *generates better* than another in a task if the exact match of its lowest seed is above
that of the other's highest. UniLM's mask mixture *helps generation* if UniLM generates better than the network
pretrained under one mask only, in at least one of the two tasks, and worse in none; it *hurts* in the opposite case.
The mixture *is useful in pretraining* if UniLM generates better than BERT. (Random weights and the nearest training
pair were added after the other runs, because nothing had shown the benefit of pretraining.) This is not a `Study`,
because the weights that are fine-tuned come from another study, and because the number of updates is set by early
stopping on development rows.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import nn

from plmlab.chapters.ch12.generation import GENERATORS, baselines
from plmlab.generation import example_batches, generate
from plmlab.recipes import Parts, none_if_diverged, rates_tried, seed_statistics, separated, tune_learning_rates
from plmlab.train import fit
from plmlab.world.datasets.generation_tasks import GenerationTask, scores_of, summarization, translation
from studies.ch12.generation_modes import GENERATION_MODES
from studies.ch12.pretrained import WARMUP, pretrained

BATCH, EVERY, PATIENCE = 32, 250, 4
"""Rows per update; updates between evaluations on the development rows; and early-stopping patience in evaluations."""
RATES, PILOTS, SEEDS = (1e-3, 3e-3, 1e-2), (8,), (0, 1, 2)


class Budget(NamedTuple):
    """The maximum number of ``updates`` of a run, and that of the ``pilot`` runs that choose its learning rate."""

    updates: int
    pilot: int


TASKS: dict[str, Callable[[], GenerationTask]] = {"translation": translation, "summarization": summarization}
BUDGETS = {"translation": Budget(2000, pilot=600), "summarization": Budget(500, pilot=200)}


def initialized(folder: str, name: str) -> nn.Module:
    """A model of `pretrained`, ready to be fine-tuned for generation."""
    return GENERATION_MODES[name].begin(pretrained(folder, name))


def tune(name: str, model: nn.Module, task: GenerationTask, updates: int, lr: float, seed: int, **options: Any) -> Any:
    """Fine-tune the model of a variant for generation, in place, and return the history. The final weights are those
    with the best development score."""
    mode = GENERATION_MODES[name]

    def score(tuned: nn.Module) -> float:
        said = generate(mode, tuned, [source for source, _ in task.development])
        return scores_of(said, task.development)["bleu"] / 100

    torch.manual_seed(seed)
    return fit(model, example_batches(mode, task.train, BATCH, f"write {seed}"), steps=updates, lr=lr, warmup=WARMUP,
               score=score, evaluate_every=min(EVERY, updates), patience=PATIENCE, show=False, **options)


def run_result(folder: str, name: str, kind: str, lr: float, seed: int) -> dict[str, float | int]:
    """The result of a run: the test scores (`scores_of`); the exact match on the rows that do not occur in pretraining
    (``unread``); the BLEU on ``development`` rows; and the number of ``updates`` at the best weights."""
    task, model = TASKS[kind](), initialized(folder, name)
    history = tune(name, model, task, BUDGETS[kind].updates, lr, seed)
    said = generate(GENERATION_MODES[name], model, [source for source, _ in task.test_set])
    assert history.best is not None
    updates, development = history.best
    unread = scores_of(said[task.read:], task.test_set[task.read:])["exact"]
    return {**scores_of(said, task.test_set), "unread": unread, "development": development, "updates": updates}


@none_if_diverged
def lr_score(folder: str, name: str, kind: str, lr: float, seed: int) -> float:
    """Score of a learning rate: the development BLEU, scaled to 0 … 1, after the pilot updates of a task."""
    history = tune(name, initialized(folder, name), TASKS[kind](), BUDGETS[kind].pilot, lr, seed)
    assert history.best is not None
    return float(history.best[1])


def measure(parts: Parts) -> dict[str, Any]:
    """``tasks``: task → model → ``lr``, the ``rates`` tried with their development BLEU, and the results of
    `run_result`, with spread; the ``baselines``; ``better``: task → model → the models that it is better than."""
    folder = str(parts.folder)
    arms = [(folder, name, kind) for kind in TASKS for name in GENERATORS]
    best = tune_learning_rates(parts, lr_score, PILOTS, dict.fromkeys(arms, RATES))
    found = parts(run_result, [(*arm, best[arm][0], seed) for arm in arms for seed in SEEDS])
    runs = {arm: {"lr": lr, "rates": rates_tried(scores),
                  **seed_statistics({seed: found[*arm, lr, seed] for seed in SEEDS})}
            for arm, (lr, scores) in best.items()}
    tasks = {kind: {name: runs[folder, name, kind] for name in GENERATORS} for kind in TASKS}
    return {"tasks": tasks, "baselines": baselines(),
            "better": {kind: {name: [other for other in GENERATORS if separated(of[name]["exact"], of[other]["exact"])]
                              for name in GENERATORS} for kind, of in tasks.items()},
            "rows": {kind: [len(make().train), len(make().development), len(make().test_set)]
                     for kind, make in TASKS.items()}}
