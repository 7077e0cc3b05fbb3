"""Changed documents, sentence by sentence, by replacing the names in the text."""

import pytest

from plmlab.world.datasets.changed_documents import changed_documents
from plmlab.world.datasets.fact_worlds import fact_world
from plmlab.world.facts.relations import Triple

WORLD = fact_world(1)
DOCUMENTS, FACTS = WORLD.documents, WORLD.world.facts


@pytest.mark.parametrize("removed", [False, True])
@pytest.mark.parametrize("number", [0, 1])
def test_each_sentence_is_kept_rewritten_or_deleted(number: int, removed: bool) -> None:
    """A kept sentence states no changed fact; a rewritten one differs in the new names only; a deleted one states a
    changed fact. Each changed fact is stated after the change, and none after the removal."""
    changes, counts, stated = WORLD.changes[number], [0, 0, 0], set[Triple]()
    made = changed_documents(DOCUMENTS, dict.fromkeys(changes) if removed else changes)
    plain = {DOCUMENTS.plain(fact): fact for fact in changes}
    for at, (block, after) in enumerate(zip(DOCUMENTS.blocks, made.blocks, strict=True)):
        left = [*after.sentences]
        assert (block.page, block.first) == (after.page, after.first)
        for text, sentence in zip(block.sentences, DOCUMENTS.sentences(at), strict=True):
            touched, new = {plain[fact] for fact in map(DOCUMENTS.plain, sentence.facts) if fact in plain}, f" {text} "
            for fact in touched:
                new = new.replace(f" {FACTS[fact.object].name} ", f" {changes[fact].name} ")
            kind = 0 if not touched else 1 if not removed and left and left[0] == new.strip() != text else 2
            assert kind == 2 or left.pop(0) == new.strip()
            counts[kind] += 1
            stated |= touched if kind == 1 else set()
        assert not left
    assert counts[0] > 100 and counts[2] > 10 and (counts[1] > 40) == (not removed)
    assert stated == (set() if removed else {*changes})
    assert {one.fact for one in WORLD.test} - {*changes} <= {*made.tellers} and stated <= {*made.tellers}
    assert changed_documents(DOCUMENTS, {}).blocks == tuple(DOCUMENTS.blocks)
