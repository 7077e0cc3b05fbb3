"""Summarization with few labels, after the pretraining of `gap_selection`, and the rules of the verdicts.

The score is the mean of ROUGE-1, -2 and -L over 100 test articles. Learning rates are chosen by it on the development
rows, for every variant with 32 labels and, without pretraining, for all labels; the same rows select the weights of a
run, as in the paper. Runs with all labels have four times as many updates as those with few.

**Selection.** *The sentences with the highest ROUGE-1 are the best gap sentences* (figure 4a): they are compared with
random and with lead sentences, for 8, 32 and 128 labels. The claim is supported if in all six comparisons every seed is
more than one point above every seed of the other; partly supported if in some, and the opposite holds in none; not
supported if only the opposite holds; mixed if both occur; otherwise there is no effect at this size.

**Few labels.** *Pretraining replaces labels* (figure 6: 100 labels are about as good as a Transformer with all of them
in 8 of 12 tasks) is not supported if every seed without pretraining, with all labels, is more than one point above
every seed of the highest ROUGE-1 with 128 labels; it is supported otherwise.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import torch
from torch import nn

from plmlab import checkpoints
from plmlab.draws import shuffled
from plmlab.generation import encoder_decoder, example_batches, generate
from plmlab.models.registry import architecture_of
from plmlab.recipes import Parts, none_if_diverged, separated, tune_learning_rates
from plmlab.recipes.study import Measured, combined_verdict, verdict
from plmlab.train import History, fit
from plmlab.train.optimizers import Optimizer
from plmlab.world.datasets.generation_tasks import WORDINGS, Row, summarization
from plmlab.world.datasets.summaries import evaluated
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch13 import gap_selection

PEGASUS, BART_WORLD, SCRATCH = next(iter(gap_selection.SELECTIONS)), "bart-world", "not pretrained"
FEW = (8, 32, 128)
OPTIMIZERS: dict[str, Optimizer] = {**dict.fromkeys((*gap_selection.SELECTIONS, SCRATCH), "adafactor"),
                                    BART_WORLD: "adamw"}
"""Variant → its optimizer, which is that of its pretraining."""
RATES = {"adafactor": (3e-3, 1e-2, 3e-2), "adamw": (3e-4, 1e-3, 3e-3)}
BATCH, UPDATES, EVERY, WARMUP, MORE = 16, 300, 50, 30, 4
"""Rows per update; updates, and those between two evaluations on the development rows, which are `MORE` times as many
with all labels; and warm-up updates."""
CHOSEN = 32
"""The number of labels for which the learning rate of a variant is chosen."""
SEEDS, PILOTS, POINT = (0, 1, 2), (9,), 0.01


def labelled(count: int, seed: int) -> Sequence[Row]:
    """Random rows for training: of different articles, or all wordings of all articles."""
    rows = summarization().train
    different = shuffled(Random(f"labels {seed}"), range(len(rows) // WORDINGS))
    return rows if count == len(rows) else [rows[i] for i in different[:count]]


def model_of(folder: str, variant: str, seed: int) -> nn.Module:
    """The pretrained model of a variant, or a PEGASUS with random weights."""
    if variant == BART_WORLD:
        return checkpoints.load(BART_WORLD)[0]
    if variant == SCRATCH:
        return gap_selection.build(variant, seed)
    return gap_selection.STUDY.trained(folder, variant, updates=gap_selection.UPDATES, seed=seed)


def tuned(folder: str, variant: str, labels: int, lr: float, seed: int, start: int) -> tuple[nn.Module, History]:
    """Fine-tune the model of the pretraining run with the seed ``start``; it has the best weights of the run."""
    model = model_of(folder, variant, start)
    mode = encoder_decoder(architecture_of(model), world_tokenizer)
    torch.manual_seed(seed)
    development = summarization().development

    def score(model: nn.Module) -> float:
        texts = generate(mode, model, [source for source, _ in development])
        return float(evaluated("development", texts)["score"])

    times = 1 if labels in FEW else MORE
    return model, fit(model, example_batches(mode, labelled(labels, seed), BATCH, f"{labels} labels {seed}"),
                      steps=times * UPDATES, lr=lr, warmup=WARMUP, optimizer=OPTIMIZERS[variant], score=score,
                      evaluate_every=times * EVERY, patience=times * UPDATES, show=False)


@none_if_diverged
def lr_score(folder: str, variant: str, labels: int, lr: float, seed: int) -> float:
    """The best score of a pilot run on the development rows."""
    _, history = tuned(folder, variant, labels, lr, seed, SEEDS[0])
    assert history.best is not None
    return float(history.best[1])


def run(folder: str, variant: str, labels: int, lr: float, seed: int) -> dict[str, float]:
    """The `evaluated` texts of a run for the test articles."""
    model, _ = tuned(folder, variant, labels, lr, seed, seed)
    mode = encoder_decoder(architecture_of(model), world_tokenizer)
    return evaluated("test_set", generate(mode, model, [source for source, _ in summarization().test_set]))


def selection_verdict(scores: Mapping[tuple[str, int], Any]) -> str:
    """The verdict on selection; ``scores``: (variant, labels) → summary of its score."""
    _, *others = gap_selection.SELECTIONS
    return combined_verdict(verdict(scores[PEGASUS, labels], scores[other, labels], POINT)
                            for other in others for labels in FEW)


def labels_verdict(scores: Mapping[tuple[str, int], Any]) -> str:
    """The verdict on few labels; ``scores`` as in `selection_verdict`."""
    every = len(summarization().train)
    return "not supported" if separated(scores[SCRATCH, every], scores[PEGASUS, FEW[-1]], POINT) else "supported"


def measure(parts: Parts) -> dict[str, Any]:
    """``pretraining``: variant → ``lr``, ``rates`` and held-out ``loss``; ``runs``: variant → number of labels →
    ``lr``, ``rates`` and the `evaluated` texts, with spread; and the ``verdicts``. The ``rates`` of 8 and 128 labels
    are those tried with `CHOSEN` labels."""
    pretraining = {variant: found.as_record() for (variant, _), found in gap_selection.STUDY.measure(parts).items()}
    folder, every = str(parts.folder), len(summarization().train)
    chosen = [(folder, variant, CHOSEN) for variant in OPTIMIZERS] + [(folder, SCRATCH, every)]
    best = tune_learning_rates(parts, lr_score, PILOTS, {arm: RATES[OPTIMIZERS[arm[1]]] for arm in chosen})
    arms = {(folder, variant, labels): best[folder, variant, CHOSEN] for variant in OPTIMIZERS for labels in FEW}
    arms[folder, SCRATCH, every] = best[folder, SCRATCH, every]
    found = parts(run, [(*arm, lr, seed) for arm, (lr, _) in arms.items() for seed in SEEDS])
    runs: dict[str, dict[str, Any]] = {variant: {} for variant in OPTIMIZERS}
    for arm, (lr, tried) in arms.items():
        _, variant, labels = arm
        measured = Measured(lr, tried, {seed: found[*arm, lr, seed] for seed in SEEDS})
        runs[variant][str(labels)] = measured.as_record()
    scores = {(variant, int(labels)): one["score"] for variant, of in runs.items() for labels, one in of.items()}
    return {"pretraining": pretraining, "runs": runs,
            "verdicts": {"selection": selection_verdict(scores), "few labels": labels_verdict(scores)}}
