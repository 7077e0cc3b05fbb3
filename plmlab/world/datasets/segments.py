"""Pairs of segments, as BERT reads them: stretches of several sentences, of which the second follows or does not."""

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from random import Random

from plmlab.draws import randint
from plmlab.world.documents.pairs import NextSentence, PairError, Words
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.world import World

FILLED = 8
"""Once in so many times a pair is as long as may be, so that a model learns all of its positions."""


def segment_pairs(world: World, split: str = "train", seed: int = 0, *, longest: int, bilingual: bool = False,
                  ) -> Iterator[NextSentence]:
    """Pairs of segments of articles, ``longest`` words in both together at most, without end (Devlin et al. 2019, §3.1
    and A.2; "segment" is the word of Liu et al. 2019).

    An article is cut between two sentences. A segment is what stands before the cut, from any sentence on; half the
    time the second is what follows it, up to any sentence; half the time it is any sentences of an article about
    something else. Once in `FILLED` times other articles go on from there until ``longest`` is reached. Of what is too
    long, the first segment loses its beginning until half of ``longest`` is left, then the second its end.

    It differs from the authors' code, where nine pairs of ten are filled up, and from one article: ours are short.

    Raises:
        PairError: articles about fewer than two entities, or none of two sentences; ``longest`` below 2.
    """
    articles = [article for article in world.paired(split) if len(article.sentences) > 1]
    if len({article.entity for article in articles}) < 2:
        raise PairError("segments of two articles need articles about two entities, of two sentences or more each")
    if longest < 2:
        raise PairError(f"longest is {longest}; two segments have two words or more")
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
