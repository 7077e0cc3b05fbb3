"""Parts of speech read off vectors by a linear probe (Peters et al. 2018, §5.3, table 6).

Three exams. All words of new sentences, as in the paper: but most words have one part of speech, which a probe learns
by heart. Words that really have several (*bear*, *watch*): only their neighbours decide. And words that the probe has
never had a label for, nor for any other form of them: a quarter of all words is kept out of what it learns, in turn;
asked are nouns, verbs, adjectives, adverbs and names, and each counts once, however often it stands there.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from random import Random
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from torch import Tensor

from plmlab import world
from plmlab.chapters.ch05.labelled import keys_of
from plmlab.draws import below
from plmlab.world.grammar.sentence import Sentence

KNOWN, DEVELOPMENT, ASKED, SEVERAL = 250, 100, 500, 450
"""Sentences that a probe learns from, is chosen by, and is asked about; and those with a word of several tags."""
READ = 3000
FOLDS = 4
STRENGTHS = (0.003, 0.03, 0.3, 3.0)
"""The inverse of how hard a probe's weights are held down; the best on development sentences is taken."""
OPEN = ("NOUN", "VERB", "ADJ", "ADV", "PROPN")
EXAMS = ("all", "several", "unseen")

Tags = np.ndarray
Guess = Callable[[Sequence[str], Tags, Sequence[str]], Tags]
"""(words, their tags, other words) → what a rule without a network says of these."""


class Tagged(NamedTuple):
    """The words of some sentences, one after the other, each with its part of speech, and the sentence of each."""

    sentences: list[Sentence]
    words: list[str]
    tags: Tags
    rows: list[Sentence]


class Right(NamedTuple):
    """Whether each asked word is right, 0 or 1, and the sentence that it stands in."""

    right: np.ndarray
    rows: list[Sentence]


@cache
def several() -> frozenset[str]:
    """The words that have several parts of speech, in 3,000 sentences; words that stand in names besides do not count.
    """
    found = defaultdict(set)
    for sentence in islice(world.full().sentences("train", seed=503), READ):
        for word, tag in zip(sentence.words, sentence.tags, strict=True):
            found[word].add(tag)
    return frozenset(word for word, tags in found.items() if len(tags - {"PROPN"}) > 1)


@cache
def tagged() -> tuple[Tagged, Tagged, Tagged, Tagged]:
    """To learn from, to choose by; and, of the plain test, to ask about, and to ask about words of several tags."""
    train = world.full().sentences("train", seed=501)
    test = world.full().sentences("test", seed=502)
    drawn = [list(islice(train, KNOWN)), list(islice(train, DEVELOPMENT)), list(islice(test, ASKED)),
             list(islice((one for one in test if several() & set(one.words)), SEVERAL))]
    return tuple(Tagged(some, [word for one in some for word in one.words],  # type: ignore[return-value]
                        np.array([tag for one in some for tag in one.tags]), [one for one in some for _ in one.words])
                 for some in drawn)


@cache
def fold(word: str) -> int:
    """The part of the vocabulary that a word falls to, with all its forms."""
    readings = world.full().lexicon.readings.get(word, ())
    lemma = min((next(iter(reading.forms.values())) for reading, _ in readings), default=word)
    return below(Random(f"fold:{lemma}"), FOLDS)


def probe(strength: float, known: Float[Tensor, "known width"], tags: Tags, asked: Float[Tensor, "asked width"],
          ) -> Tags:
    """The tags that a linear probe gives, learned from the known, whose numbers are standardised."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    return make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=2000)).fit(
        known.numpy(), tags).predict(asked.numpy())


def chosen(known: Tensor, tags: Tags, development: Tensor, later: Tags) -> float:
    """The strength that is best on development words."""
    return max(STRENGTHS, key=lambda one: float((probe(one, known, tags, development) == later).mean()))


def read_tags(layers: Sequence[Float[Tensor, "_ width"]]) -> dict[str, Right]:
    """Exam → what is right, given one layer's vectors of the four parts of `tagged`."""
    known, development, asked, others = tagged()
    strength = chosen(layers[0], known.tags, layers[1], development.tags)
    told = {"all": Right(probe(strength, layers[0], known.tags, layers[2]) == asked.tags, asked.rows),
            "several": among(others, probe(strength, layers[0], known.tags, layers[3]) == others.tags,
                             np.array([word in several() for word in others.words]))}
    folds = [np.array([fold(word) for word in part.words]) for part in (known, development, asked)]
    unseen = np.zeros(len(asked.tags), dtype=bool)
    for number in range(FOLDS):
        learned, judged, new = (of != number if place == 0 else of == number for place, of in enumerate(folds))
        strength = chosen(layers[0][learned], known.tags[learned], layers[1][judged], development.tags[judged])
        unseen[new] = probe(strength, layers[0][learned], known.tags[learned], layers[2][new]) == asked.tags[new]
    return told | {"unseen": among(asked, unseen, np.isin(asked.tags, OPEN))}


def guess_tags(rule: Guess) -> dict[str, Right]:
    """The same of a rule without a network."""
    known, _, asked, others = tagged()
    told = {"all": Right(rule(known.words, known.tags, asked.words) == asked.tags, asked.rows),
            "several": among(others, rule(known.words, known.tags, others.words) == others.tags,
                             np.array([word in several() for word in others.words]))}
    unseen = np.zeros(len(asked.tags), dtype=bool)
    of_known, of_asked = (np.array([fold(word) for word in part.words]) for part in (known, asked))
    for number in range(FOLDS):
        kept = [word for word, one in zip(known.words, of_known, strict=True) if one != number]
        new = [word for word, one in zip(asked.words, of_asked, strict=True) if one == number]
        unseen[of_asked == number] = (rule(kept, known.tags[of_known != number], new)
                                      == asked.tags[of_asked == number])
    return told | {"unseen": among(asked, unseen, np.isin(asked.tags, OPEN))}


def by_word_or_ending(words: Sequence[str], tags: Tags, others: Sequence[str]) -> Tags:
    """The most frequent tag of the word; of a word that was not met, of those that end alike."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for word, tag in zip(words, tags, strict=True):
        for key in keys_of(word):
            counts[key][tag] += 1
    return np.array([max(sorted(some), key=lambda tag: some[tag]) for some in (
        next(counts[key] for key in keys_of(word) if key in counts) for word in others)])


def among(part: Tagged, right: np.ndarray, which: np.ndarray) -> Right:
    """What is right of some of the words."""
    return Right(right[which], [row for row, one in zip(part.rows, which, strict=True) if one])


def share(exam: str, told: Right) -> float:
    """The share that is right; of unseen words, each counts once."""
    if exam != "unseen":
        return float(told.right.mean())
    asked = tagged()[2]
    words = [word for word, tag in zip(asked.words, asked.tags, strict=True) if tag in OPEN]
    by_word: dict[str, list[float]] = defaultdict(list)
    for word, right in zip(words, told.right, strict=True):
        by_word[word].append(float(right))
    return float(np.mean([np.mean(some) for some in by_word.values()]))

