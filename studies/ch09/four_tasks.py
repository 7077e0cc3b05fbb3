"""BERT, ALBERT and ELECTRA after fine-tuning on the four tasks of chapter 08, and the same BERT without pretraining.

All three have three layers of width 128 and were pretrained with the same number of updates on the same amount of text,
6 million tokens without padding (`million_tokens`). The amount of text is equal, not the compute: an ELECTRA is two
networks. ALBERT and ELECTRA are bundled checkpoints; their baseline, a BERT, is pretrained in the recipe's folder,
because the bundled BERT was trained on five times the amount of text. With the same seed, the three are trained on the
same pairs of segments, but otherwise on different sentences of the same world, because their objectives sample
differently from the same random stream. BERT and ALBERT predict 30 % of the tokens, as the bundled BERT, ELECTRA's
generator 15 %, as in its paper.

The learning rate of each model and task is chosen by the development score of a pilot seed, in runs of half the length,
from a grid that is extended until the best rate is not at an edge. The runs have three other seeds and all labels.

Fixed before the runs, as in chapter 11. *One model is better than another* if in all four tasks its mean over the seeds
is higher, and in at least two of them its lowest seed is above the other model's highest. If only three tasks agree, or
if seeds overlap, no conclusion is drawn, because with 300 rows the standard error is up to three percentage points.
"""

from itertools import permutations
from pathlib import Path
from typing import Any

import torch

from plmlab.checkpoints import home, load
from plmlab.models.bert import BERT
from plmlab.models.task_heads import SentenceClassifier
from plmlab.pretraining import Plan, pretrain
from plmlab.pretraining.material import real_tokens
from plmlab.recipes import Parts, compare_models, none_if_diverged, rates_tried, seed_statistics, tune_learning_rates
from plmlab.transfer import MOST, TASKS, fine_tune, majority, run_result
from plmlab.world.datasets.tokenizer import world_tokenizer

SHARED = {"corpus": "world", "steps": 1400, "batch": 32, "accumulate": 8, "time": 192, "vocab": 2000, "layers": 3,
          "width": 128, "heads": 4, "seed": 0, "held_out": 0.05, "save_every": 200}
"""Settings that all models share."""
PLANS: dict[str, dict[str, Any]] = {
    "BERT": SHARED | {"model": "bert", "lr": 4e-3, "choose": "rate=0.3"},
    "ALBERT": SHARED | {"model": "albert", "lr": 4e-3, "choose": "rate=0.3"},
    "ELECTRA": SHARED | {"model": "electra", "lr": 2e-3},
}
"""Model → arguments of its `Plan`, except the output path. The READMEs of the bundled models list the learning rates
tried; BERT's is that of the bundled BERT."""
BUNDLED = {"ALBERT": "albert-world", "ELECTRA": "electra-world"}
SCRATCH = "BERT, not pretrained"
MODELS = (*PLANS, SCRATCH)
EVERY = 28
"""Tokens are counted in one of this many updates."""
SEEDS, PILOTS = (0, 1, 2), (9,)
STEPS, PILOT_STEPS, PATIENCE = 300, 150, 3
"""Maximum updates of a run and of a pilot run, and early-stopping patience in evaluations."""
RATES = (3e-4, 1e-3, 3e-3)


def checkpoint_path(folder: str, model: str) -> Path:
    """The path of a model's checkpoint; ``folder`` is the folder of the recipe."""
    return home() / BUNDLED[model] if model in BUNDLED else Path(folder) / model


def pretrain_baseline(folder: str) -> str:
    """Pretrain the baseline BERT, unless its checkpoint exists; return the checkpoint's path."""
    path = checkpoint_path(folder, "BERT")
    if not path.exists():
        pretrain(Plan(**PLANS["BERT"], out=str(path)))
    return str(path)


def start(folder: str, model: str, seed: int) -> BERT:
    """The encoder that is fine-tuned: that of a checkpoint, or a BERT with random weights."""
    whole, _ = load(checkpoint_path(folder, "BERT" if model == SCRATCH else model))
    torch.manual_seed(seed)
    return BERT(whole.config) if model == SCRATCH else whole.encoder


def million_tokens(model: str) -> float:
    """The `real_tokens` of a model's training text, in millions, estimated from one update in `EVERY`."""
    return real_tokens(Plan(**PLANS[model], out="nowhere"), world_tokenizer(), EVERY) / 1e6


@none_if_diverged
def lr_score(folder: str, model: str, task: str, lr: float, seed: int) -> float:
    """The best development score of a pilot run."""
    _, history = fine_tune(start(folder, model, seed), task, MOST, seed, lr=lr, steps=PILOT_STEPS, patience=PATIENCE,
                           show=False)
    assert history.best is not None
    return history.best[1]


def run(folder: str, model: str, task: str, lr: float, seed: int) -> dict[str, float | int]:
    """The result of a run."""
    return run_result(start(folder, model, seed), task, MOST, seed, lr=lr, steps=STEPS, patience=PATIENCE)


def measure(parts: Parts) -> dict[str, Any]:
    """``models``: model → its pretraining ``lr``, the ``million tokens`` of its training text, and the ``parameters``
    of its encoder; ``tasks``: task → model → ``lr``, the ``rates`` tried with their development scores, and the results
    of `run`, with spread; ``majority``: the accuracy of the majority class; ``comparisons``: "ELECTRA vs. BERT" and so
    on → the counts of `compare_models`."""
    folder = str(parts.folder)
    parts(pretrain_baseline, [(folder,)])
    arms = [(folder, model, task) for model in MODELS for task in TASKS]
    best = tune_learning_rates(parts, lr_score, PILOTS, dict.fromkeys(arms, RATES))
    runs = parts(run, [(*arm, best[arm][0], seed) for arm in arms for seed in SEEDS])
    millions = parts(million_tokens, [(model,) for model in PLANS])
    tasks: dict[str, dict[str, Any]] = {task: {} for task in TASKS}
    for (_, model, task), (lr, scores) in best.items():
        tasks[task][model] = {"lr": lr, "rates": rates_tried(scores), **seed_statistics(
            {seed: runs[folder, model, task, lr, seed] for seed in SEEDS})}
    return {"models": {model: {"lr": PLANS[model]["lr"], "million tokens": millions[model,], "parameters":
                               sum(weight.numel() for weight in start(folder, model, 0).parameters())}
                       for model in PLANS},
            "tasks": tasks,
            "majority": {name: majority(name) for name, task in TASKS.items() if task.head is SentenceClassifier},
            "comparisons": {f"{one} vs. {other}": compare_models(tasks, one, other)
                            for one, other in permutations(MODELS, 2)},
            "labels": MOST, "steps": STEPS, "pilot steps": PILOT_STEPS, "patience": PATIENCE}
