"""Baselines without training for long documents: answers that only use the kind of the answer, and the sentences and
paragraphs that BM25 ranks highest."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from random import Random
from statistics import fmean

from plmlab.draws import choice
from plmlab.retrieval import BM25
from plmlab.world.datasets.long_documents import LongDocument, Span
from plmlab.world.datasets.tokenizer import ids
from plmlab.world.questions.bank import PLURAL
from plmlab.world.questions.chains import find_words
from plmlab.world.world import World

Answer = Callable[[World, LongDocument], Span | None]
Retrieve = Callable[[LongDocument], Sequence[Span]]


@cache
def surfaces(world: World, kind: str) -> frozenset[tuple[int, ...]]:
    """The token ids of all names or values of a kind, such as "town" or "year"."""
    entities = world.facts.kind(kind)
    words = [(world.lexicon[one.traits["word"]].forms["pl"],) if kind in PLURAL else one.words for one in entities]
    return frozenset(tuple(ids(one)) for one in words)


def candidates(world: World, document: LongDocument) -> list[Span]:
    """All names of the answer's kind in a document that are not in the question, in order."""
    known = surfaces(world, str(document.question.answer_entity).split(":")[0])
    mentions = list(document.tokens.entities or ())
    inside = {place for start, end in mentions for place in range(start, end)}
    spans = sorted([*mentions, *((place, place + 1) for place in range(len(document.tokens)) if place not in inside)])
    return [span for span in spans
            if (name := said(document, span)) in known and find_words(document.query, name) is None]


def first_name(world: World, document: LongDocument) -> Span | None:
    """The first name of the answer's kind."""
    return next(iter(candidates(world, document)), None)


def random_name(world: World, document: LongDocument) -> Span | None:
    """A random occurrence of a name of the answer's kind, the same at every call."""
    found = candidates(world, document)
    return choice(Random(f"{document.question.text} {len(document.tokens)}"), found) if found else None


def name_in_nearest_sentence(world: World, document: LongDocument) -> Span | None:
    """The first name of the answer's kind in the sentence with the highest BM25 score for the question; None if it has
    none."""
    (start, end), = best_sentences(1)(document)
    return next((span for span in candidates(world, document) if start <= span[0] < end), None)


def best_sentences(top_k: int) -> Retrieve:
    """Retrieve the sentences with the highest BM25 scores for the question."""
    return lambda document: _best(document, document.tokens.sentences or (), document.query, top_k)


def best_paragraphs(top_k: int) -> Retrieve:
    """Retrieve the paragraphs with the highest BM25 scores for the question."""
    return lambda document: _best(document, document.paragraphs, document.query, top_k)


def two_step_paragraphs(top_k: int) -> Retrieve:
    """Retrieve the best paragraph for the question, then those with the highest scores for the question together with
    the names in that paragraph (query expansion; no training)."""
    def retrieve(document: LongDocument) -> list[Span]:
        (start, end), = best_paragraphs(1)(document)
        names = (span for span in document.tokens.entities or () if start <= span[0] < end)
        expanded = *document.query, *(token for span in names for token in said(document, span))
        others = [span for span in document.paragraphs if span != (start, end)]
        return [(start, end), *_best(document, others, expanded, top_k - 1)]
    return retrieve


def titles(document: LongDocument) -> list[tuple[int, ...]]:
    """The title of each paragraph, as token ids."""
    return [tuple(ids(key.partition(":")[2].split())) for key in document.entities]


def linked_paragraphs(document: LongDocument) -> list[Span]:
    """The paragraph about an entity named in the question, and all paragraphs about entities named in it, in order: a
    rule that knows what each paragraph is about, but not which relation the question asks for."""
    about = dict(zip(titles(document), document.paragraphs, strict=True))
    found = [span for title, span in about.items() if find_words(document.query, title) is not None]
    links = {said(document, span) for span in document.tokens.entities or ()
             if any(start <= span[0] < end for start, end in found)}
    return [span for title, span in about.items() if span in found or title in links]


def name_in_linked_paragraphs(world: World, document: LongDocument) -> Span | None:
    """The first name of the answer's kind in the `linked_paragraphs`; those about a name in the question come last."""
    about = dict(zip(document.paragraphs, titles(document), strict=True))

    def asked(span: Span) -> bool:
        return find_words(document.query, about[span]) is not None
    found, known = sorted(linked_paragraphs(document), key=asked), candidates(world, document)
    return next((span for start, end in found for span in known if start <= span[0] < end), None)


def said(document: LongDocument, span: Span) -> tuple[int, ...]:
    """The token ids of a span."""
    return tuple(document.tokens[slice(*span)])


def _best(document: LongDocument, spans: Sequence[Span], query: Sequence[int], top_k: int) -> list[Span]:
    index = BM25([[*map(str, said(document, span))] for span in spans])
    chosen, = index.search([[*map(str, query)]], top_k).lists()
    return [spans[number] for number in chosen]


def exact_match(world: World, documents: Iterable[LongDocument], answer: Answer) -> float:
    """The fraction of documents for which the predicted span has the words of the answer."""
    predicted = ((one, answer(world, one)) for one in documents)
    return fmean(span is not None and said(one, span) == said(one, one.answer) for one, span in predicted)


def recall_of_both(documents: Iterable[LongDocument], retrieve: Retrieve) -> float:
    """The fraction of documents for which both supporting sentences lie in retrieved spans."""
    return fmean(all(any(start <= one.start and one.end <= end for start, end in found) for one in document.supports)
                 for document in documents for found in [retrieve(document)])


def grouped(documents: Iterable[LongDocument], value: Callable[[LongDocument], int], bounds: Sequence[int],
            ) -> Mapping[int, list[LongDocument]]:
    """The documents whose ``value`` is below each bound and not below the previous one, by bound."""
    documents = list(documents)
    return {high: [one for one in documents if low <= value(one) < high]
            for low, high in zip((0, *bounds), bounds, strict=False)}
