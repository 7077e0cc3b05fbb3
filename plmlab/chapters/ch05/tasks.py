"""Downstream tasks for ELMo: NER, part-of-speech tagging, word senses (Peters et al. 2018, §4, §5.1, §5.4).

The task model is the same in all configurations, a BiLSTM on the word vectors of chapter 02; the configurations differ
in the vectors that are concatenated to the word vectors. Each uses the learning rate with the best score on development
sentences; training stops when the development score no longer improves, and the best weights are evaluated on the test
set.

With few labels the score depends on which sentences are labelled. Therefore each of the three pretrained models is
trained on three sets of labelled sentences, and its score is the mean; all configurations share the same nine sets.

The rules, fixed before the runs, are in section 7 of the notebook.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import inf
from random import Random
from statistics import median
from typing import Any, NamedTuple

import torch
from torch import nn

from plmlab.chapters.ch05.invented import WAYS, renamed
from plmlab.chapters.ch05.labelled import Labelled, Task, Words, task_of
from plmlab.chapters.ch05.probes import outcome
from plmlab.chapters.ch05.readers import Reader, bundled
from plmlab.chapters.ch05.tagger import FixedMix, QuickMix, Row, TaggedBatch, Tagger, encode_row
from plmlab.draws import randint
from plmlab.example import IGNORE
from plmlab.train import fit

SEEDS, PILOTS = (0, 1, 2), (9, 10)
"""Seeds of the pretrained models, and of the pilot runs for the choice of learning rates."""
STEPS, EVERY, PATIENCE, BATCH = 1200, 10, 20, 32
"""Maximum updates, updates between evaluations, early-stopping patience in evaluations, and batch size."""
MARGIN = 0.005


class Arm(NamedTuple):
    """The vectors concatenated to the word vectors: a ``reader`` and the weights of its layers (None: learned)."""

    reader: str
    shares: tuple[float, ...] | None = None


Readers = Callable[[str, str, int], Reader]
"""(name, folder of the pretrained models, seed of the pretrained model) → reader."""
THIRD = 1 / 3
ARMS: dict[str, Arm | None] = {
    "word vectors": None, "+ layer 0": Arm("biLM", (1.0, 0.0, 0.0)), "+ layer 1": Arm("biLM", (0.0, 1.0, 0.0)),
    "+ layer 2": Arm("biLM", (0.0, 0.0, 1.0)), "+ mean": Arm("biLM", (THIRD, THIRD, THIRD)), "+ ELMo": Arm("biLM"),
    "+ untrained": Arm("biLM, untrained"), "+ words": Arm("biLM of words"), "+ CoVe": Arm("CoVe"),
    "+ BERT": Arm("BERT"),
}
COUNTS = {"names": (1, 3, 10), "parts of speech": (8, 80), "senses": (1,)}
FEW = {"names": 3, "parts of speech": 8, "senses": 1}
"""Number of labels used by all configurations, for which their learning rates are chosen. The `CURVES` use the other
counts, too; with many labels they have separate learning rates."""
CURVES = ("word vectors", "+ layer 0", "+ layer 2", "+ ELMo", "+ untrained", "+ words", "+ BERT")


@cache
def layers_read(readers: Readers, folder: str, name: str, seed: int,
                ) -> Callable[[Sequence[Words]], list[list[torch.Tensor]]]:
    """Return a function that maps sentences to their cached layer vectors: for each sentence, one tensor per layer
    `[word width]`, repeated to the width of the widest layer."""
    read = readers(name, folder, seed)
    cached: dict[tuple[str, ...], list[torch.Tensor]] = {}

    def by_sentence(sentences: Sequence[Words]) -> list[list[torch.Tensor]]:
        keys = [tuple(words) for words in sentences]
        new = [key for key in dict.fromkeys(keys) if key not in cached]
        if new:
            layers = read(new)
            width = max(layer.shape[1] for layer in layers)
            wide = [layer.repeat(1, width // layer.shape[1]).split([len(key) for key in new]) for layer in layers]
            cached.update(zip(new, (list(rows) for rows in zip(*wide, strict=True)), strict=True))
        return [cached[key] for key in keys]
    return by_sentence


def rows_of(task: Task, some: Sequence[Labelled], vectors: Sequence[Sequence[torch.Tensor]]) -> list[Row]:
    """Convert labelled sentences and their layer vectors to the tagger's input."""
    number = {label: i for i, label in enumerate(task.labels)}
    return [encode_row(sentence.words, [IGNORE if label is None else number[label] for label in sentence.labels],
                       layers)
            for sentence, layers in zip(some, vectors, strict=True)]


@torch.no_grad()
def predicted_labels(model: Tagger, task: Task, rows: Sequence[Row]) -> list[list[str]]:
    """Predicted label of each word."""
    predicted = []
    for start in range(0, len(rows), 256):
        batch = TaggedBatch.of(rows[start:start + 256])
        best = model(batch).argmax(-1)
        predicted += [[task.labels[i] for i in labels[:length]]
                      for labels, length in zip(best.tolist(), batch.lengths.tolist(), strict=True)]
    return predicted


def tagger(task: Task, arm: Arm | None, width: int, layers: int, seed: int) -> Tagger:
    """Return an untrained tagger, initialized with ``seed``."""
    torch.manual_seed(seed)
    if arm is None:
        return Tagger(len(task.labels))
    mix: nn.Module = QuickMix(layers) if arm.shares is None else FixedMix(arm.shares)
    return Tagger(len(task.labels), mix, width)


def run_result(folder: str, name: str, arm_name: str, count: int, lr: float, run: int, readers: Readers = bundled,
            ) -> dict[str, Any]:
    """Train and evaluate once, for the results or to choose a learning rate.

    Returns the test ``score``, the best ``development`` score, the number of ``updates`` until then, whether the run
    ``ended`` by early stopping, the ``curve`` of development scores, measured every ``EVERY`` updates, and the layer
    weights (``shares``) of a learned mix; for names, also the scores on original and ``invented`` persons' names, as
    way → score. Each run has its own labels, and uses the pretrained model with seed run % 3.
    """
    task, arm, seed = task_of(name), ARMS[arm_name], PILOTS.index(run) if run in PILOTS else run % len(SEEDS)

    def read(some: Sequence[Labelled]) -> list[Row]:
        words = [sentence.words for sentence in some]
        return rows_of(task, some, layers_read(readers, folder, arm.reader, seed)(words) if arm else [[] for _ in some])

    def scored(model: Tagger, some: Sequence[Labelled], rows: Sequence[Row]) -> float:
        return task.score(predicted_labels(model, task, rows), some)

    known, dev_set, test_set = read(task.known(count, run)), task.development(count, run), task.test_set()
    development = read(dev_set)
    width, layers = (known[0].layers[0].shape[1], len(known[0].layers)) if arm else (0, 0)

    def batches(step: int) -> TaggedBatch:
        rng = Random(f"{run}:{step}")
        return TaggedBatch.of([known[randint(rng, len(known))] for _ in range(BATCH)])

    model = tagger(task, arm, width, layers, run)
    history = fit(model, batches, steps=STEPS, lr=lr, warmup=20, decay="none", evaluate_every=EVERY,
                  score=lambda trained: scored(trained, dev_set, development), patience=PATIENCE, show=False)
    assert history.best is not None
    figures = {"score": scored(model, test_set, read(test_set)), "development": history.best[1],
               "updates": history.best[0],
               "ended": len(history.losses) < STEPS, "curve": [value for _, value in history.scores],
               "shares": model.mix.softmax().tolist() if isinstance(model.mix, QuickMix) else None}
    if name == "names":
        figures["invented"] = {way: scored(model, some, read(some)) for way in ("as it is", *WAYS)
                               for some in [list(renamed(way))]}
    return figures


def scalar_mix_over(arms: Mapping[str, Any], other: str, count: str) -> str:
    """Verdict for one task on the learned layer weights, compared with ``other``, the top layer or the mean."""
    gaps = [one - two for one, two in zip(arms["+ ELMo"][count]["score"]["values"],
                                          arms[other][count]["score"]["values"], strict=True)]
    return outcome(all(gap >= MARGIN for gap in gaps), all(gap <= -MARGIN for gap in gaps))


def tenth(name: str) -> tuple[str, str]:
    """The label counts that the rule *fewer labels* compares: a tenth of the labels, and all labels."""
    total = COUNTS[name][-1]
    return str(total // 10), str(total)


def fewer_labels(arms: Mapping[str, Any], name: str) -> str:
    """Verdict for one task on "ELMo needs only a tenth of the labels"."""
    few, total = tenth(name)
    gaps = [one - two for one, two in zip(arms["+ ELMo"][few]["score"]["values"],
                                          arms["word vectors"][total]["score"]["values"], strict=True)]
    return outcome(all(gap > -MARGIN for gap in gaps), all(gap <= -MARGIN for gap in gaps))


def updates_to_reach(arms: Mapping[str, Any], name: str, arm: str, every: int) -> float:
    """Median number of updates until the development score reaches 99 % of the word vectors' best score in the same
    run; infinite if most runs never do."""
    total = tenth(name)[1]
    return float(median(
        next(((index + 1) * every for index, score in enumerate(curve) if score >= 0.99 * best), inf)
        for curve, best in zip(arms[arm][total]["curves"], arms["word vectors"][total]["best"], strict=True)))
