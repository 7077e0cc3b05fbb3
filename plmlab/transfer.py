"""The four uses of BERT (Devlin et al. 2019, fig. 4), each as a task of the Small World with its head and score.

Trained on what the world's training text tells; judged on sentences that stand in no training text, on names that it
never mentions, and on facts that it never tells. Another encoder that has such heads, XLNet or MPNet, is put to the
same uses, and reads each text in its own layout.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from random import Random
from typing import Any

import torch
from torch import Tensor, nn

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.draws import below
from plmlab.example import IGNORE, Batch, Example
from plmlab.features import remembered
from plmlab.metrics import entity_f1
from plmlab.models.bert import BERT
from plmlab.models.registry import architecture_of
from plmlab.models.task_heads import SentenceClassifier, SpanClassifier, TaskHead, TokenClassifier
from plmlab.objectives import answered, classified, cls_first, tagged
from plmlab.objectives.layouts import Layout
from plmlab.train import Diverged, History, fit, frozen
from plmlab.world.datasets.tasks import acceptability, extractive_qa, paraphrase
from plmlab.world.datasets.tokenizer import ids, spelling

EXAM = 300
MOST = 1024
"""So many labelled rows there are at most."""
DEVELOPMENT, EVERY = 200, 50
"""By so many rows the best weights and learning rates are chosen, every so many updates."""
KINDS = ("person", "town", "country", "river", "film", "book", "cafe", "company")
TAGS = ("O", *(f"{part}-{kind}" for kind in KINDS for part in "BI"))
BATCH = 32


@dataclass(frozen=True)
class Task:
    """A labelled task. ``rows(split, seed)`` yields labelled rows, ``example(row)`` is what BERT reads of one, and
    ``example(row, layout)`` what another encoder does; ``head`` is what kind goes on top, with so many ``labels``;
    ``score(model, rows)`` is from 0 to 1, on rows of the split ``exam``; ``development`` is the split by which the
    best weights are chosen."""

    name: str
    head: type[TaskHead]
    labels: int
    exam: str
    development: str
    rows: Callable[[str, int], Any]
    example: Callable[..., Example]
    score: Callable[[TaskHead, Sequence[Any]], float]


def batch_of(example: Callable[[Any], Example], rows: Sequence[Any]) -> Batch:
    """The examples of some rows as one padded batch."""
    return Batch.of([example(row) for row in rows], pad=spelling().vocab.need("pad"))


def acceptability_example(row: Any, layout: Layout = cls_first) -> Example:
    """One sentence with its class: 1 if it is right, 0 if not."""
    return classified(ids(row.words), int(row.right), vocab=spelling().vocab, layout=layout)


def paraphrase_example(row: Any, layout: Layout = cls_first) -> Example:
    """A pair of sentences with its class: 1 if both tell the same, 0 if not."""
    return classified(ids(row.first), int(row.same), pair=ids(row.second), vocab=spelling().vocab, layout=layout)


def named_example(row: Any, layout: Layout = cls_first) -> Example:
    """A sentence with a tag for each word, an index into ``TAGS``: whose name the word is part of."""
    return tagged(ids(row.words), [TAGS.index(tag) for tag in row.bio], vocab=spelling().vocab, layout=layout)


def extractive_qa_example(row: Any, layout: Layout = cls_first) -> Example:
    """A question and a text; the labels are the slots where the answer starts and ends."""
    return answered(ids(row.question), ids(row.text), row.start, row.end, vocab=spelling().vocab, layout=layout)


def read_by(model: nn.Module, example: Callable[..., Example]) -> Callable[[Any], Example]:
    """A task's ``example``, in the layout in which the model reads a text."""
    return partial(example, layout=architecture_of(model).example)


@torch.no_grad()
def share_right(model: nn.Module, read: Callable[[Any], Example], rows: Sequence[Any]) -> float:
    """The share of rows that a classifier gives their class; ``read`` makes of a row what it reads."""
    batch = batch_of(read, rows)
    return _mean(model(batch).argmax(-1) == batch.labels["class"])


def classes_found(example: Callable[..., Example]) -> Callable[[TaskHead, Sequence[Any]], float]:
    """The score of a classifier, as a function of a model and rows: `share_right` in the model's own layout."""
    return lambda model, rows: share_right(model, read_by(model, example), rows)


def names_found(model: TaskHead, rows: Sequence[Any]) -> float:
    """The score of a tagger of names: F1 over whole names, where right means kind and both ends; from 0 to 1."""
    batch = batch_of(read_by(model, named_example), rows)
    said = [[TAGS[tag] for tag, gold in zip(*pair, strict=True) if gold != IGNORE]
            for pair in zip(model(batch).argmax(-1).tolist(), batch.labels["tags"].tolist(), strict=True)]
    return entity_f1(said, [list(row.bio) for row in rows])


def answers_found(model: TaskHead, rows: Sequence[Any]) -> float:
    """The score of a span classifier: the share of rows whose answer was found, both ends."""
    assert isinstance(model, SpanClassifier)
    batch = batch_of(read_by(model, extractive_qa_example), rows)
    return _mean((model.best(batch) == torch.stack([batch.labels["start"], batch.labels["end"]], 1)).all(1))


def _mean(right: Tensor) -> float:
    return float(right.float().mean())


def _of(task: Callable[..., Any]) -> Callable[[str, int], Any]:
    return lambda split, seed: task(world.full(), split, seed)


TASKS = {task.name: task for task in (
    Task("one sentence", SentenceClassifier, 2, "test", "test", _of(acceptability), acceptability_example,
         classes_found(acceptability_example)),
    Task("a pair", SentenceClassifier, 2, "facts", "facts", _of(paraphrase), paraphrase_example,
         classes_found(paraphrase_example)),
    Task("names", TokenClassifier, len(TAGS), "entities", "entities",
         lambda split, seed: world.full().sentences(split, seed), named_example, names_found),
    Task("an answer", SpanClassifier, 2, "facts", "train", _of(extractive_qa), extractive_qa_example,
         answers_found),
)}


@cache
def labelled(name: str, seed: int) -> list[Any]:
    """The rows of a task to learn from, 1,024 at most; where fewer labels are wanted, the first so many of them."""
    return list(islice(TASKS[name].rows("train", seed), MOST))


@cache
def exam(name: str) -> list[Any]:
    """The rows that a task is judged by: 300 of its split ``exam``, or all that there are."""
    return list(islice(TASKS[name].rows(TASKS[name].exam, 77), EXAM))


@cache
def development(name: str, seed: int) -> list[Any]:
    """200 rows to choose the best weights and learning rates by: like those of the exam, but none of them (of answers,
    where the exam takes all that there are: from the training text), and none of the rows to learn from."""
    task = TASKS[name]
    known = {_read(task, row) for row in [*labelled(name, seed), *exam(name)]}
    rows = (row for row in task.rows(task.development, seed) if _read(task, row) not in known)
    return list(islice(rows, DEVELOPMENT))


def majority(name: str) -> float:
    """The score in the exam of a classification of always saying the class that is commoner among the labels to learn
    from."""
    learned, asked = ([int(TASKS[name].example(row).labels["class"]) for row in rows]
                      for rows in (labelled(name, 0), exam(name)))
    [(commoner, _)] = Counter(learned).most_common(1)
    return asked.count(commoner) / len(asked)


def _read(task: Task, row: Any) -> tuple[int, ...]:
    return tuple(task.example(row).tokens.tolist())


def fit_rows(model: nn.Module, examples: Sequence[Example], seed: int, *, steps: int, **options: Any) -> History:
    """Train a model on labelled examples, 32 of them an update, drawn with replacement.

    With a ``score`` and ``patience`` among the ``options``, which go to `fit`, it is scored every 50 updates.
    """
    def draw(rng: Random) -> list[Example]:
        return [examples[below(rng, len(examples))] for _ in range(BATCH)]

    if "score" in options:
        options["evaluate_every"] = EVERY
    return fit(model, ExampleBatches(draw, seed, spelling().vocab.need("pad")), steps=steps, warmup=steps // 10,
               **options)


def tune(bert: BERT, name: str, count: int, seed: int, *, lr: float, steps: int, features: bool = False,
         patience: int | None = None, **options: Any) -> tuple[TaskHead, History]:
    """A copy of ``bert``, or of another encoder that has task heads, with that of the task, trained on the first
    ``count`` labelled rows, 32 of them an update.

    ``features``: what was pretrained is frozen, and what it makes of a text is kept; the head is trained, and what the
    encoder calls ``top``, if it has one, which stands on what its method named ``features`` gives.
    ``patience``: every 50 updates the score on the rows of `development` is measured; after so many without a better
    one training stops, and the best weights are kept. Without it, all ``steps`` are made, and the last weights are
    kept. ``options`` go to `fit`.
    """
    task = TASKS[name]
    torch.manual_seed(seed)
    model = task.head.on(bert, task.labels)
    examples = [*map(read_by(model, task.example), labelled(name, seed)[:count])]
    if patience is not None:
        options |= {"score": lambda tuned: task.score(tuned, development(name, seed)), "patience": patience}
    pretrained = [part for place, part in model.encoder.named_children() if place != "top"]
    with ExitStack() as held:
        if features:
            held.enter_context(frozen(*pretrained))
            read = getattr(bert, "features", "forward")
            held.enter_context(remembered(model.encoder, read))
            for i in range(0, len(examples), BATCH):
                getattr(model.encoder, read)(Batch.of(examples[i:i + BATCH], pad=spelling().vocab.need("pad")))
        history = fit_rows(model, examples, seed, lr=lr, steps=steps, **options)
    return model, history


@torch.no_grad()
def score(model: TaskHead, name: str) -> float:
    """The model's score in the exam of the task ``name``, from 0 to 1."""
    return TASKS[name].score(model, exam(name))


def reached(bert: BERT, name: str, count: int, seed: int, **options: Any) -> dict[str, float | int]:
    """A run of `tune` with patience, told by numbers: its ``score`` in the exam, that on the ``development`` rows, and
    the ``updates`` of its best weights; all 0 where it diverges. ``options`` are those of `tune`."""
    try:
        made, history = tune(bert, name, count, seed, show=False, **options)
    except Diverged:
        return {"score": 0.0, "development": 0.0, "updates": 0}
    assert history.best is not None
    updates, best = history.best
    return {"score": score(made, name), "development": best, "updates": updates}
