"""Linear probes for parts of speech (Peters et al. 2018, §5.3, table 6).

There are three test sets. The first consists of all words of new sentences, as in the paper; but most words have only
one part of speech, which a probe can memorize. The second consists of truly ambiguous words (*bear*, *watch*), for
which only the context decides. The third consists of words for which the probe has seen no labelled form: each quarter
of the vocabulary is held out in turn (4-fold cross-validation); this set contains nouns, verbs, adjectives, adverbs and
names, and each word type has the same weight.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from random import Random
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from torch import Tensor

from plmlab import world
from plmlab.draws import randint
from plmlab.world.grammar.sentence import Sentence
from studies.ch05.counting import keys_of

KNOWN, DEVELOPMENT, ASKED, SEVERAL = 250, 100, 500, 450
"""Numbers of training, development and test sentences, and of test sentences with an ambiguous word."""
READ = 3000
FOLDS = 4
STRENGTHS = (0.003, 0.03, 0.3, 3.0)
"""Inverse regularization strengths (C); the best on development sentences is used."""
OPEN = ("NOUN", "VERB", "ADJ", "ADV", "PROPN")
EXAMS = ("all", "several", "unseen")

Tags = np.ndarray
Guess = Callable[[Sequence[str], Tags, Sequence[str]], Tags]
"""(training words, their tags, other words) → tags of the others predicted by a rule without a network."""
Tell = Callable[["Tagged", np.ndarray], Tags]
"""(words, mask) → predicted tags of the selected words."""
Learn = Callable[[np.ndarray, np.ndarray], Tell]
"""(mask of training words, mask of development words) → trained predictor."""


class Tagged(NamedTuple):
    """The words of some sentences, concatenated, each with its part of speech and its sentence."""

    sentences: list[Sentence]
    words: list[str]
    tags: Tags
    rows: list[Sentence]


class Right(NamedTuple):
    """For each test word: whether it is tagged correctly (0 or 1), its sentence, and its weight."""

    right: np.ndarray
    rows: list[Sentence]
    weights: np.ndarray


@cache
def several() -> frozenset[str]:
    """Words with several parts of speech in 3,000 sentences; PROPN is not counted as one of them (cached)."""
    tags_of = defaultdict(set)
    for sentence in islice(world.full().sentences("train", seed=503), READ):
        for word, tag in zip(sentence.words, sentence.tags, strict=True):
            tags_of[word].add(tag)
    return frozenset(word for word, tags in tags_of.items() if len(tags - {"PROPN"}) > 1)


@cache
def tagged() -> tuple[Tagged, Tagged, Tagged, Tagged]:
    """Training, development and test words, and test words of sentences with an ambiguous word (cached)."""
    train = world.full().sentences("train", seed=501)
    test = world.full().sentences("test", seed=502)
    drawn = [list(islice(train, KNOWN)), list(islice(train, DEVELOPMENT)), list(islice(test, ASKED)),
             list(islice((sentence for sentence in test if several() & set(sentence.words)), SEVERAL))]
    return tuple(Tagged(rows, [word for row in rows for word in row.words],  # type: ignore[return-value]
                        np.array([tag for row in rows for tag in row.tags]), [row for row in rows for _ in row.words])
                 for rows in drawn)


@cache
def fold(word: str) -> int:
    """The fold of the vocabulary to which a word and all its inflected forms belong (cached)."""
    readings = world.full().lexicon.readings.get(word, ())
    lemma = min((next(iter(reading.forms.values())) for reading, _ in readings), default=word)
    return randint(Random(f"fold:{lemma}"), FOLDS)


def probe(strength: float, known: Float[Tensor, "known width"], tags: Tags, test: Float[Tensor, "asked width"],
          ) -> Tags:
    """Train a linear probe on standardized vectors and predict the tags of ``test``."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    return make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=2000)).fit(
        known.numpy(), tags).predict(test.numpy())


def chosen(known: Tensor, tags: Tags, development: Tensor, later: Tags) -> float:
    """The regularization strength with the highest development accuracy."""
    return max(STRENGTHS, key=lambda strength: float((probe(strength, known, tags, development) == later).mean()))


def examined(learn: Learn) -> dict[str, Right]:
    """Train and test a tagger on all test sets; return test set → `Right`."""
    known, development, test, others = tagged()
    predict = learn(np.full(len(known.tags), True), np.full(len(development.tags), True))
    ambiguous = np.array([word in several() for word in others.words])
    folds = [np.array([fold(word) for word in part.words]) for part in (known, development, test)]
    unseen = np.empty_like(test.tags)
    for number in range(FOLDS):
        new = folds[2] == number
        unseen[new] = learn(folds[0] != number, folds[1] == number)(test, new)
    is_open = np.isin(test.tags, OPEN)
    count = Counter(word for word, selected in zip(test.words, is_open, strict=True) if selected)
    once = np.array([1 / count[word] if selected else 0.0 for word, selected in zip(test.words, is_open, strict=True)])
    everything = np.full(len(test.tags), True)
    return {"all": among(test, predict(test, everything), everything, np.ones(len(test.tags))),
            "several": among(others, predict(others, ambiguous), ambiguous, np.ones(len(others.tags))),
            "unseen": among(test, unseen[is_open], is_open, once)}


def among(part: Tagged, said: Tags, which: np.ndarray, weights: np.ndarray) -> Right:
    """Compare the predicted tags of the selected words with the gold tags."""
    return Right((said == part.tags[which]).astype(float),
                 [row for row, selected in zip(part.rows, which, strict=True) if selected], weights[which])


def read_tags(layers: Sequence[Float[Tensor, "_ width"]]) -> dict[str, Right]:
    """Test set → `Right` of a linear probe, given one layer's vectors of the four parts of `tagged`."""
    known, development, *test = tagged()

    def learn(training: np.ndarray, judged: np.ndarray) -> Tell:
        strength = chosen(layers[0][training], known.tags[training], layers[1][judged], development.tags[judged])
        return lambda part, which: probe(strength, layers[0][training], known.tags[training],
                                         layers[2 + test.index(part)][which])
    return examined(learn)


def guess_tags(rule: Guess) -> dict[str, Right]:
    """Test set → `Right` of a rule without a network."""
    known = tagged()[0]

    def learn(training: np.ndarray, judged: np.ndarray) -> Tell:
        words = [word for word, selected in zip(known.words, training, strict=True) if selected]
        return lambda part, which: rule(words, known.tags[training],
                                        [word for word, selected in zip(part.words, which, strict=True) if selected])
    return examined(learn)


def by_neighbours(learned: np.ndarray, judged: np.ndarray) -> Tell:
    """Feature-based linear classifier without a network: the word, its last characters, whether it is capitalized, and
    two words on each side."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression
    known, development, *_ = tagged()
    vectorizer = DictVectorizer()
    inputs = vectorizer.fit_transform([row for row, selected in zip(signs(known), learned, strict=True) if selected])
    fitted = [LogisticRegression(C=strength, max_iter=2000).fit(inputs, known.tags[learned]) for strength in STRENGTHS]

    def predict(model: Any, part: Tagged, which: np.ndarray) -> Tags:
        return model.predict(vectorizer.transform(
            [row for row, selected in zip(signs(part), which, strict=True) if selected]))

    best = max(fitted, key=lambda one: float((predict(one, development, judged) == development.tags[judged]).mean()))
    return lambda part, which: predict(best, part, which)


def signs(part: Tagged) -> list[dict[str, str]]:
    """Features of each word: the back-off keys of the word, and its neighbours."""
    features = []
    for sentence in part.sentences:
        words = ["", "", *sentence.words, "", ""]
        for index in range(2, len(words) - 2):
            context = {str(offset): words[index + offset] for offset in (-2, -1, 1, 2)}
            features.append(context | {f"key {i}": key for i, key in enumerate(keys_of(words[index]))})
    return features


def by_word_or_ending(words: Sequence[str], tags: Tags, others: Sequence[str]) -> Tags:
    """The most frequent tag of the word or, for an unseen word, of the training words with the same ending."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for word, tag in zip(words, tags, strict=True):
        for key in keys_of(word):
            counts[key][tag] += 1
    return np.array([max(sorted(row), key=lambda tag: row[tag]) for row in (
        next(counts[key] for key in keys_of(word) if key in counts) for word in others)])


def share(told: Right) -> float:
    """Weighted accuracy."""
    return float(np.average(told.right, weights=told.weights))
