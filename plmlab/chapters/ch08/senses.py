"""What does the vector of an ambiguous word tell of its sense? A probe reads it off, and is asked of other sentences.

A probe alone proves nothing (Hewitt and Liang 2019): it is held against the most frequent sense and untrained models.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from math import sqrt
from random import Random
from statistics import mean
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab import world
from plmlab.chapters.ch08.heads import read
from plmlab.models.bert import BERT
from plmlab.models.gpt import GPT
from plmlab.objectives import causal
from plmlab.transfer import batch_of
from plmlab.world.datasets.tokenizer import ids, spelling

SENTENCES, EACH = 12_000, 30

Vectors = Callable[[Sequence["Occurrence"]], Float[Tensor, "row model"]]


class Occurrence(NamedTuple):
    """An ambiguous word in a sentence: its place, its sense, the pattern of the sentence, and the side of the cue."""

    words: tuple[str, ...]
    place: int
    sense: str
    pattern: str
    side: str

    @property
    def word(self) -> str:
        """The ambiguous word."""
        return self.words[self.place]


@cache
def occurrences() -> dict[str, list[Occurrence]]:
    """Pattern → its sentences, each once, 30 at most; patterns in their order."""
    found: dict[str, dict[tuple[str, ...], Occurrence]] = defaultdict(dict)
    for sentence in islice(world.full().sentences("train", seed=21), SENTENCES):
        word, *rest = sentence.pattern.split(".")  # such a pattern is called word.sense.side and a number
        sense = f"{word}.{rest[0]}"
        if len(rest) == 2 and sense in sentence.senses:
            row = Occurrence(sentence.words, sentence.senses.index(sense), sense, sentence.pattern, rest[1][:-1])
            found[sentence.pattern][sentence.words] = row
    return {pattern: list(rows.values())[:EACH] for pattern, rows in sorted(found.items())}


def other_sentences() -> tuple[list[Occurrence], list[Occurrence]]:
    """To learn from, and to be asked about: every second sentence of each pattern."""
    several = [rows for rows in occurrences().values() if len(rows) > 3]
    return [row for rows in several for row in rows[1::2]], [row for rows in several for row in rows[::2]]


def other_patterns() -> list[tuple[list[Occurrence], list[Occurrence]]]:
    """Twice, to learn from and to be asked about: of each sense that has several patterns one is asked about, whose cue
    is not among those learned from."""
    turns = []
    for turn in range(2):
        known, asked = [], []
        by_sense: dict[str, list[list[Occurrence]]] = defaultdict(list)
        for rows in occurrences().values():
            by_sense[rows[0].sense].append(rows)
        for _, patterns in sorted(by_sense.items()):
            kept = list(patterns)
            if len(kept) > 1:
                asked += kept.pop(turn)
            known += [row for rows in kept for row in rows]
        turns.append((known, asked))
    return turns


def of_bert(model: BERT) -> Vectors:
    """The last layer's vectors of a BERT."""
    @torch.no_grad()
    def vectors(rows: Sequence[Occurrence]) -> Float[Tensor, "row model"]:
        hidden = model(read([(row.words, ()) for row in rows]))
        return hidden[torch.arange(len(rows)), torch.tensor([row.place + 1 for row in rows])]
    return vectors


def of_gpt(model: GPT) -> Vectors:
    """The last layer's vectors of a GPT."""
    @torch.no_grad()
    def vectors(rows: Sequence[Occurrence]) -> Float[Tensor, "row model"]:
        hidden = model.hidden_states(batch_of(
            lambda row: causal(ids(row.words), vocab=spelling().vocab, rng=Random(0)), rows))
        return hidden[torch.arange(len(rows)), torch.tensor([row.place + 1 for row in rows])]
    return vectors


def bag_of_words(rows: Sequence[Occurrence]) -> Float[Tensor, "row model"]:
    """Which tokens a sentence has, one number for each of the vocabulary: no order, and no vector of the word."""
    bags = torch.zeros(len(rows), len(spelling()))
    for bag, row in zip(bags, rows, strict=True):
        bag[ids(row.words)] = 1
    return bags


def probe(vectors: Vectors, known: Sequence[Occurrence]) -> Any:
    """A linear classifier of senses, learned from the vectors of these sentences."""
    from sklearn.linear_model import LogisticRegression
    return LogisticRegression(max_iter=2000).fit(vectors(known).numpy(), [row.sense for row in known])


def error_by_pattern(right: Sequence[bool], rows: Sequence[Occurrence]) -> float:
    """The standard error of a share of right answers, where the sentences of one pattern are right or wrong together:
    that of a mean of patterns, each with the weight of its sentences."""
    share = mean(right)
    by_pattern: dict[str, float] = defaultdict(float)
    for hit, row in zip(right, rows, strict=True):
        by_pattern[row.pattern] += hit - share
    count = len(by_pattern)
    return sqrt(count / (count - 1) * sum(off ** 2 for off in by_pattern.values())) / len(rows)


def most_frequent(known: Sequence[Occurrence], asked: Sequence[Occurrence]) -> list[str]:
    """Each word's most frequent sense."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in known:
        counts[row.word][row.sense] += 1
    return [counts[row.word].most_common(1)[0][0] for row in asked]


def among_its_senses(classifier: Any, vectors: Vectors, asked: Sequence[Occurrence]) -> tuple[list[bool], list[float]]:
    """Of each sentence whether the probe is right, choosing among the word's own senses; and how often a guess is."""
    ambiguous, places = world.full().lexicon.ambiguous, {sense: i for i, sense in enumerate(classifier.classes_)}
    right, guess = [], []
    for row, scores in zip(asked, classifier.decision_function(vectors(asked).numpy()), strict=True):
        senses = [sense for sense in ambiguous[row.word] if sense in places]
        right.append(max(senses, key=lambda sense: scores[places[sense]]) == row.sense)
        guess.append(1 / len(senses))
    return right, guess
