"""Fine-tuning on the four kinds of task of BERT (Devlin et al. 2019, fig. 4), each as a task in the Small World.

The training rows are taken from what the world's training text states. The test sets contain sentences that occur in no
training text, names that it never mentions, and facts that it never states. Other encoders with these task heads, such
as XLNet and MPNet, are fine-tuned on the same tasks in their own input format.
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
"""Maximum number of labelled training rows."""
DEVELOPMENT, EVERY = 200, 50
"""Number of development rows for choosing weights and learning rates, and of updates between evaluations."""
KINDS = ("person", "town", "country", "river", "film", "book", "cafe", "company")
TAGS = ("O", *(f"{part}-{kind}" for kind in KINDS for part in "BI"))
BATCH = 32


@dataclass(frozen=True)
class Task:
    """A labelled fine-tuning task.

    ``rows(split, seed)`` yields labelled rows. ``example(row)`` converts a row to BERT's input, and
    ``example(row, layout)`` to the input of another encoder. ``head`` is the class of the task head, with ``labels``
    outputs. ``test_set`` is the test split, ``development`` the split for choosing the best weights.
    ``score(model, rows)`` returns a score from 0 to 1.
    """

    name: str
    head: type[TaskHead]
    labels: int
    test_set: str
    development: str
    rows: Callable[[str, int], Any]
    example: Callable[..., Example]
    score: Callable[[TaskHead, Sequence[Any]], float]


def batch_of(example: Callable[[Any], Example], rows: Sequence[Any]) -> Batch:
    """Convert rows to one padded batch."""
    return Batch.of([example(row) for row in rows], pad=world_tokenizer().vocab.need("pad"))


def acceptability_example(row: Any, layout: Layout = cls_first) -> Example:
    """Acceptability: a sentence, with class 1 if it is acceptable and 0 otherwise."""
    return sequence_classification(ids(row.words), int(row.right), vocab=world_tokenizer().vocab, layout=layout)


def paraphrase_example(row: Any, layout: Layout = cls_first) -> Example:
    """Paraphrase: a pair of sentences, with class 1 if they have the same meaning and 0 otherwise."""
    return sequence_classification(ids(row.first), int(row.same), pair=ids(row.second), vocab=world_tokenizer().vocab,
                                   layout=layout)


def named_example(row: Any, layout: Layout = cls_first) -> Example:
    """NER: a sentence with one BIO tag per word, as an index into ``TAGS``."""
    return token_classification(ids(row.words), [TAGS.index(tag) for tag in row.bio], vocab=world_tokenizer().vocab,
                                layout=layout)


def extractive_qa_example(row: Any, layout: Layout = cls_first) -> Example:
    """Extractive QA: a question and a text; the labels are the start and end positions of the answer."""
    return span_qa(ids(row.question), ids(row.text), row.start, row.end, vocab=world_tokenizer().vocab, layout=layout)


def read_by(model: nn.Module, example: Callable[..., Example]) -> Callable[[Any], Example]:
    """The task's ``example`` function with the input format of the model."""
    return partial(example, layout=architecture_of(model).example)


@torch.no_grad()
def accuracy(model: nn.Module, read: Callable[[Any], Example], rows: Sequence[Any]) -> float:
    """Accuracy of a classifier on the rows, from 0 to 1; ``read`` converts a row to the classifier's input."""
    batch = batch_of(read, rows)
    return _mean(model(batch).argmax(-1) == batch.labels["class"])


def accuracy_score(example: Callable[..., Example]) -> Callable[[TaskHead, Sequence[Any]], float]:
    """Make the score function of a classifier, (model, rows) → accuracy, with inputs in the model's own format."""
    return lambda model, rows: accuracy(model, read_by(model, example), rows)


def name_f1(model: TaskHead, rows: Sequence[Any]) -> float:
    """The score of a token classifier on NER: entity-level F1, for which type and both boundaries have to be
    correct."""
    batch = batch_of(read_by(model, named_example), rows)
    predicted = [[TAGS[tag] for tag, gold in zip(*pair, strict=True) if gold != IGNORE]
                 for pair in zip(model(batch).argmax(-1).tolist(), batch.labels["tags"].tolist(), strict=True)]
    return entity_f1(predicted, [list(row.bio) for row in rows])


def exact_match(model: TaskHead, rows: Sequence[Any]) -> float:
    """The score of a span classifier: exact match, the fraction of rows for which start and end are both correct."""
    assert isinstance(model, SpanClassifier)
    batch = batch_of(read_by(model, extractive_qa_example), rows)
    return _mean((model.best(batch) == torch.stack([batch.labels["start"], batch.labels["end"]], 1)).all(1))


def _mean(correct: Tensor) -> float:
    return float(correct.float().mean())


def _of(task: Callable[..., Any]) -> Callable[[str, int], Any]:
    return lambda split, seed: task(world.full(), split, seed)


TASKS = {task.name: task for task in (
    Task("acceptability", SentenceClassifier, 2, "test", "test", _of(acceptability), acceptability_example,
         accuracy_score(acceptability_example)),
    Task("paraphrase", SentenceClassifier, 2, "facts", "facts", _of(paraphrase), paraphrase_example,
         accuracy_score(paraphrase_example)),
    Task("NER", TokenClassifier, len(TAGS), "entities", "entities",
         lambda split, seed: world.full().sentences(split, seed), named_example, name_f1),
    Task("extractive QA", SpanClassifier, 2, "facts", "train", _of(extractive_qa), extractive_qa_example,
         exact_match),
)}


@cache
def training_rows(name: str, seed: int) -> list[Any]:
    """The training rows of a task, at most 1,024; runs with fewer labels use only the first rows."""
    return list(islice(TASKS[name].rows("train", seed), MOST))


@cache
def test_set(name: str) -> list[Any]:
    """The test set of a task: at most the first 300 rows of the task's test split."""
    return list(islice(TASKS[name].rows(TASKS[name].test_set, 77), TEST_SIZE))


@cache
def development(name: str, seed: int) -> list[Any]:
    """The 200 development rows for choosing weights and learning rates; none of them is a training or test row.

    They are taken from the same split as the test set; for extractive QA, whose test set uses its whole split, from the
    training split.
    """
    task = TASKS[name]
    known = {_tokens(task, row) for row in [*training_rows(name, seed), *test_set(name)]}
    rows = (row for row in task.rows(task.development, seed) if _tokens(task, row) not in known)
    return list(islice(rows, DEVELOPMENT))


def majority(name: str) -> float:
    """Test-set accuracy of always predicting the more frequent class of the training rows."""
    train_labels, test_labels = ([int(TASKS[name].example(row).labels["class"]) for row in rows]
                                 for rows in (training_rows(name, 0), test_set(name)))
    [(majority_class, _)] = Counter(train_labels).most_common(1)
    return test_labels.count(majority_class) / len(test_labels)


def _tokens(task: Task, row: Any) -> tuple[int, ...]:
    return tuple(task.example(row).tokens.tolist())


def fit_rows(model: nn.Module, examples: Sequence[Example], seed: int, *, steps: int, **options: Any) -> History:
    """Train a model on labelled examples, sampled with replacement, 32 per update.

    ``options`` are passed to `fit`; if they include ``score``, the model is evaluated every 50 updates.
    """
    def draw(rng: Random) -> list[Example]:
        return [examples[randint(rng, len(examples))] for _ in range(BATCH)]

    if "score" in options:
        options["evaluate_every"] = EVERY
    return fit(model, ExampleBatches(draw, seed, world_tokenizer().vocab.need("pad")), steps=steps, warmup=steps // 10,
               **options)


def fine_tune(bert: BERT, name: str, count: int, seed: int, *, lr: float, steps: int, features: bool = False,
              patience: int | None = None, **options: Any) -> tuple[TaskHead, History]:
    """Fine-tune a copy of ``bert``, or of another encoder with task heads, on the first ``count`` training rows.

    ``name`` is the task. Each update uses 32 rows. ``options`` are passed to `fit`. ``features``: freeze the pretrained
    weights and cache the encoder's outputs. Only the head is trained and, if the encoder has a module ``top``, that
    module, whose input is the output of the method named by the encoder's ``features``. ``patience``: evaluate on the
    `development` rows every 50 updates, stop after this number of evaluations without improvement, and restore the best
    weights. Without it, training runs for all ``steps`` and keeps the last weights.
    """
    task = TASKS[name]
    torch.manual_seed(seed)
    model = task.head.from_pretrained(bert, task.labels)
    examples = [*map(read_by(model, task.example), training_rows(name, seed)[:count])]
    if patience is not None:
        options |= {"score": lambda model: task.score(model, development(name, seed)), "patience": patience}
    pretrained = [module for child, module in model.encoder.named_children() if child != "top"]
    with ExitStack() as stack:
        if features:
            stack.enter_context(frozen(*pretrained))
            method = getattr(bert, "features", "forward")
            stack.enter_context(cached_features(model.encoder, method))
            for i in range(0, len(examples), BATCH):
                getattr(model.encoder, method)(Batch.of(examples[i:i + BATCH], pad=world_tokenizer().vocab.need("pad")))
        history = fit_rows(model, examples, seed, lr=lr, steps=steps, **options)
    return model, history


@torch.no_grad()
def score(model: TaskHead, name: str) -> float:
    """The model's score on the test set of the task ``name``, from 0 to 1."""
    return TASKS[name].score(model, test_set(name))


def run_result(bert: BERT, name: str, count: int, seed: int, **options: Any) -> dict[str, float | int]:
    """Fine-tune with early stopping (`fine_tune`) and return the results: ``score`` (test set), ``development``
    (development rows) and ``updates`` (at the best weights); all 0 if training diverges. ``options`` are passed on."""
    try:
        model, history = fine_tune(bert, name, count, seed, show=False, **options)
    except Diverged:
        return {"score": 0.0, "development": 0.0, "updates": 0}
    assert history.best is not None
    updates, best = history.best
    return {"score": score(model, name), "development": best, "updates": updates}
