"""The proportion of dropped tokens and the mean length of a span in T5's span corruption, compared after fine-tuning.

All variants are the same network, pretrained for the same number of updates on the same texts: documents of the world,
one after another, cut into 64 tokens, half of them in Chinese. Only one of the two settings differs from the paper's
choice, 15 % and a mean of 3. Spans may lie anywhere. Each variant has its own learning rate in pretraining, by its own
loss on held-out texts, and its own for each task. Every fine-tuning run starts from the pretraining run of the same
seed. Tasks: extractive QA and translation. The same network without pretraining shows whether pretraining helps at all.

Fixed before the runs. *Neither setting matters much* (Raffel et al. 2020, tables 6 and 7) is supported if no variant's
mean score of the two tasks is separated from that of 15 % and 3 by more than two points (all seeds of one above all
seeds of the other); otherwise it is not supported. That longer spans make shorter targets, and so cheaper updates, is
counted and timed.
"""

from collections.abc import Mapping
from functools import cache, partial
from math import log
from random import Random
from statistics import fmean
from typing import Any

import torch
from torch import nn

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.chapters.ch13.text_to_text import TASKS, encoder_decoder, fine_tune, score
from plmlab.models.t5 import T5, T5Config, span_corruption_anywhere
from plmlab.recipes import Parts, none_if_diverged
from plmlab.recipes.statistics import separated
from plmlab.recipes.study import Run, Study
from plmlab.timing import fastest_in_turn
from plmlab.train import History, fit
from plmlab.world.datasets.documents import documents
from plmlab.world.datasets.generation_tasks import bilingual_ids
from plmlab.world.datasets.tokenizer import bilingual_tokenizer
from studies.ch13.tuning import PILOTS, SEEDS, fine_tuned

LAYERS, WIDTH, HEADS, LENGTH = 2, 96, 4, 64
"""Layers per side, width, heads, and tokens of a text."""
VARIANTS = {"15 %, 3": (0.15, 3.0), "25 %, 3": (0.25, 3.0), "50 %, 3": (0.5, 3.0), "15 %, 1": (0.15, 1.0),
            "15 %, 10": (0.15, 10.0)}
"""Proportion of dropped tokens and mean length of a span; the first are the paper's."""
BASELINE, SCRATCH = "15 %, 3", "not pretrained"
BATCH, WARMUP, UPDATES, PILOT, TUNED, TUNED_PILOT = 16, 100, 1500, 400, 200, 100
RATES, MARGIN, HELD_OUT, TIMED = (3e-3, 1e-2, 3e-2), 0.02, 16, 40


def text(rng: Random, split: str) -> list[int]:
    """`LENGTH` tokens of consecutive documents, in one language."""
    chinese, tokens = rng.random() < 0.5, list[int]()
    for document in documents(world.full(), split, rng, LENGTH):
        tokens += [id for one in document for id in bilingual_ids(one.chinese if chinese else one.words)]
        if len(tokens) >= LENGTH:
            break
    return tokens[:LENGTH]


def batches(variant: str, split: str, seed: int) -> ExampleBatches:
    """Batches of texts under a variant of span corruption."""
    rate, mean = VARIANTS[variant]
    vocab = bilingual_tokenizer().vocab

    def draw(rng: Random) -> list[Any]:
        return [span_corruption_anywhere(text(rng, split), vocab=vocab, rng=rng, rate=rate, mean=mean)
                for _ in range(BATCH)]
    return ExampleBatches(draw, seed, vocab.need("pad"))


def build(variant: str, seed: int) -> nn.Module:
    """A T5 with random weights."""
    torch.manual_seed(seed)
    return T5(T5Config(len(bilingual_tokenizer()), layers=LAYERS, model=WIDTH, heads=HEADS, inner=4 * WIDTH,
                       dropout=0.0))


def train(model: nn.Module, variant: str, *, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Pretrain a variant, in place."""
    return fit(model, batches(variant, "train", seed), steps=updates, lr=lr, warmup=min(WARMUP, updates // 5),
               **options)


@cache
def held_out(variant: str) -> tuple[Any, ...]:
    """Batches of test texts."""
    return tuple(batches(variant, "test", 77)(i) for i in range(HELD_OUT))


@torch.no_grad()
def test(run: Run) -> dict[str, float]:
    """``loss``: the mean loss per target of the variant's own objective on held-out texts, which is comparable only
    between runs of the same variant."""
    return {"loss": fmean(float(run.model.loss(batch)) for batch in held_out(*run.arm))}


def development(run: Run) -> float:
    """The negative held-out loss."""
    return -test(run)["loss"]


STUDY: Study[Any] = Study(
    name="spans", arms={(variant,): RATES for variant in VARIANTS}, build=build, train=train, development=development,
    test=test, updates=(UPDATES,), nothing=-log(len(bilingual_tokenizer())), seeds=SEEDS, pilots=PILOTS,
    pilot_updates=PILOT)


def tuned_score(folder: str, variant: str, task: str, updates: int, lr: float, seed: int, start: int, rows: str,
                ) -> float:
    """The score on the ``rows`` ("development" or "test_set") of a task after fine-tuning on it, from the pretraining
    run with the seed ``start``."""
    model = (build(variant, seed) if variant == SCRATCH else
             STUDY.trained(folder, variant, updates=UPDATES, seed=start))
    fine_tune(model, encoder_decoder(model), task, updates=updates, lr=lr, seed=seed, show=False)
    return score(model, encoder_decoder(model), task, getattr(TASKS[task].rows(), rows))


@none_if_diverged
def lr_score(folder: str, variant: str, task: str, lr: float, seed: int) -> float:
    """The score of a pilot run on the development rows."""
    return tuned_score(folder, variant, task, TUNED_PILOT, lr, seed, SEEDS[0], "development")


def run_score(folder: str, variant: str, task: str, lr: float, seed: int) -> float:
    """The score of a run on the test rows."""
    return tuned_score(folder, variant, task, TUNED, lr, seed, seed, "test_set")


def update_seconds(rounds: int) -> dict[str, float]:
    """Variant → seconds of the fastest of some updates (forward and backward), measured in turn."""
    model: Any = build(BASELINE, 0)
    drawn = {variant: batches(variant, "train", 0)(0) for variant in VARIANTS}

    def update(batch: Any) -> None:
        model.loss(batch).backward()
    return fastest_in_turn({variant: partial(update, batch) for variant, batch in drawn.items()}, rounds)


def lengths(variant: str) -> dict[str, float]:
    """Mean number of real tokens of a ``source`` and of a ``target``, [END] and sentinels included."""
    batch: Any = batches(variant, "train", 0)(0)
    return {name: float(part.padding_mask.sum(1).float().mean())
            for name, part in (("source", batch.source), ("target", batch.target))}


def verdict(means: Mapping[str, Mapping[str, Any]]) -> str:
    """The verdict by the rule above; ``means``: variant → summary of its mean score."""
    paper = means[BASELINE]
    apart = any(separated(means[variant], paper, MARGIN) or separated(paper, means[variant], MARGIN)
                for variant in VARIANTS)
    return "not supported" if apart else "supported"


def measure(parts: Parts) -> dict[str, Any]:
    """``pretraining``: variant → ``lr``, ``rates`` and held-out ``loss``; ``lengths``; ``seconds`` of an update;
    the ``tasks`` and ``means`` of `fine_tuned`; and the ``verdict``."""
    pretraining = {variant: found.as_record() for (variant, _), found in STUDY.measure(parts).items()}
    found = fine_tuned(parts, lr_score, run_score, [*VARIANTS, SCRATCH], {"both": ("extractive QA", "translation")})
    return {"pretraining": pretraining, "lengths": {variant: lengths(variant) for variant in VARIANTS},
            "seconds": parts(update_seconds, [(TIMED,)])[TIMED,], **found, "verdict": verdict(found["means"]["both"]),
            "updates": UPDATES, "tuned": TUNED}
