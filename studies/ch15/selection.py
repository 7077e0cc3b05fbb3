"""Which blocks does a BERT of 192 positions have to read, and can a judge that finds them be trained without labels?

Ding et al. (2020) compare MemRecall with windows of the text and with one-step retrieval. All models here are
initialized with the same BERT and trained on the same documents (of four worlds) with the same number of updates and
texts per update; the learning rate of each is chosen on development documents. Interventions have the rate of BM25,
because they change nothing in the first two epochs. The test documents ask each of the world's test questions twice,
with other articles and in other words.

The rules were fixed before the runs. A comparison is decided by every seed of one above every seed of the other by more
than `MARGIN` in exact match.

- *Recalled blocks* are better than the first 192 tokens, than windows with voting, and than the blocks with the highest
  BM25 scores: supported if all three comparisons are, partly supported if some are and none is the opposite.
- *Rehearsal*: two rounds are better than one-step retrieval, with the same judge and reasoner.
- *Joint scoring*: consecutive blocks in one window (the authors' code) are better than one block per window (the
  paper's text), with the same judge, which was trained on windows of several blocks.
- *Interventions* find relevant blocks: they are better than the labels that BM25 gave to begin with.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice
from statistics import fmean
from typing import Any

import torch
from torch import nn

from plmlab.chapters.ch15.answering import Outcome, Select, memory, outcomes
from plmlab.chapters.ch15.baselines import said
from plmlab.chapters.ch15.long_texts import block_spans, memory_blocks, overlapping, query_of
from plmlab.chapters.ch15.selections import best_by_bm25, first_blocks, needed_blocks, one_step, single_scores
from plmlab.chapters.ch15.training import SIZE, labelled_texts, pretrained, train, training_documents, without_labels
from plmlab.models.cogltx import CogLTX, CogLTXConfig
from plmlab.models.registry import ModelSpec
from plmlab.models.task_heads import SpanClassifier
from plmlab.recipes import Parts
from plmlab.recipes.study import Run, Study, combined_verdict, verdict
from plmlab.train import History, fit
from plmlab.world.datasets.long_documents import LongDocument, long_documents
from plmlab.world.world import full
from studies.ch15.window_reader import read, sliding_windows, vote, window_batches

LABELS, BM25, INTERVENTIONS, WINDOWS = "labels", "BM25", "interventions", "windows"
RATES = (3e-4, 1e-3, 3e-3)
UPDATES, PILOT_UPDATES = 2000, 400
FROM_EPOCH = 2
"""Interventions begin in the third epoch, as in the authors' code."""
DEVELOPMENT, TEST = 60, 404
MARGIN = 0.02
LENGTHS, DISTANCES = (1000, 2000, 3000, 4001), (150, 600, 1500, 4001)
SELECTIONS: Mapping[str, Select] = {
    "MemRecall": memory, "one step": one_step, "one block per window": single_scores, "BM25 blocks": best_by_bm25,
    "first tokens": first_blocks, "needed blocks": needed_blocks}


@cache
def documents(split: str, number: int) -> tuple[LongDocument, ...]:
    """Documents of the test world."""
    return tuple(islice(long_documents(full(), split), number))


def build(variant: str, seed: int) -> nn.Module:
    """The pretrained BERT with new output layers."""
    torch.manual_seed(seed)
    return (SpanClassifier if variant == WINDOWS else CogLTX).from_pretrained(pretrained())


def learn(model: Any, variant: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train a variant."""
    encoder = model.encoder if variant == WINDOWS else model.judge.encoder
    texts = labelled_texts(training_documents(), CogLTXConfig.of(ModelSpec.of(encoder)).longest)
    if variant == WINDOWS:
        batches = window_batches(texts, encoder.config.time, SIZE, seed)
        return fit(model, batches, steps=updates, lr=lr, warmup=updates // 10, compile=False, **options)
    texts = texts if variant == LABELS else [without_labels(text) for text in texts]
    return train(model, texts, updates, lr, seed, **options,
                 interventions_from=FROM_EPOCH if variant == INTERVENTIONS else None)


def development_score(run: Run) -> float:
    """Exact match on the development documents."""
    chosen = documents("development", DEVELOPMENT)
    if run.arm[0] == WINDOWS:
        return fmean(voted(run.model, one).answer for one in chosen)
    return fmean(one.answer for one in outcomes(run.model, chosen))


def voted(reader: SpanClassifier, document: LongDocument, count: int | None = None) -> Outcome:
    """The answer by voting over the first ``count`` windows (None: all)."""
    config = CogLTXConfig.of(ModelSpec.of(reader.encoder))
    spans = block_spans(document, config.longest)
    windows = sliding_windows(query_of(document), memory_blocks(document, spans), config.capacity)[:count]
    correct = vote(read(reader, windows)) == said(document, document.answer)
    held = [any({block.position for block in window.blocks}.issuperset(overlapping(spans, (one.start, one.end)))
                for window in windows) for one in document.supports]
    return Outcome(correct, held[0], held[1], len(document.tokens), document.distance)


def figures(found: Sequence[Outcome]) -> dict[str, float]:
    """Exact match, in all documents and by length and distance, and how often the supports were read."""
    numbers = {"exact match": fmean(one.answer for one in found), "first": fmean(one.first for one in found),
               "second": fmean(one.second for one in found), "both": fmean(one.first and one.second for one in found)}
    for name, bounds in (("length", LENGTHS), ("distance", DISTANCES)):
        for low, high in zip((0, *bounds), bounds, strict=False):
            group = [one.answer for one in found if low <= getattr(one, name) < high]
            numbers[f"{name} below {high}"] = fmean(group)
    return numbers


def test(run: Run) -> dict[str, float]:
    """The `figures` of each selection of blocks, or of one window and of all windows."""
    chosen = documents("test", TEST)
    if run.arm[0] == WINDOWS:
        found = {"first window": [voted(run.model, one, 1) for one in chosen],
                 "voting": [voted(run.model, one) for one in chosen]}
    else:
        names = SELECTIONS if run.arm[0] == LABELS else ("MemRecall", "needed blocks")
        found = {name: outcomes(run.model, chosen, SELECTIONS[name]) for name in names}
    return {f"{name}: {label}": value for name, of in found.items() for label, value in figures(of).items()}


STUDY: Study[Any] = Study(name="selection", arms={(name,): RATES for name in (LABELS, BM25, WINDOWS)}, build=build,
                          train=learn, development=development_score, test=test, updates=(UPDATES,), nothing=0.0,
                          pilots=(9,), pilot_updates=PILOT_UPDATES)


def measure(parts: Parts) -> dict[str, Any]:
    """Variant → ``lr``, ``rates`` and the numbers of `test` with spread; and the ``verdicts``."""
    rates = STUDY.best(parts, [(name, UPDATES) for name in (LABELS, BM25, WINDOWS)])
    rates[INTERVENTIONS, UPDATES] = rates[BM25, UPDATES]
    runs = {variant: one.as_record() for (variant, _), one in STUDY.at(parts, rates).items()}
    return {"runs": runs, "verdicts": verdicts(runs)}


def verdicts(runs: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The verdict on each claim, by its name in the module's docstring."""
    def score(variant: str, selection: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = runs[variant][f"{selection}: exact match"]
        return found

    recalled = score(LABELS, "MemRecall")
    others = score(WINDOWS, "first window"), score(WINDOWS, "voting"), score(LABELS, "BM25 blocks")
    return {"recalled blocks": combined_verdict(verdict(recalled, other, MARGIN) for other in others),
            "rehearsal": verdict(recalled, score(LABELS, "one step"), MARGIN),
            "joint scoring": verdict(recalled, score(LABELS, "one block per window"), MARGIN),
            "interventions": verdict(score(INTERVENTIONS, "MemRecall"), score(BM25, "MemRecall"), MARGIN)}
