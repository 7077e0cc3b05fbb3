"""Three tasks of two classes, each as a cloze: a pattern with one blank, and a word for each class.

- *number*: a sentence whose verb is "is" or "are", with a blank in its place. The words of the classes are these two:
  what is asked is what pretraining asks. No text of the exam is among those to learn from, nor among those by which
  weights are chosen.
- *one sentence*: whether it is right, with a blank behind it: "the lamps is wet ? [MASK] .", "no" or "yes".
- *a pair*: whether two sentences tell the same: "the lamps are wet ? [MASK] , the lamps are dry .", "no" or "yes". This
  is the pattern of PET for entailment (Schick and Schütze 2021), whose bar between the two texts, before the blank, is
  [SEP] to BERT, and to GLM nothing, as in its pretraining.

The last two are those of `plmlab.transfer`. Their patterns have a question mark in the place of the full stop, as
PET's: the world, too, says yes and no behind questions alone.
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
    """A sentence with "is" or "are" left out: the words before it and behind it, whether it is "are", and how many
    nouns of the other number stand between it and its noun."""

    before: Words
    behind: Words
    plural: bool
    attractors: int


def agreeing(split: str, seed: int) -> Iterator[Agreeing]:
    """Sentences whose first verb that agrees with a noun is "is" or "are", without end; of open patterns alone, so that
    "train" and "test" share none."""
    whole = world.full()
    for sentence in whole.sentences(split, seed):
        for link in sentence.agreement[:1] if sentence.pattern in whole.open_patterns else ():
            words, verb = sentence.words, link.verb
            if words[verb] in VERBS:
                yield Agreeing(words[:verb], words[verb + 1:], words[verb] == VERBS[1], link.attractors)


def unlike(rows: Iterable[Agreeing], known: Iterable[Agreeing] = ()) -> Iterator[Agreeing]:
    """The rows whose text, without its verb, is neither that of a known row nor of one before."""
    seen = {(row.before, row.behind) for row in known}
    for row in rows:
        if (text := (row.before, row.behind)) not in seen:
            seen.add(text)
            yield row


@cache
def test_set() -> list[Agreeing]:
    """The rows that *number* is judged by."""
    return list(islice(unlike(agreeing("test", 77)), TEST_SIZE))


@cache
def training_rows(seed: int) -> list[Agreeing]:
    """The rows of *number* to learn from; where fewer labels are wanted, the first so many of them."""
    return list(islice(unlike(agreeing("train", seed), test_set()), MOST))


@cache
def development(seed: int) -> list[Agreeing]:
    """The rows of *number* by which the best weights and learning rates are chosen."""
    return list(islice(unlike(agreeing("test", seed), [*test_set(), *training_rows(seed)]), DEVELOPMENT))


def exam_of_number() -> dict[str, list[Agreeing]]:
    """The exam, and as "attracted" those of its rows in which a noun of the other number stands between."""
    return {"score": test_set(), "attracted": [row for row in test_set() if row.attractors]}


class ClozeTask(NamedTuple):
    """A task of two classes. ``verbalizers``: the word of each. Of a row, ``pattern`` gives the ids of one text, or of
    two, with one [MASK]; ``kind`` the class. ``training_rows(seed)`` and ``development(seed)`` are rows, and
    ``test_set()`` is by what name which rows are judged. ``head`` is what stands on BERT where there is no cloze, and
    ``text(row)`` what it reads then."""

    verbalizers: tuple[str, str]
    pattern: Callable[[Any], tuple[list[int], list[int]]]
    kind: Callable[[Any], int]
    training_rows: Callable[[int], Sequence[Any]]
    development: Callable[[int], Sequence[Any]]
    test_set: Callable[[], Mapping[str, Sequence[Any]]]
    head: type[SentenceClassifier]
    text: Callable[[Any], Example]


def verb_left_out(row: Agreeing) -> tuple[list[int], list[int]]:
    """A blank in the place of the verb."""
    return [*ids(row.before), world_tokenizer().vocab.need("mask"), *ids(row.behind)], []


def blank_behind_question(row: Any) -> tuple[list[int], list[int]]:
    """A sentence with a question mark in the place of its end, a blank, and a full stop."""
    return [*ids([*row.words[:-1], "?"]), world_tokenizer().vocab.need("mask"), *ids(["."])], []


def blank_between(row: Any) -> tuple[list[int], list[int]]:
    """A sentence with a question mark in the place of its end; then a blank, a comma and the other sentence."""
    return ids([*row.first[:-1], "?"]), [world_tokenizer().vocab.need("mask"), *ids([",", *row.second])]


def read_by_glm(task: ClozeTask, row: Any) -> Example:
    """What GLM reads of a row: the pattern, and [START] of its blank, which is the label ``position``; label
    ``class``."""
    first, second = task.pattern(row)
    example = infilled([*first, *second], [[]], [0], world_tokenizer().vocab)
    return replace(example, targets=torch.full_like(example.targets, IGNORE), labels={
        "class": torch.tensor(task.kind(row)), "position": torch.tensor(len(example.tokens) - 1)})


def read_by_bert(task: ClozeTask, row: Any) -> Example:
    """What BERT reads of a row: the pattern, whose [MASK] is the label ``position``; label ``class``."""
    vocab, (first, second) = world_tokenizer().vocab, task.pattern(row)
    example = sequence_classification(first, task.kind(row), pair=second, vocab=vocab)
    position = example.tokens.tolist().index(vocab.need("mask"))
    return replace(example, labels=example.labels | {"position": torch.tensor(position)})


def of_transfer(name: str, pattern: Callable[[Any], tuple[list[int], list[int]]]) -> ClozeTask:
    """A task of `plmlab.transfer` as a cloze; class 1 is "yes"."""
    known = transfer.TASKS[name]
    return ClozeTask(("no", "yes"), pattern, lambda row: int(known.example(row).labels["class"]),
                     lambda seed: transfer.training_rows(name, seed), lambda seed: transfer.development(name, seed),
                     lambda: {"score": transfer.test_set(name)}, SentenceClassifier, known.example)


TASKS: dict[str, ClozeTask] = {
    "number": ClozeTask(VERBS, verb_left_out, lambda row: int(row.plural), training_rows, development, exam_of_number,
                        PositionClassifier, lambda row: read_by_bert(TASKS["number"], row)),
    "one sentence": of_transfer("one sentence", blank_behind_question),
    "a pair": of_transfer("a pair", blank_between),
}


def majority(name: str) -> float:
    """The score in the exam of always saying the class that is commoner among the labels to learn from."""
    task = TASKS[name]
    [(commoner, _)] = Counter(map(task.kind, task.training_rows(0))).most_common(1)
    rows = task.test_set()["score"]
    return sum(task.kind(row) == commoner for row in rows) / len(rows)
