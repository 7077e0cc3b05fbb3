"""Classification as a cloze, over the number of labels: does GLM gain by saying the class with a word that it knows?

Du et al. (2022, §2.3) say a class with a word at a blank, after Schick and Schütze (2021, PET), so that nothing is new
to what was pretrained; on SuperGLUE (table 1) their GLM is above BERT, which has a new layer. Here the two changes are
told apart. Arms: GLM with a word for each class; with the same words *exchanged*; with a new linear *head* on the very
vector that says the words, of the very same text; BERT with a word for each class at its [MASK]; and BERT with a head,
on [CLS] of the plain text, or on [MASK] where the task has one in the text. Tasks, words and patterns are those of
`plmlab.chapters.ch12.cloze_tasks`.

The first 32, 128 or 1,024 rows are learned from. Each arm has a rate of its own for each number of them, the best of
a growing grid by the mean of all seeds' development scores; each run goes on until the score on 200 development rows
rises no more, and keeps the best weights, be they those of its beginning. (The first runs of "number" showed that those
have to be among them: 50 updates from 32 labels make the cloze worse than it is without any.) The 200 are more rows
than some runs learn from: this tells how well one *can* do with so few labels, for all arms alike, and not what one
would reach who has no others.

Written before the runs. Of two arms one is *above* the other if each of its seeds has a higher score in the exam than
each of the other's, by more than `MARGIN`; else they are *not apart*. For each task, and for BERT as for GLM:

- *A cloze beats a head where labels are few*: holds if the cloze is above the head with 32 labels, fails if the head is
  above, else does not show.
- *The advantage goes as labels grow*: holds if they are not apart with 1,024, fails if the cloze is still above, and
  *turns round* if the head is; there is none to go where the cloze was not above with 32.
- *It is the words' meaning*, not only their format: holds if GLM's cloze is above the one with exchanged words, with
  32; fails if it is below, else does not show. Exchanged words do not only lack the meaning, they mislead: how much is
  gained by it, the head tells better.
- GLM *against BERT* is told for cloze and for head likewise, and no claim: a head on BERT against a cloze on GLM mixes
  two changes.

Added when a reader had asked for it, and so not judged by these rules: a *frozen* model, whose vectors a ridge
regression reads, its strength chosen by the same 200 rows. From 32 labels it makes more of BERT's vectors than tuning
does.

Beside them stand the score without any label, of those that have a word for each class, and that of the commoner class.
All seeds are judged by the same 300 rows, so what is told is of them: a share of 300 has a standard error of up to
three points. Of "number" also the rows are told in which a noun of the other number stands between (``attracted``).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import nn

from plmlab.chapters.ch12.as_cloze import examined
from plmlab.chapters.ch12.cloze_classifiers import ClozeClassifier, PositionClassifier
from plmlab.chapters.ch12.cloze_tasks import TASKS, ClozeTask, majority, read_by_bert, read_by_glm
from plmlab.example import Example
from plmlab.recipes import Parts, seed_statistics, separated, tuned_by_all_seeds
from plmlab.train import Diverged
from plmlab.transfer import MOST, accuracy, batch_of, fit_rows
from plmlab.world.datasets.tokenizer import ids
from studies.ch12 import english_bert
from studies.ch12.english_bert import pretrained

SEEDS = (0, 1, 2)
LABELS = (32, 128, MOST)
STEPS, PATIENCE = 600, 4
"""Updates at most, and how many measurements without a better one end a run."""
RATES = (3e-4, 1e-3, 3e-3)
STRENGTHS = tuple(10.0 ** power for power in range(-2, 5))
"""Of the ridge regression."""
MARGIN = 0.02
"""A share by which one must be above the other."""


class Arm(NamedTuple):
    """What is pretrained, the classifier made of it for a task, and what it reads of a row; and whether it has a word
    for each class."""

    pretrained: str
    classifier: Callable[[Any, ClozeTask], nn.Module]
    example: Callable[[ClozeTask, Any], Example]
    says_words: bool


def by_words(model: Any, task: ClozeTask) -> nn.Module:
    """The class by its word."""
    return ClozeClassifier(model, ids(task.verbalizers))


def by_exchanged_words(model: Any, task: ClozeTask) -> nn.Module:
    """The class by the word of the other."""
    return ClozeClassifier(model, ids(task.verbalizers[::-1]))


def glm_head(model: Any, task: ClozeTask) -> nn.Module:
    """A new layer on GLM's vector of the blank."""
    return PositionClassifier.from_pretrained(model.encoder)


def bert_head(model: Any, task: ClozeTask) -> nn.Module:
    """A new layer on BERT."""
    return task.head.from_pretrained(model.encoder)


def plain(task: ClozeTask, row: Any) -> Example:
    """What BERT reads where there is no cloze."""
    return task.text(row)


EXCHANGED = "GLM, cloze with the words exchanged"
ARMS = {
    "GLM, cloze": Arm("GLM", by_words, read_by_glm, says_words=True),
    EXCHANGED: Arm("GLM", by_exchanged_words, read_by_glm, says_words=True),
    "GLM, head": Arm("GLM", glm_head, read_by_glm, says_words=False),
    "BERT, cloze": Arm("BERT", by_words, read_by_bert, says_words=True),
    "BERT, head": Arm("BERT", bert_head, plain, says_words=False),
}


def made(folder: str, arm: str, name: str) -> tuple[Any, Callable[[Any], Example], ClozeTask]:
    """An arm for a task: its classifier, in evaluation mode, what it reads of a row, and the task."""
    how, task = ARMS[arm], TASKS[name]
    return how.classifier(pretrained(folder, how.pretrained), task).eval(), partial(how.example, task), task


def run(folder: str, arm: str, name: str, labels: int, lr: float, seed: int) -> dict[str, float | int]:
    """What a run has reached: what the task's exam tells, ``score`` among it, that on the ``development`` rows, and the
    ``updates`` of its best weights; 0 where no others are better than those that it began with."""
    torch.manual_seed(seed)
    model, read, task = made(folder, arm, name)
    before = {**examined(model, read, task), "development": accuracy(model, read, task.development(seed)),
              "updates": 0}
    try:
        history = fit_rows(model, [read(row) for row in task.training_rows(seed)[:labels]], seed, lr=lr, steps=STEPS,
                           score=lambda tuned: accuracy(tuned, read, task.development(seed)), patience=PATIENCE,
                           show=False)
    except Diverged:
        return before
    assert history.best is not None
    updates, best = history.best
    if best <= before["development"]:
        return before
    return {**examined(model.eval(), read, task), "development": best, "updates": updates}


def frozen(folder: str, arm: str, name: str, labels: int, seed: int) -> dict[str, float]:
    """What a ridge regression reaches on the vectors that a head stands on, as they were pretrained: what the task's
    exam tells, that on the ``development`` rows, and the ``strength`` that is best on these (of equals the least)."""
    from sklearn.linear_model import RidgeClassifier

    torch.manual_seed(seed)
    model, read, task = made(folder, arm, name)
    model.output = nn.Identity()

    @torch.no_grad()
    def vectors(rows: Sequence[Any]) -> tuple[Any, Any]:
        batch = batch_of(read, rows)
        return model(batch).double().numpy(), batch.labels["class"].numpy()

    known, chosen = vectors(task.training_rows(seed)[:labels]), vectors(task.development(seed))
    fitted = {strength: RidgeClassifier(strength).fit(*known) for strength in STRENGTHS}
    scores = {strength: float(ridge.score(*chosen)) for strength, ridge in fitted.items()}
    best = max(scores, key=scores.__getitem__)
    return {**{test_set: float(fitted[best].score(*vectors(rows))) for test_set, rows in task.test_set().items()},
            "development": scores[best], "strength": best}


def arms_for(labels: int) -> list[str]:
    """The arms that learn from so many labels: exchanged words with the fewest alone."""
    return [arm for arm in ARMS if arm != EXCHANGED or labels == LABELS[0]]


def untaught(folder: str, arm: str, name: str) -> dict[str, float]:
    """What the task's exam tells of an arm that has learned from no label."""
    return examined(*made(folder, arm, name))


def compared(runs: Mapping[str, Any], one: str, other: str) -> str:
    """Where an arm stands against another: "above", "below" or "not apart"."""
    first, second = runs[one]["score"], runs[other]["score"]
    return "above" if separated(first, second, MARGIN) else "below" if separated(second, first, MARGIN) else "not apart"


def verdicts(of: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What was written before the runs, for one task: labels → arm → what `run` tells, with spread."""
    few, many = of[str(LABELS[0])], of[str(LABELS[-1])]
    claimed = {"above": "holds", "below": "fails", "not apart": "does not show"}
    gone = {"above": "fails", "below": "turns round", "not apart": "holds"}
    told: dict[str, Any] = {"meaning": claimed[compared(few, "GLM, cloze", EXCHANGED)]}
    for model in ("GLM", "BERT"):
        arms = f"{model}, cloze", f"{model}, head"
        at_few = compared(few, *arms)
        told[model] = {"cloze at few labels": claimed[at_few],
                       "advantage goes": gone[compared(many, *arms)] if at_few == "above" else "none to go"}
    told["GLM against BERT"] = {output: {labels: compared(runs, f"GLM, {output}", f"BERT, {output}")
                                         for labels, runs in of.items()} for output in ("cloze", "head")}
    return told


def measure(parts: Parts) -> dict[str, Any]:
    """``tasks``: task → labels → arm → ``lr``, the ``rates`` tried with their development scores, and what `run` tells,
    with spread; ``frozen``: the same of `frozen`, for each arm with a head; ``zero``: task → arm → what is reached
    without a label; ``majority``: what one class gives; ``verdicts``: task → `verdicts`; and ``BERT``: how it was
    pretrained."""
    folder = str(parts.folder)
    bert = english_bert.measure(parts)
    runs = tuned_by_all_seeds(parts, run, {(folder, arm, task, labels): RATES for task in TASKS for labels in LABELS
                                           for arm in arms_for(labels)}, SEEDS)
    tasks = {task: {str(labels): {arm: runs[folder, arm, task, labels] for arm in arms_for(labels)}
                    for labels in LABELS} for task in TASKS}
    heads = [arm for arm, how in ARMS.items() if not how.says_words]
    still = parts(frozen, [(folder, arm, task, labels, seed) for arm in heads for task in TASKS for labels in LABELS
                           for seed in SEEDS])
    zero = parts(untaught, [(folder, arm, task) for task in TASKS for arm, how in ARMS.items() if how.says_words])
    return {
        "tasks": tasks, "frozen": {task: {str(labels): {arm: seed_statistics({
            seed: still[folder, arm, task, labels, seed] for seed in SEEDS}) for arm in heads} for labels in LABELS}
            for task in TASKS},
        "majority": {task: majority(task) for task in TASKS},
        "zero": {task: {arm: zero[folder, arm, task] for arm, how in ARMS.items() if how.says_words}
                 for task in TASKS},
        "verdicts": {task: verdicts(of) for task, of in tasks.items()}, "BERT": bert,
        "labels": list(LABELS), "steps": STEPS, "patience": PATIENCE}
