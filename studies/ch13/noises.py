"""Which noise helps which task: three of BART's noises, UniLM and no pretraining, compared after fine-tuning.

All networks have the same width and number of layers (UniLM's single stack as many as encoder and decoder together),
and are pretrained for the same number of updates on the same number of documents, half of them in Chinese, so on equal
real tokens. The compute is not equal: BART reads each document twice, once in the encoder and once in the decoder.
UniLM predicts 30 % of its tokens, as in chapter 12, instead of 15 %. Each variant has its own learning rate in
pretraining, by its own loss on held-out documents, and its own for each task, by the score on development rows; pilot
runs have other seeds. Every fine-tuning run starts from the pretraining run of the same seed.

Fixed before the runs. *Token masking and text infilling are needed* (Lewis et al. 2020, §4.3) is supported if, in
reading and in writing, every seed of token masking and of text infilling is more than one point above every seed of
sentence permutation alone. *Text infilling is better than token masking for writing* is supported if every seed of
infilling is more than one point above every seed of masking. The score of reading and of writing is the mean of two
tasks. The noises are tested one at a time, because their number is limited to three; the paper's final choice combines
infilling with permutation.
"""

from collections.abc import Mapping
from functools import partial
from math import log
from statistics import fmean
from typing import Any

import torch
from torch import nn

from plmlab import world
from plmlab.batches import bucketed
from plmlab.chapters.ch13.text_to_text import (
    READING,
    TASKS,
    WRITING,
    Mode,
    encoder_decoder,
    fine_tune,
    score,
    unilm,
)
from plmlab.models.bart import BART, BARTConfig
from plmlab.models.unilm import UniLMConfig, UniLMPretraining
from plmlab.objectives import denoising, mask_mixture
from plmlab.recipes import Parts, none_if_diverged, rates_tried, seed_statistics, tune_learning_rates
from plmlab.recipes.statistics import seed_summary
from plmlab.recipes.study import Run, Study, verdict
from plmlab.train import History, fit
from plmlab.world.datasets.documents import document_batches
from plmlab.world.datasets.tokenizer import bilingual_tokenizer

LAYERS, WIDTH, HEADS, TIME, LONGEST = 2, 96, 4, 200, 64
"""Layers per side, width, heads, positions, and maximum number of words of a document."""
NOISES: dict[str, dict[str, Any]] = {
    "token masking": {"masking": 0.3, "infilling": 0, "permutation": 0},
    "text infilling": {"masking": 0, "infilling": 0.3, "permutation": 0},
    "sentence permutation": {"masking": 0, "infilling": 0, "permutation": 1}}
UNILM, SCRATCH = "UniLM", "BART, not pretrained"
VARIANTS = (*NOISES, UNILM, SCRATCH)
BATCH, ACCUMULATE, WARMUP, UPDATES, PILOT = 8, 4, 100, 1000, 300
TUNED, TUNED_PILOT = 200, 100
"""Updates of fine-tuning, and of the pilot runs that choose its learning rate."""
RATES, TUNING_RATES = (1e-3, 3e-3, 1e-2), (3e-4, 1e-3, 3e-3)
SEEDS, PILOTS, MARGIN = (0, 1, 2), (9,), 0.01
HELD_OUT = 32
"""Batches of test documents by which the learning rates of pretraining are chosen."""


def batches(arm: str, split: str, seed: int) -> Any:
    """Batches of documents under the objective of a variant."""
    objective: Any = partial(mask_mixture, rate=0.3) if arm == UNILM else partial(denoising, **NOISES[arm])
    return document_batches(world.full(), split, bilingual_tokenizer(), objective, BATCH, seed, longest=LONGEST,
                            bilingual=True)


def build(arm: str, seed: int) -> nn.Module:
    """A variant's network with random weights."""
    torch.manual_seed(seed)
    size: dict[str, Any] = {"vocab": len(bilingual_tokenizer()), "time": TIME, "model": WIDTH, "heads": HEADS,
                            "inner": 4 * WIDTH, "dropout": 0.0, "attention_dropout": 0.0}
    if arm == UNILM:
        return UniLMPretraining(UniLMConfig(**size, layers=2 * LAYERS))
    return BART(BARTConfig(**size, layers=LAYERS))


def train(model: nn.Module, arm: str, *, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Pretrain a variant, in place."""
    return fit(model, bucketed(batches(arm, "train", seed), ACCUMULATE), steps=updates, lr=lr, warmup=WARMUP,
               accumulate=ACCUMULATE, **options)


@torch.no_grad()
def held_out_loss(run: Run) -> float:
    """The mean loss per target of the variant's own objective on held-out documents."""
    [arm] = run.arm
    draw = batches(arm, "test", 77)
    return fmean(float(run.model.loss(draw(i))) for i in range(HELD_OUT))


def development(run: Run) -> float:
    """The negative held-out loss, which is comparable only between runs of the same variant."""
    return -held_out_loss(run)


def test(run: Run) -> dict[str, float]:
    """``loss``: the held-out loss."""
    return {"loss": held_out_loss(run)}


STUDY: Study[Any] = Study(
    name="noises", arms={(arm,): RATES for arm in (*NOISES, UNILM)}, build=build, train=train, development=development,
    test=test, updates=(UPDATES,), nothing=-log(len(bilingual_tokenizer())), seeds=SEEDS, pilots=PILOTS,
    pilot_updates=PILOT)


def mode_of(model: nn.Module) -> Mode:
    """How a variant is fine-tuned and used."""
    return unilm() if isinstance(model, UniLMPretraining) else encoder_decoder(model)


def tuned(folder: str, arm: str, task: str, updates: int, lr: float, seed: int, start: int) -> nn.Module:
    """A variant, pretrained with the seed ``start``, after fine-tuning on a task."""
    model = build(arm, seed) if arm == SCRATCH else STUDY.trained(folder, arm, updates=UPDATES, seed=start)
    fine_tune(model, mode_of(model), task, updates=updates, lr=lr, seed=seed, show=False)
    return model


@none_if_diverged
def lr_score(folder: str, arm: str, task: str, lr: float, seed: int) -> float:
    """The score of a pilot run on the development rows."""
    model = tuned(folder, arm, task, TUNED_PILOT, lr, seed, SEEDS[0])
    return score(model, mode_of(model), task, TASKS[task].rows().development)


def run_score(folder: str, arm: str, task: str, lr: float, seed: int) -> float:
    """The score of a run on the test rows."""
    model = tuned(folder, arm, task, TUNED, lr, seed, seed)
    return score(model, mode_of(model), task, TASKS[task].rows().test_set)


def verdicts(means: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The verdicts by the rules fixed before the runs; ``means``: "reading" or "writing" → variant → summary."""
    masking, infilling, permutation = NOISES
    needed = {verdict(of[noise], of[permutation], MARGIN) for of in means.values() for noise in (masking, infilling)}
    return {"masking or infilling is needed": needed.pop() if len(needed) == 1 else "partly supported",
            "infilling is better for writing": verdict(means["writing"][infilling], means["writing"][masking], MARGIN)}


def measure(parts: Parts) -> dict[str, Any]:
    """``pretraining``: variant → ``lr``, ``rates`` and held-out ``loss``; ``tasks``: task → variant → ``lr``, ``rates``
    and ``score``, with spread; ``means``: the scores of reading and of writing; and the ``verdicts``."""
    pretraining = {arm: found.as_record() for (arm, _), found in STUDY.measure(parts).items()}
    folder = str(parts.folder)
    arms = [(folder, arm, task) for arm in VARIANTS for task in TASKS]
    best = tune_learning_rates(parts, lr_score, PILOTS, dict.fromkeys(arms, TUNING_RATES))
    runs = parts(run_score, [(*arm, best[arm][0], seed) for arm in arms for seed in SEEDS])
    scores = {(arm, task): {seed: runs[folder, arm, task, best[folder, arm, task][0], seed] for seed in SEEDS}
              for _, arm, task in arms}
    tasks = {task: {arm: {"lr": best[folder, arm, task][0], "rates": rates_tried(best[folder, arm, task][1]),
                          **seed_statistics({seed: {"score": one} for seed, one in scores[arm, task].items()})}
                    for arm in VARIANTS} for task in TASKS}
    means = {name: {arm: seed_summary({seed: fmean(scores[arm, task][seed] for task in some) for seed in SEEDS})
                    for arm in VARIANTS} for name, some in (("reading", READING), ("writing", WRITING))}
    return {"pretraining": pretraining, "tasks": tasks, "means": means, "verdicts": verdicts(means),
            "updates": UPDATES, "tuned": TUNED}
