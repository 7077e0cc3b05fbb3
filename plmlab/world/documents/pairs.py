"""Pairs: a sentence and its translation; two sentences that follow each other in an article, or do not."""

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
    """Too few articles to draw pairs from."""


class Translation(NamedTuple):
    """One meaning in two languages, both as words."""

    english: Words
    chinese: Words


class NextSentence(NamedTuple):
    """Two sentences, and whether the second follows the first in its article."""

    first: Words
    second: Words
    is_next: bool


class SentenceOrder(NamedTuple):
    """Two sentences that stand side by side in an article, and whether they stand in the article's order."""

    first: Words
    second: Words
    in_order: bool


def translations(sentences: Iterable[Sentence]) -> Iterator[Translation]:
    """Each sentence's English words with its Chinese words."""
    for sentence in sentences:
        yield Translation(sentence.words, sentence.chinese)


def partners(sentence: Sentence, lexicon: Lexicon) -> list[tuple[int, int]]:
    """Which Chinese word translates which English one, as (its slot, the other's slot), from left to right in Chinese.

    Only words of the lexicon with a translation of one word, and only where neither could belong to another in the
    sentence.
    """
    return list(_partners(sentence.words, sentence.chinese, lexicon))


@lru_cache(4096)
def _partners(english: Words, chinese: Words, lexicon: Lexicon) -> tuple[tuple[int, int], ...]:
    readings = [{word.chinese for word, _ in lexicon.readings.get(one, ()) if word.chinese} for one in english]
    found = []
    for slot, said in enumerate(chinese):
        sources = [i for i, translated in enumerate(readings) if (said,) in translated]
        if len(sources) == 1 and chinese.count(said) == 1:
            found.append((slot, sources[0]))
    return tuple(found)


def next_sentences(articles: Sequence[Article], rng: Random) -> Iterator[NextSentence]:
    """Next-sentence prediction (Devlin et al. 2019, §3.1, task 2), without end.

    Half the time the second sentence is the one that follows; half the time any sentence of another article.

    Raises:
        PairError: articles about fewer than two entities, or none of two sentences.
    """
    entities = {article.entity for article in articles}
    if len(entities) < 2:
        raise PairError(f"a sentence of another article needs articles about two entities; there are {len(entities)}")
    for home, first, following in _neighbours(articles, rng):
        is_next = rng.random() < 0.5
        second = following if is_next else choice(rng, _another(home, articles, rng).sentences)
        yield NextSentence(first.words, second.words, is_next)


def _another(home: Article, articles: Sequence[Article], rng: Random) -> Article:
    """An article about something else."""
    while (found := choice(rng, articles)).entity == home.entity:
        pass
    return found


def sentence_orders(articles: Sequence[Article], rng: Random) -> Iterator[SentenceOrder]:
    """Sentence-order prediction (Lan et al. 2020, §3.1), without end: side by side, half the time swapped.

    Raises:
        PairError: no article of two sentences.
    """
    for _, first, second in _neighbours(articles, rng):
        in_order = rng.random() < 0.5
        pair = (first.words, second.words)
        yield SentenceOrder(*(pair if in_order else pair[::-1]), in_order)


def _neighbours(articles: Sequence[Article], rng: Random) -> Iterator[tuple[Article, Sentence, Sentence]]:
    """An article, and two sentences of it that stand side by side, without end."""
    pairs = [(article, place) for article in articles for place in range(len(article.sentences) - 1)]
    if not pairs:
        raise PairError("there are no two sentences side by side: every article has fewer than 2")
    while True:
        article, place = choice(rng, pairs)
        yield article, article.sentences[place], article.sentences[place + 1]
