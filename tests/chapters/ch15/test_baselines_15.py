"""Baselines on long documents, against documents read by hand and by brute force."""

from itertools import islice

import pytest

from plmlab.chapters.ch15.baselines import (
    candidates,
    exact_match,
    first_name,
    linked_paragraphs,
    name_in_linked_paragraphs,
    random_name,
    surfaces,
)
from plmlab.world.datasets.long_documents import long_documents
from plmlab.world.datasets.tokenizer import world_tokenizer


@pytest.fixture(scope="module")
def documents(full):
    return list(islice(long_documents(full, "test", 1, lengths=(500, 700)), 12))


def words(document, span):
    return world_tokenizer().tokens(document.said(span))


def test_surfaces_are_written_as_in_articles(full):
    def read(kind):
        return {" ".join(world_tokenizer().tokens(name)) for name in surfaces(full, kind)}
    assert {"apples", "dumplings"} <= read("food") and "baker" in read("craft") and "1990" in read("year")
    assert read("town") == {town.name for town in full.facts.kind("town")}


def test_the_answer_is_a_candidate_and_a_name_of_the_question_is_none(full, documents):
    for document in documents:
        found = candidates(full, document)
        assert document.answer in found and found == sorted(found)
        kind = document.question.answer_entity.split(":")[0]
        assert all(document.said(span) in surfaces(full, kind) for span in found)
        assert first_name(full, document) == found[0]
        assert random_name(full, document) == random_name(full, document) in found
        text = f" {document.question.text} "
        assert not any(f" {' '.join(words(document, span))} " in text for span in found)


def test_links_lead_from_the_named_paragraph_to_both_supports(documents):
    for document in documents:
        found = linked_paragraphs(document)
        assert all(document.paragraphs[support.paragraph] in found for support in document.supports)
        assert 2 <= len(found) < len(document.paragraphs)


def test_the_rule_answers_from_a_linked_paragraph(full, documents):
    """It is often correct, though it does not know which relation the question asks for."""
    for document in documents:
        span = name_in_linked_paragraphs(full, document)
        assert span in candidates(full, document)
        assert any(start <= span[0] < end for start, end in linked_paragraphs(document))
    assert exact_match(full, documents, name_in_linked_paragraphs) >= 0.25


def test_scores_of_perfect_and_empty_predictions(full, documents):
    assert exact_match(full, documents, lambda _, document: document.answer) == 1
    assert exact_match(full, documents, lambda *_: None) == 0
