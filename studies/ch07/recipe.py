"""Recipe of chapter 07: fine-tuning and zero-shot evaluation, in-context learning, and three model sizes trained on the
same number of tokens.

Learning rates are chosen with two pilot seeds, on sentences that are not in the test set, from a grid that is extended
until its best value is not at an edge.
"""

from typing import Any

import torch

from plmlab.chapters.ch07 import acceptability, corpus, prompts
from plmlab.recipes import Parts, pilot_score, rates_tried, seed_summary, tune_learning_rate
from studies.ch07 import sizes

SEEDS = (0, 1, 2)
PILOTS = (9, 10)
"""Seeds for the choice of learning rates; not used for the results."""
GRID = (1e-3, 3e-3, 1e-2)
TUNING_GRID = (3e-4, 1e-3, 3e-3)


def main(parts: Parts) -> dict[str, Any]:
    """Record ``labels``, ``fine-tuning``, ``zero-shot``, ``above the floor``, ``prompts`` and ``sizes``."""
    zero_shot = parts(no_label, [(seed,) for seed in SEEDS])
    return {
        "labels": list(acceptability.LABELS),
        "fine-tuning": {kind: tuning(parts, kind) for kind in acceptability.KINDS},
        "zero-shot": seed_summary({seed: zero_shot[seed,]["likelier"] for seed in SEEDS}),
        "above the floor": seed_summary({seed: zero_shot[seed,]["above"] for seed in SEEDS}),
        "prompts": prompting(parts), "sizes": sizes.measure(parts),
    }


def no_label(seed: int) -> dict[str, float]:
    """Zero-shot evaluation of the pretrained GPT-2: the fraction of test pairs in which the correct sentence is
    "likelier", and the relative excess of the model's loss over that of the Bayes-optimal predictor ("above") on 600
    sentences."""
    gpt, new = corpus.pretrained(seed), corpus.sentences(0.5, 600)
    with torch.no_grad():
        above = float(gpt.loss(corpus.causal_batch(new))) / corpus.bayes_optimal_loss(new) - 1
    return {"likelier": acceptability.zero_shot_accuracy(acceptability.negative_log_prob(gpt)), "above": above}


def tuning(parts: Parts, kind: str) -> dict[str, Any]:
    """``lr``, the ``rates`` tried with their scores, the test accuracy by number of labels (``points``), and the number
    of ``updates`` after which the development loss was lowest."""
    lr, scores = tune_learning_rate(pilot_score(parts, acceptability.lr_score, PILOTS, kind), TUNING_GRID)
    runs = parts(acceptability.fine_tune_run,
                 [(kind, labels, lr, seed) for labels in acceptability.LABELS for seed in SEEDS])

    def points(name: str) -> list[dict[str, Any]]:
        return [seed_summary({seed: runs[kind, labels, lr, seed][name] for seed in SEEDS})
                for labels in acceptability.LABELS]
    return {"lr": lr, "rates": rates_tried(scores), "points": points("right"), "updates": points("updates")}


def prompting(parts: Parts) -> dict[str, Any]:
    """The numbers of examples (``shots``), the number of updates on rows (``steps``), and for each model the metrics by
    number of examples."""
    lr, scores = tune_learning_rate(pilot_score(parts, prompts.lr_score, PILOTS), GRID)
    readers = {"sentences": parts(prompts.pretrained_metrics, [(seed,) for seed in SEEDS]),
               "rows": parts(prompts.row_trained_metrics, [(lr, seed) for seed in SEEDS]),
               "most alike": parts(prompts.nearest_neighbour_baseline, [(seed,) for seed in SEEDS])}
    marks = {reader: {mark: [seed_summary({task[-1]: run[str(shots)][mark] for task, run in runs.items()})
                             for shots in prompts.SHOTS] for mark in ("one of two", "right", "most given")}
             for reader, runs in readers.items()}
    return {"shots": list(prompts.SHOTS), "steps": prompts.STEPS, "questions": prompts.QUESTIONS, "lr": lr,
            "rates": rates_tried(scores), "readers": marks}
