"""Questions of chapter 17 need as many documents as they say, by brute force over the blocks; a second index changes
the facts that are asked for, and no others."""

from itertools import combinations

import pytest

from plmlab.chapters.ch17.other_index import other_index
from plmlab.chapters.ch17.questions import (
    KINDS,
    ONE_DOCUMENT,
    ONE_FACT,
    PER_KIND,
    TWO_DOCUMENTS,
    documents,
    questions,
)
from plmlab.world.datasets.fact_documents import TEST_WORLDS, TRAINING
from plmlab.world.datasets.tokenizer import ids, world_tokenizer
from plmlab.world.questions.chains import find_words

WORLD = TEST_WORLDS[0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_question_needs_as_many_documents_as_its_kind(kind: str) -> None:
    corpus, unknown = documents(WORLD), world_tokenizer().vocab.need("unk")
    some = questions(WORLD)[kind]
    assert len(some) == PER_KIND == len({one.words for one in some})
    for one in some:
        assert one.kind == kind and len(one.parts) == len(one.told) == (1 if kind == ONE_FACT else 2)
        assert unknown not in ids(one.words) and one.words[-1] == "?" and one.words.count("?") == 1
        stating = [{number for number in range(len(corpus.blocks)) if any(
            corpus.plain(fact) == corpus.plain(part.facts[0])
            for sentence in corpus.sentences(number) for fact in sentence.facts)} for part in one.parts]
        for part, told, stated in zip(one.parts, one.told, stating, strict=True):
            assert told <= stated and find_words(one.answer, part.answer) is not None
            assert all(find_words(f"{corpus.blocks[number].title} {corpus.blocks[number].text}".split(), part.answer)
                       is not None for number in told)
        assert any(one.supported([number]) for number in one.gold) == (kind != TWO_DOCUMENTS)
        assert any(one.supported(pair) for pair in combinations(sorted(one.gold), 2)) or len(one.gold) == 1
        assert not one.supported([number for number in range(len(corpus.blocks)) if number not in one.told[-1]])


def test_the_answer_joins_those_of_the_parts() -> None:
    for kind in (ONE_DOCUMENT, TWO_DOCUMENTS):
        for one in questions(WORLD)[kind][:20]:
            first, second = (part.answer for part in one.parts)
            assert one.answer == (*first, "and", *second) and first != second
            assert one.words == (*one.parts[0].words[:-1], "and", *one.parts[1].words)


def test_training_worlds_answer_the_same_words_differently() -> None:
    asked = [{one.words: one.answer for one in questions(world)[ONE_FACT]} for world in (WORLD, *TRAINING[:4])]
    shared = [(asked[0][words], other[words]) for other in asked[1:] for words in {*asked[0]} & {*other}]
    assert len(shared) > 3 and sum(a == b for a, b in shared) < len(shared) / 3


def test_another_index_differs_in_the_facts_that_are_asked_for() -> None:
    corpus, other = documents(WORLD), other_index(WORLD)
    assert len(other.questions) == len(other.answers) > 20
    changed = {number for number, (a, b) in enumerate(zip(corpus.blocks, other.blocks, strict=True)) if a != b}
    stating = [corpus.tellers[corpus.plain(one.parts[0].facts[0])] for one in other.questions]
    assert changed == set().union(*stating) and sum(map(len, stating)) == len(changed)
    for one, answer, numbers in zip(other.questions, other.answers, stating, strict=True):
        assert answer != one.answer and len(answer) == len(one.answer)
        assert all(find_words(other.blocks[number].text.split(), answer) is not None for number in numbers)
