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
from plmlab.chapters.ch12.cloze_classifiers import SlotClassifier
from plmlab.example import IGNORE, Example
from plmlab.models.task_heads import SentenceClassifier
from plmlab.objectives import classified
from plmlab.objectives.blanks import filled_in
from plmlab.transfer import DEVELOPMENT, EXAM, MOST
from plmlab.world.datasets.tasks import AUXILIARIES, Words
from plmlab.world.datasets.tokenizer import ids, spelling

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
def exam() -> list[Agreeing]:
    """The rows that *number* is judged by."""
    return list(islice(unlike(agreeing("test", 77)), EXAM))


@cache
def labelled(seed: int) -> list[Agreeing]:
    """The rows of *number* to learn from; where fewer labels are wanted, the first so many of them."""
    return list(islice(unlike(agreeing("train", seed), exam()), MOST))


@cache
def development(seed: int) -> list[Agreeing]:
    """The rows of *number* by which the best weights and learning rates are chosen."""
    return list(islice(unlike(agreeing("test", seed), [*exam(), *labelled(seed)]), DEVELOPMENT))


def exam_of_number() -> dict[str, list[Agreeing]]:
    """The exam, and as "attracted" those of its rows in which a noun of the other number stands between."""
    return {"score": exam(), "attracted": [row for row in exam() if row.attractors]}


class ClozeTask(NamedTuple):
    """A task of two classes. ``verbalizers``: the word of each. Of a row, ``pattern`` gives the ids of one text, or of
    two, with one [MASK]; ``kind`` the class. ``labelled(seed)`` and ``development(seed)`` are rows, and ``exam()`` is
    by what name which rows are judged. ``head`` is what stands on BERT where there is no cloze, and ``text(row)`` what
    it reads then."""

    verbalizers: tuple[str, str]
    pattern: Callable[[Any], tuple[list[int], list[int]]]
    kind: Callable[[Any], int]
    labelled: Callable[[int], Sequence[Any]]
    development: Callable[[int], Sequence[Any]]
    exam: Callable[[], Mapping[str, Sequence[Any]]]
    head: type[SentenceClassifier]
    text: Callable[[Any], Example]


def verb_left_out(row: Agreeing) -> tuple[list[int], list[int]]:
    """A blank in the place of the verb."""
    return [*ids(row.before), spelling().vocab.need("mask"), *ids(row.behind)], []


def blank_behind_question(row: Any) -> tuple[list[int], list[int]]:
    """A sentence with a question mark in the place of its end, a blank, and a full stop."""
    return [*ids([*row.words[:-1], "?"]), spelling().vocab.need("mask"), *ids(["."])], []


def blank_between(row: Any) -> tuple[list[int], list[int]]:
    """A sentence with a question mark in the place of its end; then a blank, a comma and the other sentence."""
    return ids([*row.first[:-1], "?"]), [spelling().vocab.need("mask"), *ids([",", *row.second])]


def read_by_glm(task: ClozeTask, row: Any) -> Example:
    """What GLM reads of a row: the pattern, and [START] of its blank, which is the label ``slot``; label ``class``."""
    first, second = task.pattern(row)
    example = filled_in([*first, *second], [[]], [0], spelling().vocab)
    return replace(example, targets=torch.full_like(example.targets, IGNORE), labels={
        "class": torch.tensor(task.kind(row)), "slot": torch.tensor(len(example.tokens) - 1)})


def read_by_bert(task: ClozeTask, row: Any) -> Example:
    """What BERT reads of a row: the pattern, whose [MASK] is the label ``slot``; label ``class``."""
    vocab, (first, second) = spelling().vocab, task.pattern(row)
    example = classified(first, task.kind(row), pair=second, vocab=vocab)
    slot = example.tokens.tolist().index(vocab.need("mask"))
    return replace(example, labels=example.labels | {"slot": torch.tensor(slot)})


def of_transfer(name: str, pattern: Callable[[Any], tuple[list[int], list[int]]]) -> ClozeTask:
    """A task of `plmlab.transfer` as a cloze; class 1 is "yes"."""
    known = transfer.TASKS[name]
    return ClozeTask(("no", "yes"), pattern, lambda row: int(known.example(row).labels["class"]),
                     lambda seed: transfer.labelled(name, seed), lambda seed: transfer.development(name, seed),
                     lambda: {"score": transfer.exam(name)}, SentenceClassifier, known.example)


TASKS: dict[str, ClozeTask] = {
    "number": ClozeTask(VERBS, verb_left_out, lambda row: int(row.plural), labelled, development, exam_of_number,
                        SlotClassifier, lambda row: read_by_bert(TASKS["number"], row)),
    "one sentence": of_transfer("one sentence", blank_behind_question),
    "a pair": of_transfer("a pair", blank_between),
}


def majority(name: str) -> float:
    """The score in the exam of always saying the class that is commoner among the labels to learn from."""
    task = TASKS[name]
    [(commoner, _)] = Counter(map(task.kind, task.labelled(0))).most_common(1)
    rows = task.exam()["score"]
    return sum(task.kind(row) == commoner for row in rows) / len(rows)
