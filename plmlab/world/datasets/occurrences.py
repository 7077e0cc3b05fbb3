"""Sentences of the full world with ambiguous words and their senses: training and test data for a probe."""

from collections import defaultdict
from functools import cache
from itertools import islice
from typing import NamedTuple

from plmlab.world.world import full

SENTENCES, EACH = 12_000, 30


class Occurrence(NamedTuple):
    """An ambiguous word in a sentence: the ``place`` of the word (its index), its sense, the sentence's pattern, and
    the side on which the cue is."""

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
    """Pattern → its distinct sentences, at most 30; patterns in alphabetical order."""
    found: dict[str, dict[tuple[str, ...], Occurrence]] = defaultdict(dict)
    for sentence in islice(full().sentences("train", seed=21), SENTENCES):
        word, *rest = sentence.pattern.split(".")  # such a pattern id is word.sense.side and a number
        sense = f"{word}.{rest[0]}"
        if len(rest) == 2 and sense in sentence.senses:
            row = Occurrence(sentence.words, sentence.senses.index(sense), sense, sentence.pattern, rest[1][:-1])
            found[sentence.pattern][sentence.words] = row
    return {pattern: list(rows.values())[:EACH] for pattern, rows in sorted(found.items())}


def other_sentences() -> tuple[list[Occurrence], list[Occurrence]]:
    """Training and test occurrences, taken alternately from the sentences of each pattern."""
    several = [rows for rows in occurrences().values() if len(rows) > 3]
    return [row for rows in several for row in rows[1::2]], [row for rows in several for row in rows[::2]]


def other_patterns() -> list[tuple[list[Occurrence], list[Occurrence]]]:
    """Two splits into training and test occurrences by pattern.

    For each sense with several patterns, one pattern is in the test set, so that its cue does not occur in training.
    """
    turns = []
    for turn in range(2):
        train, test = [], []
        by_sense: dict[str, list[list[Occurrence]]] = defaultdict(list)
        for rows in occurrences().values():
            by_sense[rows[0].sense].append(rows)
        for _, patterns in sorted(by_sense.items()):
            remaining = list(patterns)
            if len(remaining) > 1:
                test += remaining.pop(turn)
            train += [row for rows in remaining for row in rows]
        turns.append((train, test))
    return turns
