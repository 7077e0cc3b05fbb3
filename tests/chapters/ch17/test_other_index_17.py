"""The second index of a world: what it changes, by brute force over sentences, and its exact match by hand."""

import pytest
from tiny_rag import CORPUS, WORLD, asked, encoder, rag

from plmlab.chapters.ch17 import other_index as module
from plmlab.chapters.ch17.other_index import other_index, swapped
from plmlab.chapters.ch17.questions import ONE_FACT, documents, questions
from plmlab.chapters.ch17.training import with_documents
from plmlab.models.rag import RetrieveAndGenerate
from plmlab.retrieval import Retrieved
from plmlab.world.datasets.fact_documents import TEST_WORLDS
from plmlab.world.questions.bank import PLURAL

pytestmark = pytest.mark.usefixtures("one_thread")
OTHER = other_index(WORLD)


@pytest.mark.parametrize("world", [WORLD, TEST_WORLDS[2]])
def test_new_answers_stand_for_the_old_ones_in_sentences_that_state_the_facts(world: int) -> None:
    """They have the same kind and gender; nothing else differs, and at most one fact per block."""
    corpus, other = documents(world), other_index(world)
    facts, kinds = [corpus.plain(one.parts[0].facts[0]) for one in other.questions], set[str]()
    changes = {fact: (one.answer, new) for fact, one, new in zip(facts, other.questions, other.answers, strict=True)}
    for fact, (before, after) in changes.items():
        old = corpus.world.facts[str(other.questions[facts.index(fact)].parts[0].answer_entity)]
        new = [entity for entity in corpus.world.facts.entities.values()
               if entity.words == after and entity.kind == old.kind]
        assert after != before == old.words and {*other.questions} <= {*questions(world)[ONE_FACT]}
        assert {entity.traits.get("gender") for entity in new} == {old.traits.get("gender")} and old.kind not in PLURAL
        kinds.add(old.kind)
    assert len(facts) > 20 and len(kinds) >= 5
    for number, (block, changed) in enumerate(zip(corpus.blocks, other.blocks, strict=True)):
        assert (changed.title, changed.first) == (block.title, block.first) and sum(
            number in corpus.tellers[fact] for fact in facts) <= 1
        for sentence, old, new in zip(corpus.sentences(number), block.sentences, changed.sentences, strict=True):
            for before, after in [changes[fact] for fact in map(corpus.plain, sentence.facts) if fact in changes]:
                assert f" {old} ".count(f" {' '.join(before)} ") == 1
                assert f" {' '.join(before)} " not in f" {changed.title} {changed.text} "
                old = old.replace(" ".join(before), " ".join(after))
            assert new == old


def test_exact_match_with_both_indexes_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fake system answers 12 questions as its documents say, and 3 as the others; with the others, 10 as they say."""
    whole, old, new = with_documents(rag(), encoder(5), WORLD), [one.answer for one in OTHER.questions], OTHER.answers
    same = [a == b for a, b in zip(CORPUS.blocks, OTHER.blocks, strict=True)]

    def answers(system: RetrieveAndGenerate, some: tuple, found: Retrieved) -> list[tuple[str, ...]]:
        assert found.lists() == system.retrieve([*map(asked, some)]).lists() and system.model is whole.model
        if system.corpus.documents == dict(enumerate(CORPUS.blocks)):
            return [*old[:12], *new[12:15], *[("?",)] * (len(old) - 15)]
        before, after = (one.corpus.index.vectors(range(len(same))) for one in (whole, system))
        assert before.isclose(after, atol=1e-3, rtol=0).all(1).tolist() == same
        assert system.corpus.documents == dict(enumerate(OTHER.blocks))
        return [*new[:10], *old[10:]]

    monkeypatch.setattr(module, "answers", answers)
    found = swapped(lambda world: whole, [WORLD, WORLD])
    assert [[found[index][facts] * len(old) for facts in ("original", "other")] for index in ("original", "other")] == [
        pytest.approx([12, 3]), pytest.approx([len(old) - 10, 10])]
