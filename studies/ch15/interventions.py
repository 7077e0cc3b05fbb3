"""Do interventions find relevant blocks, if they have the time?

In `studies.ch15.selection` the training texts are seen in four epochs. Interventions begin in the third, and the
learning rate is close to 0 in the last, so levels that they have changed train the judge very little. This study takes
half of the texts, in eight epochs, with a constant learning rate after the warm-up. The rate is chosen for initial
labels from BM25, on development documents, and interventions use the same one.

The rule was fixed before the runs. *Interventions* are better than the labels of BM25, which stay as they are, if every
seed has both supporting sentences in the final memory for more documents than every seed of the other, by more than
`MARGIN`. The levels at the end of the training are measured beside this: for how many training texts all blocks of the
first and of the second supporting sentence have become relevant, and how many blocks there are per text.
"""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from plmlab.chapters.ch15.answering import evaluation_documents, outcomes
from plmlab.chapters.ch15.long_texts import BlockedDocument
from plmlab.chapters.ch15.training import LENGTHS, SAMPLES, SIZE, WORLDS, training_documents, without_labels
from plmlab.models.cogltx import CogLTX
from plmlab.models.cogltx_training import LongText, TrainingWindows
from plmlab.recipes import Parts
from plmlab.recipes.study import Run, Study, verdict
from plmlab.train import fit
from studies.ch15.selection import BM25, FROM_EPOCH, INTERVENTIONS, MARGIN, build

RATES = (3e-4, 1e-3)
PER_WORLD, EPOCHS = 250, 8
UPDATES, PILOT_UPDATES = EPOCHS * PER_WORLD * len(WORLDS) // SIZE, 1000
DEVELOPMENT, TEST = 404, 404


def texts(longest: int) -> list[tuple[BlockedDocument, LongText]]:
    """The training documents with the initial labels of BM25."""
    blocked = [BlockedDocument.of(one, longest) for one in training_documents(WORLDS, PER_WORLD)]
    return [(one, without_labels(one.labelled())) for one in blocked]


def train(model: CogLTX, variant: str, updates: int, lr: float, seed: int, **options: Any) -> list[LongText]:
    """Train a CogLTX; returns the training texts with their levels at the end."""
    learned = [text for _, text in texts(model.config.longest)]
    windows = TrainingWindows(model, learned, size=SIZE, seed=seed, samples=SAMPLES,
                              interventions_from=FROM_EPOCH if variant == INTERVENTIONS else None)
    fit(model, windows, steps=updates, lr=lr, warmup=UPDATES // 10, decay="none", compile=False, precision="bf16",
        **options)
    return learned


def levels(longest: int, learned: list[LongText]) -> dict[str, float]:
    """For which fraction of the texts all blocks of each supporting sentence are relevant, and how many blocks are
    relevant per text."""
    found = [[text.relevant.issuperset(support) for support in one.supports]
             for (one, _), text in zip(texts(longest), learned, strict=True)]
    first, second = (fmean(column) for column in zip(*found, strict=True))
    return {"labels: first": first, "labels: second": second,
            "labels: per text": fmean(len(text.relevant) for text in learned)}


def recalled(model: CogLTX, split: str, number: int) -> dict[str, float]:
    """Exact match, and how often MemRecall has the supporting sentences in the final memory, in short documents."""
    found = outcomes(model, evaluation_documents(split, number, LENGTHS))
    return {"exact match": fmean(one.answer for one in found), "first": fmean(one.first for one in found),
            "second": fmean(one.second for one in found), "both": fmean(one.first and one.second for one in found)}


def development_score(run: Run) -> float:
    """Exact match on development documents."""
    return recalled(run.model, "development", DEVELOPMENT)["exact match"]


def test(run: Run) -> dict[str, float]:
    """The results of `recalled` on test documents, and the `levels` after the training."""
    return recalled(run.model, "test", TEST) | levels(run.model.config.longest, run.history)


STUDY: Study[Any] = Study(name="interventions", arms={(BM25,): RATES}, build=build, train=train,
                          development=development_score, test=test, updates=(UPDATES,), nothing=0.0, pilots=(9,),
                          pilot_updates=PILOT_UPDATES)


def measure(parts: Parts) -> dict[str, Any]:
    """Variant → ``lr``, ``rates`` and the numbers of `test` with spread, and the ``verdict``."""
    rates = STUDY.best(parts, [(BM25, UPDATES)])
    rates[INTERVENTIONS, UPDATES] = rates[BM25, UPDATES]
    runs: Mapping[str, Any] = {variant: one.as_record() for (variant, _), one in STUDY.at(parts, rates).items()}
    return {"runs": runs, "verdict": verdict(runs[INTERVENTIONS]["both"], runs[BM25]["both"], MARGIN)}
