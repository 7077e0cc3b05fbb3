"""What chapter 07 records: labels and no labels, examples in a prompt, and three sizes at equal tokens.

Learning rates are chosen on two pilot seeds, each from a grid that grows until its best does not stand at an edge, and
on sentences that are not the exam's.
"""

from typing import Any

import torch

from plmlab.chapters.ch07 import corpus, judging, prompts
from plmlab.recipes import Parts, pilot_score, rates_tried, seed_summary, tune_learning_rate
from studies.ch07 import sizes

SEEDS = (0, 1, 2)
PILOTS = (9, 10)
"""The seeds that the learning rates are chosen with; they are not used for the results."""
GRID = (1e-3, 3e-3, 1e-2)
TUNING_GRID = (3e-4, 1e-3, 3e-3)


def main(parts: Parts) -> dict[str, Any]:
    """``labels``, ``fine-tuning``, ``zero-shot``; ``above the floor``; ``prompts``; ``sizes``."""
    told = parts(no_label, [(seed,) for seed in SEEDS])
    return {
        "labels": list(judging.LABELS), "fine-tuning": {kind: tuning(parts, kind) for kind in judging.KINDS},
        "zero-shot": seed_summary({seed: told[seed,]["likelier"] for seed in SEEDS}),
        "above the floor": seed_summary({seed: told[seed,]["above"] for seed in SEEDS}),
        "prompts": prompting(parts), "sizes": sizes.measure(parts),
    }


def no_label(seed: int) -> dict[str, float]:
    """Of the pretrained GPT-2 of a seed: how often the right sentence of the exam's pairs is "likelier", and how far
    its loss is "above" the best reader's on 600 sentences, as a share of that."""
    gpt, new = corpus.pretrained(seed), corpus.sentences(0.5, 600)
    with torch.no_grad():
        above = float(gpt.loss(corpus.reading(new))) / corpus.best_reader(new) - 1
    return {"likelier": judging.likelier(judging.cost(gpt)), "above": above}


def tuning(parts: Parts, kind: str) -> dict[str, Any]:
    """``lr``, the ``rates`` tried with their scores, and ``points``: the share right, by the number of labels; and the
    ``updates`` after which the development sentences' loss was lowest."""
    lr, scores = tune_learning_rate(pilot_score(parts, judging.rate_score, PILOTS, kind), TUNING_GRID)
    runs = parts(judging.tuned, [(kind, labels, lr, seed) for labels in judging.LABELS for seed in SEEDS])

    def points(name: str) -> list[dict[str, Any]]:
        return [seed_summary({seed: runs[kind, labels, lr, seed][name] for seed in SEEDS}) for labels in judging.LABELS]
    return {"lr": lr, "rates": rates_tried(scores), "points": points("right"), "updates": points("updates")}


def prompting(parts: Parts) -> dict[str, Any]:
    """``shots``, the numbers of examples; ``steps``, the updates on rows; and reader → its marks by examples."""
    lr, scores = tune_learning_rate(pilot_score(parts, prompts.rate_score, PILOTS), GRID)
    readers = {"sentences": parts(prompts.plain, [(seed,) for seed in SEEDS]),
               "rows": parts(prompts.rewarded_marks, [(lr, seed) for seed in SEEDS]),
               "most alike": parts(prompts.rival, [(seed,) for seed in SEEDS])}
    marks = {reader: {mark: [seed_summary({task[-1]: run[str(shots)][mark] for task, run in runs.items()})
                             for shots in prompts.SHOTS] for mark in ("one of two", "right", "most given")}
             for reader, runs in readers.items()}
    return {"shots": list(prompts.SHOTS), "steps": prompts.STEPS, "questions": prompts.QUESTIONS, "lr": lr,
            "rates": rates_tried(scores), "readers": marks}
