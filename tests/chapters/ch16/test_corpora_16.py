"""The worlds of chapter 16: blocks hold what their articles do, and statements can be filled in from the blocks
that are named."""

from itertools import islice

import pytest

from plmlab.chapters.ch16.corpora import Corpus, corpus
from plmlab.world.datasets.fact_documents import DEVELOPMENT, LONGEST, SEEDS, TEST_WORLDS, TRAINING, known_seeds
from plmlab.world.datasets.tokenizer import ids, world_tokenizer


@pytest.fixture(scope="module")
def told() -> Corpus:
    return corpus(TEST_WORLDS[0])


def test_the_seeds_are_the_first_whose_words_are_known() -> None:
    assert list(islice(known_seeds(), 2)) == [*SEEDS[:2]] == [1, 3], "the words of world 2 are not"
    assert {*TEST_WORLDS} | {DEVELOPMENT} | {*TRAINING} == {*SEEDS}
    assert len({*SEEDS}) == len(TEST_WORLDS) + 1 + len(TRAINING)


def test_blocks_hold_every_sentence_once_and_are_not_too_long(told: Corpus) -> None:
    whole: dict[str, list[str]] = {}
    for number, block in enumerate(told.blocks):
        assert 3 + len(ids(block.title.split())) + len(ids(block.text.split())) <= LONGEST
        assert [" ".join(one.words) for one in told.sentences(number)] == [*block.sentences]
        whole.setdefault(block.title, []).extend(block.sentences)
    assert whole == {" ".join(article.title): [" ".join(one.words) for one in article.sentences]
                     for article in told.world.articles("train")}


def test_who_tells_a_fact_states_it_and_nobody_else_does(told: Corpus) -> None:
    for fact, numbers in told.tellers.items():
        assert numbers == {number for number in range(len(told.blocks))
                           if fact in {told.plain(one) for each in told.sentences(number) for one in each.facts}}


def test_statements_are_filled_in_from_elsewhere(told: Corpus) -> None:
    vocab = world_tokenizer().vocab
    assert {one.cloze.split for one in told.statements} == {"train", "test"}
    assert len(told.quoted) > 40 and all(one.source not in one.tell for one in told.quoted)
    for one in told.statements:
        assert one.tell and one.answer == tuple(ids(one.cloze.answer)) and vocab.need("unk") not in one.tokens
        if one.source is not None:
            assert " ".join(one.cloze.words) in told.blocks[one.source].text
            assert one.query().excluded == (one.source,) and one.query(exclude=False).excluded == ()


def test_worlds_share_words_and_names_and_disagree_on_facts() -> None:
    """Where two worlds have a year, a town or an owner for the same name, they hardly ever have the same."""
    one, other = ({(fact.subject, fact.relation): fact.object for fact in corpus(seed).world.facts.triples}
                  for seed in TEST_WORLDS[:2])
    common = {*one} & {*other}
    assert len(common) >= 10 and sum(one[key] == other[key] for key in common) <= len(common) / 4
