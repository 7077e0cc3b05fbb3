"""Labelled downstream tasks for fine-tuning on the world's text, analogous to GLUE, CoNLL and SQuAD.

Acceptability (CoLA), paraphrase (MRPC) and extractive QA (SQuAD). For the fourth task, NER (CoNLL 2003), the labels are
part of every sentence: :attr:`plmlab.world.grammar.sentence.Sentence.bio`.
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import islice
from math import isinf
from random import Random
from typing import NamedTuple

from plmlab.draws import choice, randint, sample
from plmlab.world.documents.articles import Article
from plmlab.world.facts.relations import Triple
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.questions.bank import Question
from plmlab.world.world import World

Words = tuple[str, ...]
Tellings = dict[Triple, dict[str, Words]]
AUXILIARIES = (("is", "are"), ("was", "were"), ("has", "have"), ("does", "do"))
READ = 20_000
"""Number of sentences searched for the different ways of stating a fact."""
PASSAGE = 3
"""Number of an article's sentences in the context of a question."""


class Acceptability(NamedTuple):
    """A sentence and whether it is acceptable (``right``); an unacceptable sentence has a verb in the wrong number."""

    words: Words
    right: bool


class Paraphrase(NamedTuple):
    """Two sentences that state one fact each, and whether it is the same fact."""

    first: Words
    second: Words
    same: bool


class ExtractiveQA(NamedTuple):
    """A question, a text, and the answer span: the answer is ``text[start:end]``."""

    question: Words
    text: Words
    start: int
    end: int


def acceptability(world: World, split: str = "train", seed: int = 0) -> Iterator[Acceptability]:
    """Endless iterator over sentences with a verb that agrees with a noun; half of them are corrupted.

    Only sentences of open patterns are used (:func:`plmlab.world.grammar.splits.is_test`), so that "train" and "test"
    are disjoint. The task corresponds to CoLA (Warstadt et al. 2019).
    """
    rng = Random(f"judged:{seed}")
    for sentence in world.sentences(split, seed):
        for link in sentence.agreement[:1] if sentence.pattern in world.open_patterns else ():
            if rng.random() < 0.5:
                yield Acceptability(sentence.words, True)
                continue
            other = flip_number(world, sentence, link.verb)
            if isinf(world.logprob(other, split)):
                yield Acceptability(other, False)


def flip_number(world: World, sentence: Sentence, verb: int) -> Words:
    """Change the verb at this position to the opposite number."""
    word = sentence.words[verb]
    pairs = [pair for pair in AUXILIARIES if word in pair] or [
        (reading.forms["base"], reading.forms["third"]) for reading, form in world.lexicon.readings[word]
        if reading.tag == "VERB" and form in ("base", "third")]
    one, other = pairs[0]
    return (*sentence.words[:verb], other if word == one else one, *sentence.words[verb + 1:])


def paraphrase(world: World, split: str = "train", seed: int = 0) -> Iterator[Paraphrase]:
    """Endless iterator over sentence pairs: half of them state one fact in two ways, the others two related facts.

    With equal probability, two related facts share the relation (another person was born there) or the subject
    (something else about that person). The task corresponds to MRPC (Dolan and Brockett 2005).
    """
    tellings, rng = told(world, split), Random(seed)
    ways = [list(how.values()) for how in tellings.values() if len(how) > 1]
    strangers = [_strangers(side, tellings) for side in ("subject", "relation")]
    while True:
        if rng.random() < 0.5:
            first, second = sample(rng, choice(rng, ways), 2)
            yield Paraphrase(first, second, True)
        else:
            fact, others = choice(rng, choice(rng, strangers))
            first, second = (choice(rng, list(tellings[one].values())) for one in (fact, choice(rng, others)))
            yield Paraphrase(first, second, False)


@cache
def told(world: World, split: str) -> Tellings:
    """Fact → pattern → the first sentence that states this fact and no other (among ``READ`` sentences; no
    questions)."""
    found: Tellings = defaultdict(dict)
    for sentence in islice(world.sentences(split, seed=0), READ):
        if len(sentence.facts) == 1 and "?" not in sentence.words:
            found[sentence.facts[0]].setdefault(sentence.pattern, sentence.words)
    return dict(sorted(found.items()))


def _strangers(side: str, tellings: Tellings) -> list[tuple[Triple, list[Triple]]]:
    """Each fact with the other facts that share its subject or relation; facts without such others are left out."""
    alike: dict[str, list[Triple]] = defaultdict(list)
    for fact in tellings:
        alike[getattr(fact, side)].append(fact)
    found = [(fact, [other for other in alike[getattr(fact, side)] if not _mean_the_same(fact, other)])
             for fact in tellings]
    return [(fact, others) for fact, others in found if others]


def _mean_the_same(fact: Triple, other: Triple) -> bool:
    """Whether two facts are identical or mirror images of each other ("A married B" and "B married A")."""
    return {fact.subject, fact.object} == {other.subject, other.object} and fact.relation == other.relation


def extractive_qa(world: World, split: str = "train", seed: int = 0) -> Iterator[ExtractiveQA]:
    """The one-hop questions of the split, in random order, each with three sentences of the article that contains the
    answer.

    The answer occurs in the text exactly once, as a span (SQuAD, Rajpurkar et al. 2016); questions for which this does
    not hold are left out. The sentence with the answer is at a random index among the three.
    """
    rng = Random(seed)
    for question in world.questions("one-hop", split, seed):
        text = _passage(world.article(question.evidence[0].article, question.corpus), question, rng)
        size = len(question.answer)
        places = [start for start in range(len(text)) if text[start:start + size] == question.answer]
        if len(places) == 1:
            yield ExtractiveQA(question.words, text, places[0], places[0] + size)


def _passage(article: Article, question: Question, rng: Random) -> Words:
    """Three consecutive sentences of an article (no article has fewer), including the one with the evidence."""
    needed = question.evidence[0].sentence
    first = min(max(0, needed - randint(rng, PASSAGE)), len(article.sentences) - PASSAGE)
    return tuple(word for sentence in article.sentences[first:first + PASSAGE] for word in sentence.words)
