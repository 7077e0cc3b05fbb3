"""Three binary classification tasks in cloze format: a pattern with one blank, and a verbalizer for each class.

- *number*: a sentence whose verb, "is" or "are", is replaced by a blank. These two words are the verbalizers, so the
  task is the same as in pretraining. No text of the test set is among the training or development rows.
- *one sentence* (acceptability): the sentence followed by a blank, "the lamps is wet ? [MASK] .", with "no" or "yes".
- *a pair* (paraphrase): "the lamps are wet ? [MASK] , the lamps are dry .", with "no" or "yes". This is PET's pattern
  for entailment (Schick and Schütze 2021). Its bar between the two texts, before the blank, becomes [SEP] for BERT and
  is omitted for GLM, as in the pretraining of each.

The last two are tasks of `plmlab.transfer`. Their patterns have a question mark instead of the full stop, as in PET. In
the texts of the world, too, "yes" and "no" occur only after questions.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

import torch

from plmlab import transfer, world
from plmlab.chapters.ch12.cloze_classifiers import PositionClassifier
from plmlab.example import IGNORE, Example
from plmlab.models.task_heads import SentenceClassifier
from plmlab.objectives import sequence_classification
from plmlab.objectives.blanks import infilled
from plmlab.transfer import DEVELOPMENT, MOST, TEST_SIZE
from plmlab.world.datasets.tasks import AUXILIARIES, Words
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

VERBS = AUXILIARIES[0]
"""The verbs of *number*: class 0 and class 1."""


class Agreeing(NamedTuple):
    """A sentence without its verb "is" or "are": the words ``before`` the verb and after it (``behind``), whether the
    verb is "are" (``plural``), and the number of intervening nouns of the other number (``attractors``)."""

    before: Words
    behind: Words
    plural: bool
    attractors: int


def agreeing(split: str, seed: int) -> Iterator[Agreeing]:
    """Infinite stream of sentences whose first verb that agrees with a noun is "is" or "are". They come from open
    patterns only, so that "train" and "test" have no sentence in common."""
    whole = world.full()
    for sentence in whole.sentences(split, seed):
        for link in sentence.agreement[:1] if sentence.pattern in whole.open_patterns else ():
            words, verb = sentence.words, link.verb
            if words[verb] in VERBS:
                yield Agreeing(words[:verb], words[verb + 1:], words[verb] == VERBS[1], link.attractors)


def unlike(rows: Iterable[Agreeing], known: Iterable[Agreeing] = ()) -> Iterator[Agreeing]:
    """Keep the rows whose text, without its verb, equals that of no known row and of no earlier row."""
    seen = {(row.before, row.behind) for row in known}
    for row in rows:
        if (text := (row.before, row.behind)) not in seen:
            seen.add(text)
            yield row


@cache
def test_set() -> list[Agreeing]:
    """Test rows of *number*."""
    return list(islice(unlike(agreeing("test", 77)), TEST_SIZE))


@cache
def training_rows(seed: int) -> list[Agreeing]:
    """Training rows of *number*. For fewer labels, use a prefix of them."""
    return list(islice(unlike(agreeing("train", seed), test_set()), MOST))


@cache
def development(seed: int) -> list[Agreeing]:
    """Development rows of *number*, for selecting the best weights and learning rates."""
    return list(islice(unlike(agreeing("test", seed), [*test_set(), *training_rows(seed)]), DEVELOPMENT))


def exam_of_number() -> dict[str, list[Agreeing]]:
    """The test set of *number*; and, as "attracted", those of its rows with an attractor between noun and verb."""
    return {"score": test_set(), "attracted": [row for row in test_set() if row.attractors]}


class ClozeTask(NamedTuple):
    """A binary classification task. ``verbalizers`` holds one word per class. For a row, ``pattern`` returns the ids of
    one or two texts with one [MASK], and ``kind`` the class. ``training_rows(seed)`` and ``development(seed)`` return
    rows; ``test_set()`` maps names to test rows. ``head`` is the output layer for BERT without the cloze format, and
    ``text(row)`` the corresponding input."""

    verbalizers: tuple[str, str]
    pattern: Callable[[Any], tuple[list[int], list[int]]]
    kind: Callable[[Any], int]
    training_rows: Callable[[int], Sequence[Any]]
    development: Callable[[int], Sequence[Any]]
    test_set: Callable[[], Mapping[str, Sequence[Any]]]
    head: type[SentenceClassifier]
    text: Callable[[Any], Example]


def verb_left_out(row: Agreeing) -> tuple[list[int], list[int]]:
    """The sentence with a blank instead of the verb."""
    return [*ids(row.before), world_tokenizer().vocab.need("mask"), *ids(row.behind)], []


def blank_behind_question(row: Any) -> tuple[list[int], list[int]]:
    """A sentence with a question mark instead of its full stop, then a blank and a full stop."""
    return [*ids([*row.words[:-1], "?"]), world_tokenizer().vocab.need("mask"), *ids(["."])], []


def blank_between(row: Any) -> tuple[list[int], list[int]]:
    """A sentence with a question mark instead of its full stop, then a blank, a comma and the other sentence."""
    return ids([*row.first[:-1], "?"]), [world_tokenizer().vocab.need("mask"), *ids([",", *row.second])]


def read_by_glm(task: ClozeTask, row: Any) -> Example:
    """GLM's input for a row: the pattern, followed by [START] of its blank. The label ``position`` is the position of
    this [START]; the label ``class`` is the class."""
    first, second = task.pattern(row)
    example = infilled([*first, *second], [[]], [0], world_tokenizer().vocab)
    return replace(example, targets=torch.full_like(example.targets, IGNORE), labels={
        "class": torch.tensor(task.kind(row)), "position": torch.tensor(len(example.tokens) - 1)})


def read_by_bert(task: ClozeTask, row: Any) -> Example:
    """BERT's input for a row: the pattern. The label ``position`` is the position of its [MASK]; the label ``class`` is
    the class."""
    vocab, (first, second) = world_tokenizer().vocab, task.pattern(row)
    example = sequence_classification(first, task.kind(row), pair=second, vocab=vocab)
    position = example.tokens.tolist().index(vocab.need("mask"))
    return replace(example, labels=example.labels | {"position": torch.tensor(position)})


def of_transfer(name: str, pattern: Callable[[Any], tuple[list[int], list[int]]]) -> ClozeTask:
    """A task of `plmlab.transfer` in cloze format; class 1 is "yes"."""
    known = transfer.TASKS[name]
    return ClozeTask(("no", "yes"), pattern, lambda row: int(known.example(row).labels["class"]),
                     lambda seed: transfer.training_rows(name, seed), lambda seed: transfer.development(name, seed),
                     lambda: {"score": transfer.test_set(name)}, SentenceClassifier, known.example)


TASKS: dict[str, ClozeTask] = {
    "number agreement": ClozeTask(VERBS, verb_left_out, lambda row: int(row.plural), training_rows, development,
                                  exam_of_number, PositionClassifier,
                                  lambda row: read_by_bert(TASKS["number agreement"], row)),
    "acceptability": of_transfer("acceptability", blank_behind_question),
    "paraphrase": of_transfer("paraphrase", blank_between),
}


def majority(name: str) -> float:
    """Test accuracy of always predicting the majority class of the training rows."""
    task = TASKS[name]
    [(commoner, _)] = Counter(map(task.kind, task.training_rows(0))).most_common(1)
    rows = task.test_set()["score"]
    return sum(task.kind(row) == commoner for row in rows) / len(rows)
