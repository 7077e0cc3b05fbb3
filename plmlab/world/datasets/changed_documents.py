"""The documents of a world after facts have changed: every sentence that states one of them is rewritten or deleted."""

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from plmlab.retrieval.blocks import Block
from plmlab.world.datasets.fact_documents import FactDocuments
from plmlab.world.facts.relations import Entity, Triple
from plmlab.world.grammar.sentence import Sentence

Changes = Mapping[Triple, Entity | None]
"""Fact → its new object; None if the fact is removed."""


class ChangedDocuments(NamedTuple):
    """The ``blocks`` of a world after changes, with the same numbers as before; and for each original fact the blocks
    that state it, or what has replaced it, with the name of the object (``tellers``)."""

    blocks: tuple[Block, ...]
    tellers: Mapping[Triple, frozenset[int]]


def changed_documents(documents: FactDocuments, changes: Changes) -> ChangedDocuments:
    """Apply ``changes`` to the documents of a world.

    A sentence that states a changed fact with the name of its object gets the name of the new object. A sentence that
    states it in another way ("she was born there"), that states another fact about the same object, or that states a
    removed fact, is deleted. Facts that follow from several others, such as "X is older than Y", are not considered.
    """
    blocks, tellers = list[Block](), defaultdict[Triple, set[int]](set)
    plain = {documents.plain(fact): (fact.object, new) for fact, new in changes.items()}
    for number, block in enumerate(documents.blocks):
        sentences = list[str]()
        for text, sentence in zip(block.sentences, documents.sentences(number), strict=True):
            touched = {fact: plain[fact] for fact in map(documents.plain, sentence.facts) if fact in plain}
            words = _rewritten(documents, sentence, touched)
            if words is None:
                continue
            sentences.append(" ".join(words) if touched else text)
            for fact in sentence.facts:
                if _name(documents, sentence, fact.object):
                    tellers[fact].add(number)
        blocks.append(Block(block.page, block.first, tuple(sentences)))
    return ChangedDocuments(tuple(blocks), {fact: frozenset(numbers) for fact, numbers in tellers.items()})


def _rewritten(documents: FactDocuments, sentence: Sentence, touched: Mapping[Triple, tuple[str, Entity | None]],
               ) -> list[str] | None:
    """The words of a sentence with the new objects of the facts ``touched``; None if it has to be deleted."""
    words = [*sentence.words]
    for fact, (old, new) in touched.items():
        about_old = {documents.plain(one) for one in sentence.facts if old in (one.subject, one.object)}
        spans = _name(documents, sentence, old)
        if new is None or about_old != {fact} or len(spans) != 1:
            return None
        words[slice(*spans[0])] = new.words
    return words


def _name(documents: FactDocuments, sentence: Sentence, key: str) -> list[tuple[int, int]]:
    """The spans in which a sentence mentions an entity by its name."""
    return [(start, end) for start, end, entity in sentence.mentions
            if entity == key and sentence.words[start:end] == documents.world.facts[key].words]
