"""Parts of speech read off vectors by a linear probe (Peters et al. 2018, §5.3, table 6).

Three exams. All words of new sentences, as in the paper: but most words have one part of speech, which a probe learns
by heart. Words that really have several (*bear*, *watch*): only their neighbours decide. And words that the probe has
never had a label for, nor for any other form of them: a quarter of all words is kept out of what it learns, in turn;
asked are nouns, verbs, adjectives, adverbs and names, and each counts once, however often it stands there.
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
Tell = Callable[["Tagged", np.ndarray], Tags]
"""(some words, which of them) → the tags that are said of these."""
Learn = Callable[[np.ndarray, np.ndarray], Tell]
"""(which words to learn from, which to choose by) → who tells tags."""


class Tagged(NamedTuple):
    """The words of some sentences, one after the other, each with its part of speech, and the sentence of each."""

    sentences: list[Sentence]
    words: list[str]
    tags: Tags
    rows: list[Sentence]


class Right(NamedTuple):
    """Whether each asked word is right, 0 or 1; the sentence that it stands in; and how much it counts."""

    right: np.ndarray
    rows: list[Sentence]
    weights: np.ndarray


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
    return randint(Random(f"fold:{lemma}"), FOLDS)


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


def examined(learn: Learn) -> dict[str, Right]:
    """Exam → what is right, of whoever learns from some words to tell the tags of others."""
    known, development, asked, others = tagged()
    told = learn(np.full(len(known.tags), True), np.full(len(development.tags), True))
    ambiguous = np.array([word in several() for word in others.words])
    folds = [np.array([fold(word) for word in part.words]) for part in (known, development, asked)]
    unseen = np.empty_like(asked.tags)
    for number in range(FOLDS):
        new = folds[2] == number
        unseen[new] = learn(folds[0] != number, folds[1] == number)(asked, new)
    is_open = np.isin(asked.tags, OPEN)
    often = Counter(word for word, one in zip(asked.words, is_open, strict=True) if one)
    once = np.array([1 / often[word] if one else 0.0 for word, one in zip(asked.words, is_open, strict=True)])
    everything = np.full(len(asked.tags), True)
    return {"all": among(asked, told(asked, everything), everything, np.ones(len(asked.tags))),
            "several": among(others, told(others, ambiguous), ambiguous, np.ones(len(others.tags))),
            "unseen": among(asked, unseen[is_open], is_open, once)}


def among(part: Tagged, said: Tags, which: np.ndarray, weights: np.ndarray) -> Right:
    """What is right of what was said of some of the words."""
    return Right((said == part.tags[which]).astype(float),
                 [row for row, one in zip(part.rows, which, strict=True) if one], weights[which])


def read_tags(layers: Sequence[Float[Tensor, "_ width"]]) -> dict[str, Right]:
    """Exam → what is right, given one layer's vectors of the four parts of `tagged`."""
    known, development, *asked = tagged()

    def learn(learned: np.ndarray, judged: np.ndarray) -> Tell:
        strength = chosen(layers[0][learned], known.tags[learned], layers[1][judged], development.tags[judged])
        return lambda part, which: probe(strength, layers[0][learned], known.tags[learned],
                                         layers[2 + asked.index(part)][which])
    return examined(learn)


def guess_tags(rule: Guess) -> dict[str, Right]:
    """The same of a rule without a network."""
    known = tagged()[0]

    def learn(learned: np.ndarray, judged: np.ndarray) -> Tell:
        words = [word for word, one in zip(known.words, learned, strict=True) if one]
        return lambda part, which: rule(words, known.tags[learned],
                                        [word for word, one in zip(part.words, which, strict=True) if one])
    return examined(learn)


def by_neighbours(learned: np.ndarray, judged: np.ndarray) -> Tell:
    """A linear probe that is shown the word, its last letters, whether it begins with a capital, and two words to each
    side: no network at all."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression
    known, development, *_ = tagged()
    made = DictVectorizer()
    shown = made.fit_transform([one for one, kept in zip(signs(known), learned, strict=True) if kept])
    fitted = [LogisticRegression(C=strength, max_iter=2000).fit(shown, known.tags[learned]) for strength in STRENGTHS]

    def said(model: Any, part: Tagged, which: np.ndarray) -> Tags:
        return model.predict(made.transform([one for one, asked in zip(signs(part), which, strict=True) if asked]))

    best = max(fitted, key=lambda one: float((said(one, development, judged) == development.tags[judged]).mean()))
    return lambda part, which: said(best, part, which)


def signs(part: Tagged) -> list[dict[str, str]]:
    """What stands at each word and beside it."""
    found = []
    for sentence in part.sentences:
        words = ["", "", *sentence.words, "", ""]
        for place in range(2, len(words) - 2):
            beside = {str(off): words[place + off] for off in (-2, -1, 1, 2)}
            found.append(beside | {f"key {i}": key for i, key in enumerate(keys_of(words[place]))})
    return found


def by_word_or_ending(words: Sequence[str], tags: Tags, others: Sequence[str]) -> Tags:
    """The most frequent tag of the word; of a word that was not met, of those that end alike."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for word, tag in zip(words, tags, strict=True):
        for key in keys_of(word):
            counts[key][tag] += 1
    return np.array([max(sorted(some), key=lambda tag: some[tag]) for some in (
        next(counts[key] for key in keys_of(word) if key in counts) for word in others)])


def share(told: Right) -> float:
    """The share that is right."""
    return float(np.average(told.right, weights=told.weights))
