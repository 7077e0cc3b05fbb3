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
from plmlab.draws import randint
from plmlab.example import IGNORE, Batch, Example
from plmlab.features import cached_features
from plmlab.metrics import entity_f1
from plmlab.models.bert import BERT
from plmlab.models.registry import architecture_of
from plmlab.models.task_heads import SentenceClassifier, SpanClassifier, TaskHead, TokenClassifier
from plmlab.objectives import cls_first, sequence_classification, span_qa, token_classification
from plmlab.objectives.layouts import Layout
from plmlab.train import Diverged, History, fit, frozen
from plmlab.world.datasets.tasks import acceptability, extractive_qa, paraphrase
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

TEST_SIZE = 300
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
    ``score(model, rows)`` is from 0 to 1, on rows of the split ``test_set``; ``development`` is the split by which the
    best weights are chosen."""

    name: str
    head: type[TaskHead]
    labels: int
    test_set: str
    development: str
    rows: Callable[[str, int], Any]
    example: Callable[..., Example]
    score: Callable[[TaskHead, Sequence[Any]], float]


def batch_of(example: Callable[[Any], Example], rows: Sequence[Any]) -> Batch:
    """The examples of some rows as one padded batch."""
    return Batch.of([example(row) for row in rows], pad=world_tokenizer().vocab.need("pad"))


def acceptability_example(row: Any, layout: Layout = cls_first) -> Example:
    """One sentence with its class: 1 if it is right, 0 if not."""
    return sequence_classification(ids(row.words), int(row.right), vocab=world_tokenizer().vocab, layout=layout)


def paraphrase_example(row: Any, layout: Layout = cls_first) -> Example:
    """A pair of sentences with its class: 1 if both tell the same, 0 if not."""
    return sequence_classification(ids(row.first), int(row.same), pair=ids(row.second), vocab=world_tokenizer().vocab,
                                   layout=layout)


def named_example(row: Any, layout: Layout = cls_first) -> Example:
    """A sentence with a tag for each word, an index into ``TAGS``: whose name the word is part of."""
    return token_classification(ids(row.words), [TAGS.index(tag) for tag in row.bio], vocab=world_tokenizer().vocab,
                                layout=layout)


def extractive_qa_example(row: Any, layout: Layout = cls_first) -> Example:
    """A question and a text; the labels are the positions where the answer starts and ends."""
    return span_qa(ids(row.question), ids(row.text), row.start, row.end, vocab=world_tokenizer().vocab, layout=layout)


def read_by(model: nn.Module, example: Callable[..., Example]) -> Callable[[Any], Example]:
    """A task's ``example``, in the layout in which the model reads a text."""
    return partial(example, layout=architecture_of(model).example)


@torch.no_grad()
def accuracy(model: nn.Module, read: Callable[[Any], Example], rows: Sequence[Any]) -> float:
    """The share of rows that a classifier gives their class; ``read`` makes of a row what it reads."""
    batch = batch_of(read, rows)
    return _mean(model(batch).argmax(-1) == batch.labels["class"])


def accuracy_score(example: Callable[..., Example]) -> Callable[[TaskHead, Sequence[Any]], float]:
    """The score of a classifier, as a function of a model and rows: `accuracy` in the model's own layout."""
    return lambda model, rows: accuracy(model, read_by(model, example), rows)


def name_f1(model: TaskHead, rows: Sequence[Any]) -> float:
    """The score of a tagger of names: F1 over whole names, where right means kind and both ends; from 0 to 1."""
    batch = batch_of(read_by(model, named_example), rows)
    said = [[TAGS[tag] for tag, gold in zip(*pair, strict=True) if gold != IGNORE]
            for pair in zip(model(batch).argmax(-1).tolist(), batch.labels["tags"].tolist(), strict=True)]
    return entity_f1(said, [list(row.bio) for row in rows])


def exact_match(model: TaskHead, rows: Sequence[Any]) -> float:
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
         accuracy_score(acceptability_example)),
    Task("a pair", SentenceClassifier, 2, "facts", "facts", _of(paraphrase), paraphrase_example,
         accuracy_score(paraphrase_example)),
    Task("names", TokenClassifier, len(TAGS), "entities", "entities",
         lambda split, seed: world.full().sentences(split, seed), named_example, name_f1),
    Task("an answer", SpanClassifier, 2, "facts", "train", _of(extractive_qa), extractive_qa_example,
         exact_match),
)}


@cache
def training_rows(name: str, seed: int) -> list[Any]:
    """The rows of a task to learn from, 1,024 at most; where fewer labels are wanted, the first so many of them."""
    return list(islice(TASKS[name].rows("train", seed), MOST))


@cache
def test_set(name: str) -> list[Any]:
    """The rows that a task is judged by: 300 of its split ``test_set``, or all that there are."""
    return list(islice(TASKS[name].rows(TASKS[name].test_set, 77), TEST_SIZE))


@cache
def development(name: str, seed: int) -> list[Any]:
    """200 rows to choose the best weights and learning rates by: like those of the exam, but none of them (of answers,
    where the exam takes all that there are: from the training text), and none of the rows to learn from."""
    task = TASKS[name]
    known = {_read(task, row) for row in [*training_rows(name, seed), *test_set(name)]}
    rows = (row for row in task.rows(task.development, seed) if _read(task, row) not in known)
    return list(islice(rows, DEVELOPMENT))


def majority(name: str) -> float:
    """The score in the exam of a classification of always saying the class that is commoner among the labels to learn
    from."""
    learned, asked = ([int(TASKS[name].example(row).labels["class"]) for row in rows]
                      for rows in (training_rows(name, 0), test_set(name)))
    [(commoner, _)] = Counter(learned).most_common(1)
    return asked.count(commoner) / len(asked)


def _read(task: Task, row: Any) -> tuple[int, ...]:
    return tuple(task.example(row).tokens.tolist())


def fit_rows(model: nn.Module, examples: Sequence[Example], seed: int, *, steps: int, **options: Any) -> History:
    """Train a model on labelled examples, 32 of them an update, drawn with replacement.

    With a ``score`` and ``patience`` among the ``options``, which go to `fit`, it is scored every 50 updates.
    """
    def draw(rng: Random) -> list[Example]:
        return [examples[randint(rng, len(examples))] for _ in range(BATCH)]

    if "score" in options:
        options["evaluate_every"] = EVERY
    return fit(model, ExampleBatches(draw, seed, world_tokenizer().vocab.need("pad")), steps=steps, warmup=steps // 10,
               **options)


def fine_tune(bert: BERT, name: str, count: int, seed: int, *, lr: float, steps: int, features: bool = False,
         patience: int | None = None, **options: Any) -> tuple[TaskHead, History]:
    """A copy of ``encoder``, or of another encoder that has task heads, with that of the task, trained on the first
    ``count`` labelled rows, 32 of them an update.

    ``features``: what was pretrained is frozen, and what it makes of a text is kept; the head is trained, and what the
    encoder calls ``top``, if it has one, which stands on what its method named ``features`` gives.
    ``patience``: every 50 updates the score on the rows of `development` is measured; after so many without a better
    one training stops, and the best weights are kept. Without it, all ``steps`` are made, and the last weights are
    kept. ``options`` go to `fit`.
    """
    task = TASKS[name]
    torch.manual_seed(seed)
    model = task.head.from_pretrained(bert, task.labels)
    examples = [*map(read_by(model, task.example), training_rows(name, seed)[:count])]
    if patience is not None:
        options |= {"score": lambda tuned: task.score(tuned, development(name, seed)), "patience": patience}
    pretrained = [part for place, part in model.encoder.named_children() if place != "top"]
    with ExitStack() as held:
        if features:
            held.enter_context(frozen(*pretrained))
            read = getattr(bert, "features", "forward")
            held.enter_context(cached_features(model.encoder, read))
            for i in range(0, len(examples), BATCH):
                getattr(model.encoder, read)(Batch.of(examples[i:i + BATCH], pad=world_tokenizer().vocab.need("pad")))
        history = fit_rows(model, examples, seed, lr=lr, steps=steps, **options)
    return model, history


@torch.no_grad()
def score(model: TaskHead, name: str) -> float:
    """The model's score in the exam of the task ``name``, from 0 to 1."""
    return TASKS[name].score(model, test_set(name))


def run_result(bert: BERT, name: str, count: int, seed: int, **options: Any) -> dict[str, float | int]:
    """A run of `fine_tune` with patience, told by numbers: its ``score`` in the exam, that on the ``development`` rows,
    and the ``updates`` of its best weights; all 0 where it diverges. ``options`` are those of `fine_tune`."""
    try:
        made, history = fine_tune(bert, name, count, seed, show=False, **options)
    except Diverged:
        return {"score": 0.0, "development": 0.0, "updates": 0}
    assert history.best is not None
    updates, best = history.best
    return {"score": score(made, name), "development": best, "updates": updates}
