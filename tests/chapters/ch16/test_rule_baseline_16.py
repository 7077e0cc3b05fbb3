"""The baseline without a network predicts what one can see to be the first name of the right kind."""

from plmlab.chapters.ch16.corpora import Statement, contains_answer, corpus
from plmlab.world.datasets.fact_documents import TEST_WORLDS
from plmlab.world.datasets.tokenizer import ids
from studies.ch16.rule_baseline import rule_baseline

TOLD = corpus(TEST_WORLDS[0])


def of(text: str) -> Statement:
    return next(one for one in TOLD.statements if " ".join(one.cloze.masked) == text)


def block(title: str, words: str) -> int:
    return next(number for number, one in enumerate(TOLD.blocks) if one.title == title and words in one.text)


def test_the_first_other_name_of_its_kind() -> None:
    """The founder is the only person whom the block names."""
    founder, firm = of("[MASK] [MASK] founded Walsh Motors in 1955 ."), block("Walsh Motors", "founded it in 1955")
    assert rule_baseline(TOLD, founder, [firm]) == founder.answer == tuple(ids(("Judith", "Grant")))
    assert contains_answer(TEST_WORLDS[0], (firm,), founder.cloze.answer)


def test_a_name_of_the_statement_is_passed_over() -> None:
    married = of("Paul Tanner is married to [MASK] [MASK] .")
    told, other = block("Paul Tanner", "married to Vera Thorne"), block("Paul Tanner", "is a potter")
    assert rule_baseline(TOLD, married, [told]) == married.answer
    assert rule_baseline(TOLD, married, [other]) is None
    assert not contains_answer(TEST_WORLDS[0], (other,), married.cloze.answer)


def test_of_several_documents_the_first_that_has_a_name_counts() -> None:
    married = of("Paul Tanner is married to [MASK] [MASK] .")
    told, other = block("Paul Tanner", "married to Vera Thorne"), block("Paul Tanner", "is a potter")
    third = block("Walsh Motors", "founded it in 1955")
    assert rule_baseline(TOLD, married, [other, told, third]) == married.answer
    assert rule_baseline(TOLD, married, [third, told]) == tuple(ids(("Judith", "Grant")))
    assert rule_baseline(TOLD, married, []) is None


def test_it_is_often_right_where_the_right_document_spells_the_answer_and_not_always() -> None:
    asked = [(one, min(one.tell)) for one in TOLD.statements[:300]
             if contains_answer(TEST_WORLDS[0], (min(one.tell),), one.cloze.answer)]
    right = sum(rule_baseline(TOLD, one, [number]) == one.answer for one, number in asked)
    assert len(asked) / 2 < right < len(asked)
