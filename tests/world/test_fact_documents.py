"""Documents that state the facts of a world: blocks hold what the articles do, and facts are edited where they are
stated and nowhere else."""

from itertools import islice
from random import Random

import pytest

from plmlab.world.datasets.fact_documents import (
    DEVELOPMENT,
    LONGEST,
    SEEDS,
    TEST_WORLDS,
    TRAINING,
    FactDocuments,
    known_seeds,
)
from plmlab.world.datasets.tokenizer import ids
from plmlab.world.world import World


@pytest.fixture(scope="module")
def told() -> FactDocuments:
    return FactDocuments(World("medium", TEST_WORLDS[0]))


def test_the_seeds_are_the_first_whose_words_are_known() -> None:
    assert list(islice(known_seeds(), 2)) == [*SEEDS[:2]] == [1, 3], "the words of world 2 are not"
    assert {*TEST_WORLDS} | {DEVELOPMENT} | {*TRAINING} == {*SEEDS}
    assert len({*SEEDS}) == len(TEST_WORLDS) + 1 + len(TRAINING)


def test_blocks_hold_every_sentence_once_and_are_not_too_long(told: FactDocuments) -> None:
    whole: dict[str, list[str]] = {}
    for number, block in enumerate(told.blocks):
        assert 3 + len(ids(block.title.split())) + len(ids(block.text.split())) <= LONGEST
        assert [" ".join(one.words) for one in told.sentences(number)] == [*block.sentences]
        whole.setdefault(block.title, []).extend(block.sentences)
    assert whole == {" ".join(article.title): [" ".join(one.words) for one in article.sentences]
                     for article in told.world.articles("train")}


def test_who_tells_a_fact_states_it_and_nobody_else_does(told: FactDocuments) -> None:
    for fact, numbers in told.tellers.items():
        assert numbers == {number for number in range(len(told.blocks))
                           if fact in {told.plain(one) for each in told.sentences(number) for one in each.facts}}


def test_a_fact_is_edited_where_it_is_stated(told: FactDocuments) -> None:
    made = 0
    for fact in sorted(told.tellers, key=str)[:60]:
        entity = told.world.facts[fact.object]
        edited = told.edited(fact, entity, entity.words, Random(0))
        if edited is None:
            continue
        assert {*edited.blocks} == told.tellers[fact] and len(edited.words) == len(entity.words) != 0
        for number, block in edited.blocks.items():
            assert edited.words != entity.words and " ".join(edited.words) in block.text != told.blocks[number].text
            for sentence, old, new in zip(told.sentences(number), told.blocks[number].sentences, block.sentences,
                                          strict=True):
                assert (old != new) == (fact in map(told.plain, sentence.facts))
        made += 1
    assert made > 10


def test_worlds_share_words_and_names_and_disagree_on_facts() -> None:
    """Where two worlds have a year, a town or an owner for the same name, they hardly ever have the same."""
    one, other = ({(fact.subject, fact.relation): fact.object for fact in World("medium", seed).facts.triples}
                  for seed in TEST_WORLDS[:2])
    common = {*one} & {*other}
    assert len(common) >= 10 and sum(one[key] == other[key] for key in common) <= len(common) / 4
