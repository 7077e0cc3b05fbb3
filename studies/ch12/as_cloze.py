"""Classification in cloze format, by number of labels: does GLM gain from predicting a class as a word that it knows?

Du et al. (2022, §2.3) verbalize a class as a word at a blank, after Schick and Schütze (2021, PET), so that fine-tuning
adds no parameters; on SuperGLUE (table 1) their GLM scores higher than BERT, which has a new layer. Here the two
changes are separated. The variants are GLM with a verbalizer for each class; with the same words *exchanged*; with a
new linear *head* on the same hidden state, for the same input; BERT with a verbalizer for each class at its [MASK]; and
BERT with a head, on [CLS] of the plain text, or on [MASK] if the text of the task has one. Tasks, words and patterns
are those of `plmlab.chapters.ch12.cloze_tasks`.

The training set is the first 32, 128 or 1,024 rows. Each variant has its own learning rate for each number of rows, the
best of a growing grid by the mean development score over all seeds. Each run uses early stopping on 200 development
rows and keeps the best weights, possibly the initial ones. (The first runs of number agreement showed that those must
be included: 50 updates on 32 labels make the cloze worse than no training.) The 200 rows are more than some runs are
trained on: the results show what is possible with so few training labels, equally for all variants, not what can be
reached without any other labels.

The rules were fixed before the runs. A variant is *above* another if its lowest seed has a test score above the other's
highest by more than `MARGIN`; otherwise they are *not apart*. For each task, for BERT as well as GLM:

- *A cloze beats a head if labels are few*: holds if the cloze is above the head with 32 labels, fails if the head is
  above, otherwise does not show.
- *The advantage vanishes as labels grow*: holds if they are not apart with 1,024 labels, fails if the cloze is still
  above, and ``turns round`` if the head is above; not applicable if the cloze was not above with 32 labels.
- *The meaning of the words matters*, not only the format: holds if GLM's cloze is above the one with exchanged words,
  with 32 labels; fails if it is below, otherwise does not show. Exchanged words do not merely lack the meaning but
  mislead, so the head gives a better estimate of the gain.
- GLM *against BERT* is reported separately for cloze and head, without a claim, because comparing a head on BERT with a
  cloze on GLM mixes two changes.

A *frozen* model was added at a reader's request, so these rules do not apply to it: its hidden states are the features
of a ridge regression, with regularization chosen on the same 200 rows. With 32 labels it has a higher accuracy on
BERT's hidden states than fine-tuning.

For comparison: the zero-shot score of the variants that have a verbalizer for each class, and that of the majority
class. All seeds are evaluated on the same 300 test rows, so the results hold for these rows: an accuracy on 300 rows
has a standard error of up to three points. For number agreement the score on rows with an attractor, a noun of the
other number between subject and verb, is reported too (``attracted``).
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
"""Maximum updates, and early-stopping patience in evaluations."""
RATES = (3e-4, 1e-3, 3e-3)
STRENGTHS = tuple(10.0 ** power for power in range(-2, 5))
"""Regularization strengths of the ridge regression."""
MARGIN = 0.02
"""Minimum difference in score for one to count as above the other."""


class Arm(NamedTuple):
    """A variant: the pretrained model, the classifier built from it for a task, its input for a row, and whether it has
    a verbalizer for each class."""

    pretrained: str
    classifier: Callable[[Any, ClozeTask], nn.Module]
    example: Callable[[ClozeTask, Any], Example]
    says_words: bool


def by_words(model: Any, task: ClozeTask) -> nn.Module:
    """Predict the class by its verbalizer."""
    return ClozeClassifier(model, ids(task.verbalizers))


def by_exchanged_words(model: Any, task: ClozeTask) -> nn.Module:
    """Predict the class by the verbalizer of the other class."""
    return ClozeClassifier(model, ids(task.verbalizers[::-1]))


def glm_head(model: Any, task: ClozeTask) -> nn.Module:
    """A new layer on GLM's hidden state at the blank."""
    return PositionClassifier.from_pretrained(model.encoder)


def bert_head(model: Any, task: ClozeTask) -> nn.Module:
    """A new layer on BERT."""
    return task.head.from_pretrained(model.encoder)


def plain(task: ClozeTask, row: Any) -> Example:
    """BERT's input without the cloze format."""
    return task.text(row)


EXCHANGED = "GLM, cloze, verbalizers exchanged"
ARMS = {
    "GLM, cloze": Arm("GLM", by_words, read_by_glm, says_words=True),
    EXCHANGED: Arm("GLM", by_exchanged_words, read_by_glm, says_words=True),
    "GLM, head": Arm("GLM", glm_head, read_by_glm, says_words=False),
    "BERT, cloze": Arm("BERT", by_words, read_by_bert, says_words=True),
    "BERT, head": Arm("BERT", bert_head, plain, says_words=False),
}


def made(folder: str, arm: str, name: str) -> tuple[Any, Callable[[Any], Example], ClozeTask]:
    """A variant for a task: the classifier, in evaluation mode; the function from a row to its input; and the task."""
    how, task = ARMS[arm], TASKS[name]
    return how.classifier(pretrained(folder, how.pretrained), task).eval(), partial(how.example, task), task


def run(folder: str, arm: str, name: str, labels: int, lr: float, seed: int) -> dict[str, float | int]:
    """The result of a run: the task's test scores, ``score`` among them, the score on the ``development`` rows, and the
    number of ``updates`` at the best weights; 0 if no weights are better than the initial ones."""
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
    """A ridge regression on the hidden states that the head gets, without fine-tuning: the task's test scores, the
    score on the ``development`` rows, and the regularization ``strength`` that is best on these (the smallest of
    equals)."""
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
    """The variants trained with this number of labels; exchanged words are used only with the fewest labels."""
    return [arm for arm in ARMS if arm != EXCHANGED or labels == LABELS[0]]


def untaught(folder: str, arm: str, name: str) -> dict[str, float]:
    """Zero-shot test scores of a variant."""
    return examined(*made(folder, arm, name))


def compared(runs: Mapping[str, Any], one: str, other: str) -> str:
    """A variant compared with another: "above", "below" or "not apart"."""
    first, second = runs[one]["score"], runs[other]["score"]
    return "above" if separated(first, second, MARGIN) else "below" if separated(second, first, MARGIN) else "not apart"


def verdicts(of: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The verdicts by the rules above for one task, given labels → variant → the results of `run`, with spread."""
    few, many = of[str(LABELS[0])], of[str(LABELS[-1])]
    claimed = {"above": "supported", "below": "not supported", "not apart": "no effect"}
    gone = {"above": "not supported", "below": "reversed", "not apart": "supported"}
    told: dict[str, Any] = {"meaning": claimed[compared(few, "GLM, cloze", EXCHANGED)]}
    for model in ("GLM", "BERT"):
        arms = f"{model}, cloze", f"{model}, head"
        at_few = compared(few, *arms)
        told[model] = {"cloze at few labels": claimed[at_few],
                       "advantage disappears": gone[compared(many, *arms)] if at_few == "above" else "–"}
    told["GLM against BERT"] = {output: {labels: compared(runs, f"GLM, {output}", f"BERT, {output}")
                                         for labels, runs in of.items()} for output in ("cloze", "head")}
    return told


def measure(parts: Parts) -> dict[str, Any]:
    """``tasks``: task → labels → variant → ``lr``, the ``rates`` tried with their development scores, and the results
    of `run`, with spread; ``frozen``: the same for `frozen`, for each variant with a head; ``zero``: task → variant →
    its zero-shot scores; ``majority``: the accuracy of the majority class; ``verdicts``: task → `verdicts`; and
    ``BERT``: how it was pretrained."""
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
