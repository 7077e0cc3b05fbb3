"""What ELMo's vectors are worth to a task: names, parts of speech, senses (Peters et al. 2018, §4, §5.1, §5.4).

The task's model is the same in all arms, word vectors of chapter 02 under a BiLSTM; they differ in what stands beside
the word vectors. Each arm has the learning rate that is best for it on development sentences, stops when the
development score rises no more, and its best weights go to the exam.

With few labels the score hangs on which they are, so each of the three pretrained models has three sets of labels, and
its score is the mean; all arms have the same nine sets.

Said before it was run, for each task by itself. *Mix over top* and *mix over mean* (their table 2: 84.7, 85.0, 85.2):
holds if with every model the learned mix is better by half a point of 100 or more; fails if with every model it is
worse by as much; open otherwise. For names and parts of speech: *fewer labels* (their §5.4: as good with 1 % of the
labels as the baseline with 10 %) holds if with every model ELMo with a tenth of the labels is within half a point of
the word vectors with all, or above; fails if with every model it is below that.

A rule for *fewer updates* (theirs: 486 epochs → 10) was withdrawn after the run. The word vectors need 60 and 80
updates to 99 % of their best, and a curve has a point every ten, so that a tenth could not have been seen. The updates
are told without a verdict.
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
from plmlab.chapters.ch05.readers import Reader, bundled
from plmlab.chapters.ch05.tagger import FixedMix, QuickMix, Row, TaggedBatch, Tagger, row
from plmlab.draws import randint
from plmlab.example import IGNORE
from plmlab.train import fit

SEEDS, PILOTS = (0, 1, 2), (9, 10)
"""Of the pretrained models, and of the runs that learning rates are chosen by."""
STEPS, EVERY, PATIENCE, BATCH = 1200, 10, 20, 32
"""Updates at most, how often the development score is taken, and how many of them without a better one end a run."""
MARGIN = 0.005


class Arm(NamedTuple):
    """What stands beside the word vectors: a `reader`, and the shares of its layers, None where they are learned."""

    reader: str
    shares: tuple[float, ...] | None = None


Readers = Callable[[str, str, int], Reader]
"""(name, folder of what was pretrained, seed of the pretrained model) → a reader."""
THIRD = 1 / 3
ARMS: dict[str, Arm | None] = {
    "word vectors": None, "+ layer 0": Arm("biLM", (1.0, 0.0, 0.0)), "+ layer 1": Arm("biLM", (0.0, 1.0, 0.0)),
    "+ layer 2": Arm("biLM", (0.0, 0.0, 1.0)), "+ mean": Arm("biLM", (THIRD, THIRD, THIRD)), "+ ELMo": Arm("biLM"),
    "+ untrained": Arm("biLM, untrained"), "+ words": Arm("biLM of words"), "+ CoVe": Arm("CoVe"),
    "+ BERT": Arm("BERT"),
}
COUNTS = {"names": (1, 3, 10), "parts of speech": (8, 80), "senses": (1,)}
FEW = {"names": 3, "parts of speech": 8, "senses": 1}
"""So many labels all arms have, and by so many their learning rates are chosen; the `CURVES` have the other counts too,
with many labels learning rates of their own."""
CURVES = ("word vectors", "+ layer 0", "+ layer 2", "+ ELMo", "+ untrained", "+ words", "+ BERT")


@cache
def layers_read(readers: Readers, folder: str, name: str, seed: int,
                ) -> Callable[[Sequence[Words]], list[list[torch.Tensor]]]:
    """Sentences → of each the vectors of its words, a tensor a layer, all as wide as the widest. A sentence is read
    once."""
    read = readers(name, folder, seed)
    kept: dict[tuple[str, ...], list[torch.Tensor]] = {}

    def by_sentence(sentences: Sequence[Words]) -> list[list[torch.Tensor]]:
        keys = [tuple(words) for words in sentences]
        new = [key for key in dict.fromkeys(keys) if key not in kept]
        if new:
            layers = read(new)
            width = max(layer.shape[1] for layer in layers)
            wide = [layer.repeat(1, width // layer.shape[1]).split([len(key) for key in new]) for layer in layers]
            kept.update(zip(new, (list(one) for one in zip(*wide, strict=True)), strict=True))
        return [kept[key] for key in keys]
    return by_sentence


def rows_of(task: Task, some: Sequence[Labelled], vectors: Sequence[Sequence[torch.Tensor]]) -> list[Row]:
    """Labelled sentences as the tagger reads them, with the vectors of each, a tensor a layer."""
    number = {label: i for i, label in enumerate(task.labels)}
    return [row(one.words, [IGNORE if label is None else number[label] for label in one.labels], layers)
            for one, layers in zip(some, vectors, strict=True)]


@torch.no_grad()
def said(model: Tagger, task: Task, rows: Sequence[Row]) -> list[list[str]]:
    """The label that the model gives to each word."""
    told = []
    for start in range(0, len(rows), 256):
        batch = TaggedBatch.of(rows[start:start + 256])
        best = model(batch).argmax(-1)
        told += [[task.labels[i] for i in labels[:length]]
                 for labels, length in zip(best.tolist(), batch.lengths.tolist(), strict=True)]
    return told


def tagger(task: Task, arm: Arm | None, width: int, layers: int, seed: int) -> Tagger:
    """A new tagger."""
    torch.manual_seed(seed)
    if arm is None:
        return Tagger(len(task.labels))
    mix: nn.Module = QuickMix(layers) if arm.shares is None else FixedMix(arm.shares)
    return Tagger(len(task.labels), mix, width)


def reached(folder: str, name: str, arm_name: str, count: int, lr: float, run: int, readers: Readers = bundled,
            ) -> dict[str, Any]:
    """A run, or a pilot: its ``score`` in the exam, the best ``development`` score and the ``updates`` to it, whether
    it ``ended`` by itself, the ``curve`` of development scores, one every ``EVERY`` updates, the ``shares`` that a mix
    has learned; and of names the scores on persons as they are and where they are ``invented``, way → score. A run has
    labels of its own, and the pretrained model of the seed run % 3."""
    task, arm, seed = task_of(name), ARMS[arm_name], PILOTS.index(run) if run in PILOTS else run % len(SEEDS)

    def read(some: Sequence[Labelled]) -> list[Row]:
        words = [one.words for one in some]
        return rows_of(task, some, layers_read(readers, folder, arm.reader, seed)(words) if arm else [[] for _ in some])

    def scored(model: Tagger, some: Sequence[Labelled], rows: Sequence[Row]) -> float:
        return task.score(said(model, task, rows), some)

    known, chosen_by, asked = read(task.known(count, run)), task.development(count, run), task.test_set()
    development = read(chosen_by)
    width, layers = (known[0].layers[0].shape[1], len(known[0].layers)) if arm else (0, 0)

    def batches(step: int) -> TaggedBatch:
        rng = Random(f"{run}:{step}")
        return TaggedBatch.of([known[randint(rng, len(known))] for _ in range(BATCH)])

    model = tagger(task, arm, width, layers, run)
    history = fit(model, batches, steps=STEPS, lr=lr, warmup=20, decay="none", evaluate_every=EVERY,
                  score=lambda made: scored(made, chosen_by, development), patience=PATIENCE, show=False)
    assert history.best is not None
    told = {"score": scored(model, asked, read(asked)), "development": history.best[1], "updates": history.best[0],
            "ended": len(history.losses) < STEPS, "curve": [value for _, value in history.scores],
            "shares": model.mix.softmax().tolist() if isinstance(model.mix, QuickMix) else None}
    if name == "names":
        told["invented"] = {way: scored(model, some, read(some)) for way in ("as it is", *WAYS)
                            for some in [list(renamed(way))]}
    return told


def said_of(differences: Sequence[float]) -> str:
    """Of differences by model whether something holds, fails or is open, by half a point."""
    if all(one >= MARGIN for one in differences):
        return "holds"
    return "fails" if all(one <= -MARGIN for one in differences) else "open"


def mix_over(arms: Mapping[str, Any], other: str, count: str) -> str:
    """What the first rules above say: the learned mix over the top layer or over the mean, of one task."""
    return said_of([one - two for one, two in zip(arms["+ ELMo"][count]["score"]["values"],
                                                  arms[other][count]["score"]["values"], strict=True)])


def tenth(name: str) -> tuple[str, str]:
    """The counts of a task that the last rule compares: a tenth of the labels, and all."""
    whole = COUNTS[name][-1]
    return str(whole // 10), str(whole)


def fewer_labels(arms: Mapping[str, Any], name: str) -> str:
    """What the third rule says of a task."""
    few, whole = tenth(name)
    gaps = [one - two for one, two in zip(arms["+ ELMo"][few]["score"]["values"],
                                          arms["word vectors"][whole]["score"]["values"], strict=True)]
    if all(gap > -MARGIN for gap in gaps):
        return "holds"
    return "fails" if all(gap <= -MARGIN for gap in gaps) else "open"


def crossing(arms: Mapping[str, Any], name: str, arm: str, every: int) -> float:
    """The median of the updates to the first development score that is 99 % of the word vectors' best in the same run;
    infinite where most never come so far."""
    whole = tenth(name)[1]
    return float(median(
        next(((place + 1) * every for place, score in enumerate(curve) if score >= 0.99 * best), inf)
        for curve, best in zip(arms[arm][whole]["curves"], arms["word vectors"][whole]["best"], strict=True)))
