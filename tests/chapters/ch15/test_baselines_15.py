"""Baselines on long documents, against documents read by hand and by brute force."""

from itertools import islice

import pytest

from plmlab.chapters.ch15.baselines import (
    best_paragraphs,
    best_sentences,
    candidates,
    exact_match,
    first_name,
    grouped,
    linked_paragraphs,
    name_in_nearest_sentence,
    random_name,
    recall_of_both,
    said,
    surfaces,
    two_step_paragraphs,
)
from plmlab.world.datasets.long_documents import long_documents
from plmlab.world.datasets.tokenizer import world_tokenizer


@pytest.fixture(scope="module")
def documents(full):
    return list(islice(long_documents(full, "test", 1, lengths=(500, 700)), 12))


def words(document, span):
    return world_tokenizer().tokens(said(document, span))


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
        assert all(said(document, span) in surfaces(full, kind) for span in found)
        assert first_name(full, document) == found[0]
        assert random_name(full, document) == random_name(full, document) in found
        text = f" {document.question.text} "
        assert not any(f" {' '.join(words(document, span))} " in text for span in found)


def test_bm25_ranks_a_sentence_with_rare_words_of_the_question_first(full, documents):
    for document in documents:
        (start, end), = best_sentences(1)(document)
        assert (start, end) in document.tokens.sentences
        assert {*words(document, (start, end))} & {*document.question.words}
        found = name_in_nearest_sentence(full, document)
        assert found is None or start <= found[0] < found[1] <= end
        assert best_paragraphs(3)(document)[:2] == best_paragraphs(2)(document)
        assert two_step_paragraphs(3)(document)[0] == best_paragraphs(1)(document)[0]
        assert len({*two_step_paragraphs(3)(document)}) == 3


def test_links_lead_from_the_named_paragraph_to_both_supports(documents):
    for document in documents:
        found = linked_paragraphs(document)
        assert all(document.paragraphs[support.paragraph] in found for support in document.supports)
        assert 2 <= len(found) < len(document.paragraphs)


def test_scores_of_perfect_and_empty_predictions(full, documents):
    assert exact_match(full, documents, lambda _, document: document.answer) == 1
    assert exact_match(full, documents, lambda *_: None) == 0
    assert recall_of_both(documents, lambda document: document.paragraphs) == 1
    assert recall_of_both(documents, lambda document: [support[:2] for support in document.supports]) == 1
    assert recall_of_both(documents, lambda document: [document.supports[0][:2]]) == 0


def test_documents_are_grouped_by_their_upper_bound(documents):
    found = grouped(documents, lambda document: len(document.tokens), (600, 650, 1000))
    assert sum(map(len, found.values())) == len(documents)
    assert all(600 <= len(one.tokens) < 650 for one in found[650]) and found[600]
