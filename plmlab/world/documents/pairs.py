"""Sentence pairs: translations, and sentences that are or are not consecutive in an article."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from random import Random
from typing import NamedTuple

from plmlab.draws import choice
from plmlab.world.documents.articles import Article
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.lexicon import Lexicon

Words = tuple[str, ...]


class PairError(ValueError):
    """Raised if there are too few articles or sentences to draw pairs from."""


class Translation(NamedTuple):
    """A sentence in English and Chinese, both as words."""

    english: Words
    chinese: Words


class NextSentence(NamedTuple):
    """Two sentences, and whether the second is the one that follows the first in an article."""

    first: Words
    second: Words
    is_next: bool


class SentenceOrder(NamedTuple):
    """Two adjacent sentences of an article, and whether they are in the original order."""

    first: Words
    second: Words
    in_order: bool


def translations(sentences: Iterable[Sentence]) -> Iterator[Translation]:
    """Yield each sentence's English words with its Chinese words."""
    for sentence in sentences:
        yield Translation(sentence.words, sentence.chinese)


def partners(sentence: Sentence, lexicon: Lexicon) -> list[tuple[int, int]]:
    """Word alignment as pairs (Chinese position, English position), in Chinese word order.

    Only words of the lexicon with a one-word translation are aligned, and only where the alignment is unique within the
    sentence.
    """
    return list(_partners(sentence.words, sentence.chinese, lexicon))


@lru_cache(4096)
def _partners(english: Words, chinese: Words, lexicon: Lexicon) -> tuple[tuple[int, int], ...]:
    readings = [{word.chinese for word, _ in lexicon.readings.get(one, ()) if word.chinese} for one in english]
    found = []
    for slot, translation in enumerate(chinese):
        sources = [i for i, translated in enumerate(readings) if (translation,) in translated]
        if len(sources) == 1 and chinese.count(translation) == 1:
            found.append((slot, sources[0]))
    return tuple(found)


def next_sentences(articles: Sequence[Article], rng: Random) -> Iterator[NextSentence]:
    """Endless iterator over pairs for next-sentence prediction (NSP; Devlin et al. 2019, §3.1, task 2).

    With probability ½ the second sentence is the one that follows; otherwise it is a random sentence from an article
    about another entity.

    Raises:
        PairError: if there are articles about fewer than two entities, or if no article has two sentences.
    """
    entities = {article.entity for article in articles}
    if len(entities) < 2:
        raise PairError(f"negative pairs need articles about at least two entities; there are {len(entities)}")
    for home, first, following in _neighbours(articles, rng):
        is_next = rng.random() < 0.5
        second = following if is_next else choice(rng, _another(home, articles, rng).sentences)
        yield NextSentence(first.words, second.words, is_next)


def _another(home: Article, articles: Sequence[Article], rng: Random) -> Article:
    """A random article about another entity."""
    while (found := choice(rng, articles)).entity == home.entity:
        pass
    return found


def sentence_orders(articles: Sequence[Article], rng: Random) -> Iterator[SentenceOrder]:
    """Endless iterator over pairs for sentence-order prediction (SOP; Lan et al. 2020, §3.1): adjacent sentences,
    swapped with probability ½.

    Raises:
        PairError: if no article has two sentences.
    """
    for _, first, second in _neighbours(articles, rng):
        in_order = rng.random() < 0.5
        pair = (first.words, second.words)
        yield SentenceOrder(*(pair if in_order else pair[::-1]), in_order)


def _neighbours(articles: Sequence[Article], rng: Random) -> Iterator[tuple[Article, Sentence, Sentence]]:
    """Endless iterator over random articles, each with two adjacent sentences of the article."""
    pairs = [(article, place) for article in articles for place in range(len(article.sentences) - 1)]
    if not pairs:
        raise PairError("there are no adjacent sentences: every article has fewer than 2")
    while True:
        article, place = choice(rng, pairs)
        yield article, article.sentences[place], article.sentences[place + 1]
