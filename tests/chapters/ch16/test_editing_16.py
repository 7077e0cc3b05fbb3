"""Documents are edited where they tell the fact, and nowhere else."""

from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from tiny_realm import scattered

from plmlab.chapters.ch16.corpora import corpus
from plmlab.chapters.ch16.editing import KINDS, Edit, edit, outcome
from plmlab.chapters.ch16.presets import FOUNDER
from plmlab.checkpoints import load
from plmlab.retrieval import NULL
from plmlab.world.datasets.fact_documents import TEST_WORLDS
from plmlab.world.datasets.tokenizer import ids
from studies.ch16 import edited, memorization
from studies.ch16.edited import RETRIEVED, edit_outcomes, edits, proportions

TOLD = corpus(TEST_WORLDS[0])


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


def test_the_three_outcomes() -> None:
    statement = next(one for one in TOLD.statements if " ".join(one.cloze.words) == FOUNDER)
    new = edit(TOLD, statement, Random(0))
    assert new is not None
    third = next(one.answer for one in TOLD.statements if one.answer not in (statement.answer, new.answer))
    assert [outcome(answer, statement, new) for answer in (new.answer, statement.answer, third)] == [*KINDS]


class Scripted:
    """A stand-in for REALM with its documents: what it answers before and after an edit, and whether it then reads an
    edited block, is written down for each statement."""

    def __init__(self, script: dict[tuple[int, ...], tuple[bool, str, bool]]) -> None:
        self.script, self.edit = script, Edit({}, ())

    def read(self, queries: list[Any]) -> list[Any]:
        """Before an edit."""
        (query,) = queries
        correct, kind, retrieved = self.script[query.tokens]
        statement = next(one for one in TOLD.statements if one.tokens == query.tokens)
        answers = {"follows": self.edit.answer, "old answer": statement.answer, "another answer": (9, 9, 9, 9)}
        answer = answers[kind] if self.edit.blocks else statement.answer if correct else (9, 9, 9, 9)
        return [SimpleNamespace(answers=(answer,), numbers=(NULL, *([min(self.edit.blocks)] if self.edit.blocks and
                                                                    retrieved else [])))]

    def after(self, new: Edit) -> "Scripted":
        """The same with an edit applied."""
        other = Scripted(self.script)
        other.edit = new
        return other


def test_answers_are_counted_by_outcome_with_and_without_an_edited_block(monkeypatch: pytest.MonkeyPatch) -> None:
    some = tuple(statement for statement, _ in edits(TEST_WORLDS[0], tuple(TOLD.statements[:60]), everywhere=True))
    some = tuple({one.tokens: one for one in some}.values())[:7]
    script = [(True, "follows", True), (True, "follows", True), (True, "old answer", False),
              (True, "old answer", False), (True, "old answer", True), (True, "another answer", True),
              (False, "old answer", True)]
    model = Scripted({one.tokens: line for one, line in zip(some, script, strict=True)})
    monkeypatch.setattr(edited, "with_corpus", lambda model, world: model)
    monkeypatch.setattr(Edit, "applied", lambda new, lookup: lookup.after(new))
    counts = edit_outcomes(model, TEST_WORLDS[0], some, everywhere=True)  # type: ignore[arg-type]
    assert {name: count for name, count in counts.items() if count} == {
        "editable": 7, "right": 6, "found": 4, "follows": 2, "old answer": 3, "another answer": 1,
        RETRIEVED.format("follows"): 2, RETRIEVED.format("old answer"): 1, RETRIEVED.format("another answer"): 1}
    assert proportions(counts) == {"follows": 1 / 3, "old answer": 1 / 2, "another answer": 1 / 6, "found": 2 / 3,
                                   "editable": 7, "right": 6,
                                   "all": {"follows": 2, "old answer": 3, "another answer": 1},
                                   "retrieved": {"follows": 2, "old answer": 1, "another answer": 1}}


def test_every_answer_that_was_right_has_one_fate_and_most_follow() -> None:
    model, _ = load("realm-world")
    some = tuple(TOLD.statements[:100])
    counts = edit_outcomes(model, TEST_WORLDS[0], some, everywhere=True)
    assert counts["editable"] == len(edits(TEST_WORLDS[0], some, True)) > counts["right"] > 8
    assert sum(counts[kind] for kind in KINDS) == counts["right"] and counts["follows"] > counts["right"] / 3
    assert sum(counts[RETRIEVED.format(kind)] for kind in KINDS) == counts["found"] <= counts["right"]
    assert sum(proportions(counts)[kind] for kind in KINDS) == pytest.approx(1)


def test_a_world_is_memorized_from_its_training_facts_alone() -> None:
    trained, held_out = memorization.statements(True), memorization.statements(False)
    assert {one.cloze.split for one in trained} == {"train"} and {one.cloze.split for one in held_out} == {"test"}
    assert len(trained) + len(held_out) == len(TOLD.statements)


def test_what_is_trained_on_to_memorize(monkeypatch: pytest.MonkeyPatch) -> None:
    """The batches hold training facts, and the two test sets are not exchanged."""
    seen: list[Any] = []
    monkeypatch.setattr(memorization, "initialized", lambda name: scattered())
    monkeypatch.setattr(memorization, "fit_model", lambda model, batches, lr, **options: seen.append(batches))
    monkeypatch.setattr(memorization, "evaluated", lambda model, some: [one.cloze.split for one in some])
    assert {name: {*splits} for name, splits in memorization.memorized(3e-4, 0).items()} == {
        "trained": {"train"}, "held out": {"test"}}
    facts = seen[0].training_sets(3)
    assert {one.cloze.split for one in (*facts.statements, *facts.quoted)} == {"train"}
