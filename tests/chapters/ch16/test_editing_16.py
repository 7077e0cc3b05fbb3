"""Documents are edited where they tell the fact, and nowhere else."""

from random import Random

import pytest

from plmlab.chapters.ch16.corpora import TEST_WORLDS, Statement, corpus
from plmlab.chapters.ch16.editing import KINDS, edit
from plmlab.checkpoints import load
from plmlab.world.datasets.tokenizer import ids
from studies.ch16.edited import edits, followed, shares

TOLD = corpus(TEST_WORLDS[0])


def born(name: str) -> Statement:
    return next(one for one in TOLD.statements if one.cloze.fact.relation == "born_in" and one.cloze.words[:2] ==
                tuple(name.split()) and len(one.cloze.answer) == 1 and "born" in one.cloze.words)


def test_only_the_telling_words_change() -> None:
    checked = 0
    for statement in TOLD.statements[:150]:
        made = edit(TOLD, statement, Random(0))
        if made is None:
            continue
        fact = TOLD.plain(statement.cloze.fact)
        assert set(made.blocks) == TOLD.tellers[fact] and made.answer != statement.answer
        assert len(made.answer) == len(statement.answer)
        for number, block in made.blocks.items():
            was = TOLD.blocks[number]
            assert (block.title, block.first, len(block.sentences)) == (was.title, was.first, len(was.sentences))
            for sentence, old, new in zip(TOLD.sentences(number), was.sentences, block.sentences, strict=True):
                states = fact in map(TOLD.plain, sentence.facts)
                differing = [(a, b) for a, b in zip(ids(old.split()), ids(new.split()), strict=True) if a != b]
                assert bool(differing) == states and len(differing) <= len(statement.answer)
                assert {a for a, _ in differing} <= {*statement.answer} and {b for _, b in differing} <= {*made.answer}
        checked += 1
    assert checked > 20


def test_where_the_text_does_not_say_it_nothing_can_be_edited() -> None:
    """"She was born in …" does not spell the name."""
    hidden = [one for one in TOLD.statements if one.cloze.entity == one.cloze.fact.subject]
    assert any(edit(TOLD, one, Random(0)) is None for one in hidden)


def test_one_of_several() -> None:
    some = edits(TEST_WORLDS[0], tuple(TOLD.statements[:300]), everywhere=False)
    assert len(some) > 20
    for statement, made in some:
        assert len(statement.tell) > 1 and len(made.blocks) == 1 and set(made.blocks) <= statement.tell


def test_every_answer_that_was_right_has_one_fate_and_most_follow() -> None:
    model, _ = load("realm-world")
    some = tuple(TOLD.statements[:100])
    told = followed(model, TEST_WORLDS[0], some, everywhere=True)
    assert told["asked"] == len(edits(TEST_WORLDS[0], some, True)) > told["right"] > 8
    assert sum(told[kind] for kind in KINDS) == told["right"] and told["follows"] > told["right"] / 3
    assert sum(shares(told)[kind] for kind in KINDS) == pytest.approx(1)
