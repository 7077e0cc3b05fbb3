"""Questions of chapter 17 need as many documents as they say, by brute force over the blocks."""

from itertools import combinations

import pytest
from tiny_rag import CORPUS, VOCAB, WORLD

from plmlab.chapters.ch17.questions import KINDS, ONE_DOCUMENT, ONE_FACT, PER_KIND, TWO_DOCUMENTS, questions
from plmlab.world.datasets.fact_documents import TRAINING
from plmlab.world.datasets.tokenizer import ids
from plmlab.world.questions.chains import find_words


@pytest.mark.parametrize("kind", KINDS)
def test_a_question_needs_as_many_documents_as_its_kind(kind: str) -> None:
    some = questions(WORLD)[kind]
    assert len(some) == PER_KIND == len({one.words for one in some})
    for one in some:
        assert one.kind == kind and len(one.parts) == len(one.told) == (1 if kind == ONE_FACT else 2)
        assert VOCAB.need("unk") not in ids(one.words) and one.words[-1] == "?" and one.words.count("?") == 1
        stating = [{number for number in range(len(CORPUS.blocks)) if any(
            CORPUS.plain(fact) == CORPUS.plain(part.facts[0])
            for sentence in CORPUS.sentences(number) for fact in sentence.facts)} for part in one.parts]
        for part, told, stated in zip(one.parts, one.told, stating, strict=True):
            assert told <= stated and find_words(one.answer, part.answer) is not None
            assert all(find_words(f"{CORPUS.blocks[number].title} {CORPUS.blocks[number].text}".split(), part.answer)
                       is not None for number in told)
        assert any(one.supported([number]) for number in one.gold) == (kind != TWO_DOCUMENTS)
        assert any(one.supported(pair) for pair in combinations(sorted(one.gold), 2)) or len(one.gold) == 1
        assert not one.supported([number for number in range(len(CORPUS.blocks)) if number not in one.told[-1]])


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
