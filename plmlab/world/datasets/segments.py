"""Pairs of segments as in BERT's pretraining: spans of several sentences, where the second segment does or does not
follow the first."""

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from random import Random

from plmlab.draws import randint
from plmlab.world.documents.pairs import NextSentence, PairError, Words
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.world import World

FILLED = 8
"""One pair in `FILLED` is filled to the maximum length, so that all positions of a model are trained."""


def segment_pairs(world: World, split: str = "train", seed: int = 0, *, longest: int, bilingual: bool = False,
                  ) -> Iterator[NextSentence]:
    """Endless iterator over pairs of segments of articles with at most ``longest`` words in total (Devlin et al. 2019,
    §3.1 and A.2; the term "segment" is from Liu et al. 2019).

    An article is split between two sentences. The first segment runs from a random sentence to the split. With
    probability ½ the second segment runs from the split to a random sentence; otherwise it is a random span of an
    article about another entity. One pair in `FILLED` is extended with further articles until ``longest`` is reached.
    If a pair is too long, the first segment is truncated at its beginning, down to half of ``longest``, then the second
    at its end.

    In the authors' code, nine pairs in ten are filled, each from a single article; our articles are too short for
    that.

    Raises:
        PairError: if there are articles about fewer than two entities, no article has two sentences, or ``longest`` is
            below 2.
    """
    articles = [article for article in world.paired(split) if len(article.sentences) > 1]
    if len({article.entity for article in articles}) < 2:
        raise PairError("negative pairs need articles about at least two entities, with two or more sentences each")
    if longest < 2:
        raise PairError(f"longest={longest} is too small; two segments have at least two words")
    rng = Random(seed)
    while True:
        written = attrgetter("chinese" if bilingual and rng.random() < 0.5 else "words")
        home = articles[randint(rng, len(articles))]
        cut = 1 + randint(rng, len(home.sentences) - 1)
        first = _words(home.sentences[randint(rng, cut):cut], written)
        is_next = rng.random() < 0.5
        other = home
        while not is_next and other.entity == home.entity:
            other = articles[randint(rng, len(articles))]
        rest = other.sentences[cut if is_next else randint(rng, len(other.sentences)):]
        second = _words(rest[:1 + randint(rng, len(rest))], written)
        if randint(rng, FILLED) == 0:
            while len(first) + len(second) < longest:
                second += _words(articles[randint(rng, len(articles))].sentences, written)
        first = first[-max(longest - len(second), longest // 2):]
        yield NextSentence(first, second[:longest - len(first)], is_next)


def _words(sentences: Sequence[Sentence], written: Callable[[Sentence], Words]) -> Words:
    return tuple(word for sentence in sentences for word in written(sentence))
