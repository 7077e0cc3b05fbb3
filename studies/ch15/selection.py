"""Which blocks does a BERT of 192 positions have to read, and can a judge that finds them be trained without labels?

Ding et al. (2020) compare MemRecall with windows of the text and with one-step retrieval. All models here are
initialized with the same BERT and trained on the same documents of 500 to 1,000 tokens (of four worlds), with the same
number of updates and texts per update; the learning rate of each is chosen on development documents. Interventions have
the rate of BM25, because they change nothing in the first two epochs. The test documents, of 500 to 4,000 tokens, ask
each of the world's test questions twice, with other articles and in other words.

The learning rates were first chosen on 120 development documents of 500 to 4,000 tokens. CogLTX's scores at 0.001 and
0.003 differed by one document, and the run with the rate chosen, 0.003, had not learned to read; so the choice is now
made on 404 documents as short as those of training.

The rules were fixed before the runs. A comparison is decided by every seed of one above every seed of the other by more
than `MARGIN`: in exact match for the first claim, and for the others in the fraction of documents with both supporting
sentences in the final memory.

- *Recalled blocks* are better than the first 192 tokens, than windows with voting, and than the blocks with the highest
  BM25 scores: supported if all three comparisons are, partly supported if some are and none is the opposite.
- *Rehearsal*: two rounds are better than one-step retrieval, with the same judge.
- *Joint scoring*: consecutive blocks in one window (the authors' code) are better than one block per window (the
  paper's text), with the same judge, which was trained on windows of several blocks.
- *Interventions* find relevant blocks: they are better than the labels that BM25 gave to begin with.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any

import torch
from torch import nn

from plmlab.chapters.ch15.answering import Outcome, evaluation_documents, outcome
from plmlab.chapters.ch15.long_texts import BlockedDocument
from plmlab.chapters.ch15.selections import best_by_bm25, first_blocks, needed_blocks, one_step, single_scores
from plmlab.chapters.ch15.training import (
    LENGTHS,
    SIZE,
    labelled_texts,
    pretrained,
    train,
    training_documents,
    without_labels,
)
from plmlab.models.cogltx import CogLTX, CogLTXConfig
from plmlab.models.task_heads import SpanClassifier
from plmlab.recipes import Parts
from plmlab.recipes.study import Run, Study, combined_verdict, verdict
from plmlab.train import History, fit
from plmlab.world.datasets.long_documents import LongDocument
from studies.ch15.window_reader import read, sliding_windows, vote, window_batches

LABELS, BM25, INTERVENTIONS, WINDOWS = "labels", "BM25", "interventions", "windows"
RATES = (3e-4, 1e-3, 3e-3)
UPDATES, PILOT_UPDATES = 2000, 1000
FROM_EPOCH = 2
"""Interventions begin in the third epoch, as in the authors' code."""
DEVELOPMENT, TEST, SHORT = 404, 404, 202
MARGIN = 0.02
LONGER, DISTANCES = (1000, 2000, 3000, 4001), (150, 600, 1500, 4001)


def build(variant: str, seed: int) -> nn.Module:
    """The pretrained BERT with new output layers."""
    torch.manual_seed(seed)
    return (SpanClassifier if variant == WINDOWS else CogLTX).from_pretrained(pretrained())


def learn(model: Any, variant: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train a variant, with bfloat16 autocast, which takes a quarter less time on the CPU."""
    options |= {"precision": "bf16"}
    config = CogLTXConfig.of(model.config.encoder)
    texts = labelled_texts(training_documents(), config.longest)
    if variant == WINDOWS:
        batches = window_batches(texts, config.capacity, SIZE, seed)
        return fit(model, batches, steps=updates, lr=lr, warmup=updates // 10, compile=False, **options)
    texts = texts if variant == LABELS else [without_labels(text) for text in texts]
    return train(model, texts, updates, lr, seed, **options,
                 interventions_from=FROM_EPOCH if variant == INTERVENTIONS else None)


def voted(reader: SpanClassifier, document: LongDocument, count: int | None = None) -> Outcome:
    """The answer by voting over the first ``count`` windows (None: all)."""
    config = CogLTXConfig.of(reader.config.encoder)
    text = BlockedDocument.of(document, config.longest)
    windows = sliding_windows(text.query, text.blocks, config.capacity)[:count]
    return Outcome.of(text, vote(read(reader, windows)), windows)


Answers = Mapping[str, Callable[[Any, LongDocument], Outcome]]
SELECTED: Answers = {
    "MemRecall": outcome, "one step": partial(outcome, select=one_step),
    "one block per window": partial(outcome, select=single_scores),
    "BM25 blocks": partial(outcome, select=best_by_bm25), "first tokens": partial(outcome, select=first_blocks),
    "needed blocks": partial(outcome, select=needed_blocks)}
RECALLED = {name: SELECTED[name] for name in ("MemRecall", "needed blocks")}
ANSWERS: Mapping[str, Answers] = {
    LABELS: SELECTED, BM25: RECALLED, INTERVENTIONS: RECALLED,
    WINDOWS: {"voting": voted, "first window": partial(voted, count=1)}}
"""How each variant answers; the first way chooses its learning rate and is also tested on short documents."""


def development_score(run: Run) -> float:
    """Exact match on development documents as short as those of training."""
    (answer, *_), chosen = ANSWERS[run.arm[0]].values(), evaluation_documents("development", DEVELOPMENT, LENGTHS)
    return fmean(answer(run.model, one).answer for one in chosen)


def figures(found: Sequence[Outcome]) -> dict[str, float]:
    """Exact match, in all documents and by length and distance, and how often the supports were read."""
    numbers = {"exact match": fmean(one.answer for one in found), "first": fmean(one.first for one in found),
               "second": fmean(one.second for one in found), "both": fmean(one.first and one.second for one in found)}
    for name, bounds in (("length", LONGER), ("distance", DISTANCES)):
        for low, high in zip((0, *bounds), bounds, strict=False):
            if group := [one.answer for one in found if low <= getattr(one, name) < high]:
                numbers[f"{name} below {high}"] = fmean(group)
    return numbers


def test(run: Run) -> dict[str, float]:
    """The `figures` of each way to answer, and those of the first one in documents as short as those of training."""
    (main, answer), *_ = ways = ANSWERS[run.arm[0]].items()
    found = {name: [way(run.model, one) for one in evaluation_documents("test", TEST)] for name, way in ways}
    found[f"{main}, short"] = [answer(run.model, one) for one in evaluation_documents("test", SHORT, LENGTHS)]
    return {f"{name}: {label}": value for name, of in found.items() for label, value in figures(of).items()}


STUDY: Study[Any] = Study(name="selection", arms={(name,): RATES for name in (LABELS, BM25, WINDOWS)}, build=build,
                          train=learn, development=development_score, test=test, updates=(UPDATES,), nothing=0.0,
                          pilots=(9,), pilot_updates=PILOT_UPDATES)


def measure(parts: Parts) -> dict[str, Any]:
    """Variant → ``lr``, ``rates`` and the numbers of `test` with spread; the ``verdicts``; and the upper ``bounds`` of
    length and distance."""
    rates = STUDY.best(parts, [(name, UPDATES) for name in (LABELS, BM25, WINDOWS)])
    rates[INTERVENTIONS, UPDATES] = rates[BM25, UPDATES]
    runs = {variant: one.as_record() for (variant, _), one in STUDY.at(parts, rates).items()}
    return {"runs": runs, "verdicts": verdicts(runs), "bounds": {"length": LONGER, "distance": DISTANCES}}


def verdicts(runs: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The verdict on each claim, by its name in the module's docstring."""
    def score(variant: str, selection: str, figure: str = "both") -> Mapping[str, Any]:
        found: Mapping[str, Any] = runs[variant][f"{selection}: {figure}"]
        return found

    recalled, answered = score(LABELS, "MemRecall"), score(LABELS, "MemRecall", "exact match")
    others = [(WINDOWS, "first window"), (WINDOWS, "voting"), (LABELS, "BM25 blocks")]
    return {"recalled blocks": combined_verdict(verdict(answered, score(*other, "exact match"), MARGIN)
                                                for other in others),
            "rehearsal": verdict(recalled, score(LABELS, "one step"), MARGIN),
            "joint scoring": verdict(recalled, score(LABELS, "one block per window"), MARGIN),
            "interventions": verdict(score(INTERVENTIONS, "MemRecall"), score(BM25, "MemRecall"), MARGIN)}
