"""Baselines without training for long documents: answers that only use the kind of the answer, and a rule that follows
the titles of the articles."""

from collections.abc import Callable, Iterable
from functools import cache
from random import Random
from statistics import fmean

from plmlab.draws import choice
from plmlab.world.datasets.long_documents import LongDocument, Span
from plmlab.world.datasets.tokenizer import ids
from plmlab.world.questions.bank import PLURAL
from plmlab.world.questions.chains import find_words
from plmlab.world.world import World

Answer = Callable[[World, LongDocument], Span | None]


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
            if (name := document.said(span)) in known and find_words(document.query, name) is None]


def first_name(world: World, document: LongDocument) -> Span | None:
    """The first name of the answer's kind."""
    return next(iter(candidates(world, document)), None)


def random_name(world: World, document: LongDocument) -> Span | None:
    """A random occurrence of a name of the answer's kind, the same at every call."""
    found = candidates(world, document)
    return choice(Random(f"{document.question.text} {len(document.tokens)}"), found) if found else None


def linked_paragraphs(document: LongDocument) -> list[Span]:
    """The paragraph about an entity named in the question, and all paragraphs about entities named in it, in order: a
    rule that knows what each paragraph is about, but not which relation the question asks for."""
    about = dict(zip(document.titles, document.paragraphs, strict=True))
    found = [span for title, span in about.items() if find_words(document.query, title) is not None]
    links = {document.said(span) for span in document.tokens.entities or ()
             if any(start <= span[0] < end for start, end in found)}
    return [span for title, span in about.items() if span in found or title in links]


def name_in_linked_paragraphs(world: World, document: LongDocument) -> Span | None:
    """The first name of the answer's kind in the `linked_paragraphs`; those about a name in the question come last."""
    about = dict(zip(document.paragraphs, document.titles, strict=True))

    def asked(span: Span) -> bool:
        return find_words(document.query, about[span]) is not None
    found, known = sorted(linked_paragraphs(document), key=asked), candidates(world, document)
    return next((span for start, end in found for span in known if start <= span[0] < end), None)


def exact_match(world: World, documents: Iterable[LongDocument], answer: Answer) -> float:
    """The fraction of documents for which the predicted span has the words of the answer."""
    predicted = ((one, answer(world, one)) for one in documents)
    return fmean(span is not None and one.said(span) == one.said(one.answer) for one, span in predicted)
