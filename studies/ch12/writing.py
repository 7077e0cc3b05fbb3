"""Two tasks of writing for every model of `pretrained`: a sentence in Chinese, and the gist of an article.

Each is tuned as its own paper does it (`manners`), and writes greedily; UniLM's network with random weights learns the
same beside them. No pretraining text tells what is a translation of what. `plmlab.chapters.ch12.writing` says what the
rows are.

Written before the runs: of two models the one *writes better* in a task if each of its seeds has more right to the last
word than each of the other's. UniLM's mix of masks *helps to write* if it writes better than the network that was
pretrained under one mask alone, and *costs* something if that one writes better; in at least one of the two tasks, and
in none the other way round. It *is worth pretraining for* if UniLM writes better than BERT. (Random weights were added
when the others had been run, as was the nearest training pair: what pretraining is worth, nothing had told.) It is no
`Study`: what is tuned are the weights that others have kept, and how many updates a run has its development rows say.
"""

from random import Random
from typing import Any

import torch
from torch import nn

from plmlab.batches import ExampleBatches
from plmlab.chapters.ch12.writing import TASKS, WRITERS, Task, baselines, judged
from plmlab.draws import randint
from plmlab.recipes import Parts, none_if_diverged, rates_tried, seed_statistics, separated, tune_learning_rates
from plmlab.train import fit
from plmlab.world.datasets.tokenizer import bilingual_tokenizer
from studies.ch12.manners import MANNERS, written
from studies.ch12.pretrained import WARMUP, pretrained

BATCH, EVERY, PATIENCE = 32, 250, 4
"""Rows of an update; every so many updates the development rows are written, and so many times without a better one
end a run."""
RATES, PILOTS, SEEDS = (1e-3, 3e-3, 1e-2), (8,), (0, 1, 2)


def begun(folder: str, name: str) -> nn.Module:
    """A model of `pretrained`, ready to be tuned to write."""
    return MANNERS[name].begin(pretrained(folder, name))


def tune(name: str, model: nn.Module, task: Task, lr: float, seed: int, **options: Any) -> Any:
    """Tune the model of an arm to write, in place; the history. The weights are those that wrote the development rows
    best."""
    make, vocab = MANNERS[name].example, bilingual_tokenizer().vocab

    def draw(rng: Random) -> list[Any]:
        return [make(*task.train[randint(rng, len(task.train))], rng=rng) for _ in range(BATCH)]

    def score(tuned: nn.Module) -> float:
        said = written(name, tuned, [source for source, _ in task.development])
        return judged(said, task.development)["bleu"] / 100

    torch.manual_seed(seed)
    return fit(model, ExampleBatches(draw, f"write {seed}", vocab.need("pad")), steps=task.updates, lr=lr,
               warmup=WARMUP, score=score, evaluate_every=min(EVERY, task.updates), patience=PATIENCE,
               show=False, **options)


def reached(folder: str, name: str, kind: str, lr: float, seed: int) -> dict[str, float | int]:
    """A run: what `judged` tells of the exam, ``unread`` what is exact of the rows that pretraining has not read; the
    BLEU of the ``development`` rows, and the ``updates`` of the best weights."""
    task, model = TASKS[kind](), begun(folder, name)
    history = tune(name, model, task, lr, seed)
    said = written(name, model, [source for source, _ in task.test_set])
    assert history.best is not None
    updates, development = history.best
    unread = judged(said[task.read:], task.test_set[task.read:])["exact"]
    return {**judged(said, task.test_set), "unread": unread, "development": development, "updates": updates}


@none_if_diverged
def rate_score(folder: str, name: str, kind: str, lr: float, seed: int) -> float:
    """How good a rate is: the BLEU of the development rows, of 1, after a task's pilot updates."""
    task = TASKS[kind]()
    history = tune(name, begun(folder, name), task._replace(updates=task.pilot), lr, seed)
    assert history.best is not None
    return float(history.best[1])


def measure(parts: Parts) -> dict[str, Any]:
    """``tasks``: task → model → ``lr``, the ``rates`` tried with their development BLEU, and what `reached` tells, with
    spread; the ``baselines``; ``better``: task → who writes better than whom."""
    folder = str(parts.folder)
    arms = [(folder, name, kind) for kind in TASKS for name in WRITERS]
    best = tune_learning_rates(parts, rate_score, PILOTS, dict.fromkeys(arms, RATES))
    found = parts(reached, [(*arm, best[arm][0], seed) for arm in arms for seed in SEEDS])
    runs = {arm: {"lr": lr, "rates": rates_tried(scores),
                  **seed_statistics({seed: found[*arm, lr, seed] for seed in SEEDS})}
            for arm, (lr, scores) in best.items()}
    tasks = {kind: {name: runs[folder, name, kind] for name in WRITERS} for kind in TASKS}
    return {"tasks": tasks, "baselines": baselines(),
            "better": {kind: {name: [other for other in WRITERS if separated(told[name]["exact"], told[other]["exact"])]
                              for name in WRITERS} for kind, told in tasks.items()},
            "rows": {kind: [len(make().train), len(make().development), len(make().test_set)]
                     for kind, make in TASKS.items()}}
