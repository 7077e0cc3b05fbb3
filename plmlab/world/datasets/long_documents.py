"""Long documents with a question that needs two distant sentences: articles about many entities in random order, of
which the two that the question needs each state one fact.

A fact is usually stated in the articles of both its entities, so the second article of a bridge question alone answers
it. Here all articles are written without the needed facts, except the one that each support states. Training documents
state no fact that a development or test question needs, and development documents none that a test question needs.
"""

from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import accumulate, chain, pairwise
from operator import itemgetter
from random import Random
from typing import NamedTuple

from plmlab.draws import choice, randint, shuffled
from plmlab.text import Text
from plmlab.world.datasets.reworded_articles import Paragraph, RewordedArticles
from plmlab.world.datasets.tokenizer import ids
from plmlab.world.datasets.two_hop_questions import two_hop_questions, with_mirrored
from plmlab.world.facts.relations import Triple
from plmlab.world.questions.bank import Question
from plmlab.world.questions.chains import names
from plmlab.world.world import World

SHORTEST, LONGEST, ROOM = 400, 16_000, 60
"""Limits of a document's length in tokens; ROOM: minimum gap between minimum and maximum."""
TRIES = 8
"""How many wordings of its two articles are tried for a question before it is left out."""

Span = tuple[int, int]


class Support(NamedTuple):
    """A sentence that states a needed fact, as a span of tokens, and the index of its ``paragraph``."""

    start: int
    end: int
    paragraph: int


@dataclass(frozen=True)
class LongDocument:
    """A question, with its token ids (``query``), and the document that answers it.

    ``tokens`` has the spans of words, sentences and mentions. Paragraph i consists of the tokens ``paragraphs[i]`` and
    is the article about ``entities[i]``. The ``supports`` are in the order of the hops; the ``answer`` is a span in the
    second.
    """

    question: Question
    query: tuple[int, ...]
    tokens: Text
    paragraphs: tuple[Span, ...]
    entities: tuple[str, ...]
    supports: tuple[Support, Support]
    answer: Span

    @property
    def titles(self) -> list[tuple[int, ...]]:
        """The title of each paragraph, as token ids."""
        return [tuple(ids(key.partition(":")[2].split())) for key in self.entities]

    @property
    def distance(self) -> int:
        """The number of tokens between the two supporting sentences."""
        first, second = sorted(self.supports)
        return second.start - first.end

    def said(self, span: Span) -> tuple[int, ...]:
        """The token ids of a span."""
        return tuple(self.tokens[slice(*span)])


def long_documents(world: World, split: str, seed: int = 0, *, lengths: tuple[int, int] = (500, 4000),
                   ) -> Iterator[LongDocument]:
    """Endless iterator over long documents with a question of two hops; all questions of the split are asked once, then
    again with other articles and in other words.

    The support with the answer is equally likely at every relative position. The distance between the supports is
    uniform up to the maximum that this position allows, before or after it; the length is uniform and independent of
    both. The other articles are those about entities of the bridge's kind that the first support's article mentions,
    then the question's distractors, then random ones. Splits are those of `two_hop_questions`.

    Raises ValueError for an unknown split, for lengths out of range, and if the world has too few articles or no
    question.
    """
    least, most = lengths
    if not SHORTEST <= least <= most - ROOM <= LONGEST - ROOM:
        raise ValueError(f"lengths={lengths}: a document has {SHORTEST} to {LONGEST:,} tokens, and the maximum must be "
                         f"at least {ROOM} above the minimum, such as lengths=(500, 4000)")
    two_hop_questions(world, split)
    if (total := sum(len(article.words) for article in world.corpora.articles("train").values())) < most * 1.25:
        raise ValueError(f"all articles of this world have {total:,} tokens, too few for a document of up to {most:,}; "
                         "give a lower maximum or use world.full()")
    return _drawn(_articles(world, split), Random(f"long documents:{split}:{seed}"), least + ROOM // 2, most)


_articles = cache(RewordedArticles)


def _drawn(articles: RewordedArticles, rng: Random, least: int, most: int) -> Iterator[LongDocument]:
    written = True
    while written:
        written = False
        for question in two_hop_questions(articles.world, articles.split, randint(rng, 2**31)):
            tries = (_supporting(articles, question, rng) for _ in range(TRIES))
            if (needed := next(filter(None, tries), None)) is not None:
                room = least + randint(rng, most - least + 1) - sum(len(one.text) for one in needed)
                others = _others(articles, question, needed[0], room, rng)
                yield _document(question, needed, _arranged(needed, others, rng))
                written = True
    raise ValueError("in no wording of this world's articles two of them answer a question together; use world.full()")


def _supporting(articles: RewordedArticles, question: Question, rng: Random) -> tuple[Paragraph, Paragraph] | None:
    """The question's two articles, each of which states one needed fact in a sentence; None if the answer does not
    occur exactly once in the second of these sentences, or if the second article names the question's subject."""
    first, second = (articles.draw(key, with_mirrored(articles.world, [other]), rng)
                     for key, other in zip(question.needed, reversed(question.facts), strict=True))
    told = second.article.telling(question.facts[1])
    if told is None or first.article.telling(question.facts[0]) is None:
        return None
    if names(second.article.words, articles.world.facts[question.needed[0]]):
        return None
    once = len(_places(second.article.sentences[told].words, question.answer)) == 1
    return (first, second) if once else None


def _others(articles: RewordedArticles, question: Question, first: Paragraph, room: int, rng: Random,
            ) -> list[Paragraph]:
    """Articles that the question does not need, of at most ``room`` tokens together, in random order."""
    kind = articles.world.facts[question.needed[1]].kind
    rivals = (mention.entity for sentence in first.article.sentences for mention in sentence.mentions
              if mention.entity.split(":")[0] == kind)
    facts = with_mirrored(articles.world, question.facts)
    candidates = dict.fromkeys(chain(rivals, question.distractors, shuffled(rng, articles.keys)))
    allowed = {*articles.keys} - {*question.needed}
    found = []
    for key in filter(allowed.__contains__, candidates):
        if room < ROOM // 2:
            break
        if len((paragraph := articles.draw(key, facts, rng)).text) <= room:
            found.append(paragraph)
            room -= len(paragraph.text)
    return shuffled(rng, found)


def _arranged(needed: Sequence[Paragraph], others: Sequence[Paragraph], rng: Random) -> list[Paragraph]:
    """Insert the two needed articles: the second, with the answer, at a random place, the first at a random distance
    from it, both in tokens."""
    ends = [*accumulate(len(one.text) for one in others)]
    middles = [end - len(one.text) / 2 for end, one in zip(ends, others, strict=True)]
    place = rng.random()
    distance = rng.random() * max(place, 1 - place)
    partner = choice(rng, [other for other in (place - distance, place + distance) if 0 <= other <= 1])
    (early, one), (late, two) = sorted(zip((partner, place), needed, strict=True), key=itemgetter(0))
    low, high = (bisect(middles, where * ends[-1]) for where in (early, late))
    return [*others[:low], one, *others[low:high], two, *others[high:]]


def _document(question: Question, needed: Sequence[Paragraph], order: Sequence[Paragraph]) -> LongDocument:
    starts = [0, *accumulate(len(one.text) for one in order)]
    spans = {what: [(start + begin, start + end) for start, one in zip(starts, order, strict=False)
                    for begin, end in getattr(one.text, what)] for what in ("sentences", "entities")}
    entities = tuple(one.article.entity for one in order)
    first, second = (_support(one, fact, entities.index(one.article.entity), starts)
                     for one, fact in zip(needed, question.facts, strict=True))
    words = partial(pairwise, range(starts[-1] + 1))
    tokens = Text(chain.from_iterable(one.text for one in order), words=words, **spans)
    start = second.start + _places(tuple(tokens[second.start:second.end]), tuple(ids(question.answer)))[0]
    return LongDocument(question, tuple(ids(question.words)), tokens, tuple(pairwise(starts)),
                        entities, (first, second), (start, start + len(question.answer)))


def _support(paragraph: Paragraph, fact: Triple, number: int, starts: Sequence[int]) -> Support:
    article, sentences = paragraph.article, paragraph.text.sentences
    told = article.telling(fact)
    assert told is not None and sentences is not None
    begin, end = sentences[told]
    return Support(starts[number] + begin, starts[number] + end, number)


def _places(words: Sequence[object], wanted: Sequence[object]) -> list[int]:
    return [place for place in range(len(words)) if words[place:place + len(wanted)] == wanted]
