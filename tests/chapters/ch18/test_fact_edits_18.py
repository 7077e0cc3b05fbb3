"""FaE on changed facts: training batches, answers, what they follow, and the study at toy size."""

from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch

from plmlab.chapters.ch18.fact_edits import FOLLOWS, OLD, OTHER, answers, edited, other_wording
from plmlab.chapters.ch18.fact_training import MANY, ONE, FactBatches, build
from plmlab.checkpoints import load
from plmlab.example import IGNORE, Batch
from plmlab.models.dual_encoder import DualEncoderConfig
from plmlab.models.fae import fact_memory
from plmlab.models.realm import REALM
from plmlab.objectives.entity_mentions import masked_mention
from plmlab.recipes.study import NO_EFFECT
from plmlab.world.datasets.fact_worlds import UNSEEN, fact_world
from plmlab.world.datasets.tokenizer import ids, world_tokenizer
from studies.ch18 import bundled, edited_documents, edits

pytestmark = pytest.mark.usefixtures("one_thread")
WORLD = fact_world(1)
FACTS, KEYS, VOCAB = WORLD.world.facts, [*WORLD.ids], world_tokenizer().vocab


def scattered() -> Any:
    """A FaE with weights for which statements have different answers and facts."""
    model, generator = build(WORLD, 0).eval(), torch.Generator().manual_seed(1)
    for weight in (each for each in model.parameters() if each.ndim == 2):
        torch.nn.init.normal_(weight, std=0.3, generator=generator)
    return model


@pytest.mark.parametrize("worlds", [ONE, MANY])
def test_texts_and_memory_of_a_batch_agree(worlds: str) -> None:
    """Names have the words of their links, and masked ones often have a fact about a visible one, however renamed."""
    batch, facts, supported = FactBatches(WORLD, worlds, 0.0, 0)(0), WORLD.memory(without={UNSEEN}), 0
    table = {(s, r): {*row} - {-1} for s, r, row in zip(*(each.tolist() for each in vars(batch.facts).values()),
                                                        strict=True)}
    moved = sum(table.get(one.key) != {*one.objects} for one in facts)
    assert len(table) == len(facts) and (moved > 50 if worlds == MANY else moved == 0)
    for tokens, targets, links in zip(batch.inputs.tokens, batch.targets, batch.entities, strict=True):
        for start in (links != IGNORE).nonzero()[:, 0].tolist():
            name = ids(FACTS[KEYS[int(links[start])]].words)
            assert torch.where(targets == IGNORE, tokens, targets)[start:start + len(name)].tolist() == name
        masked = {*links[(targets != IGNORE) & (links != IGNORE)].tolist()}
        visible = {*links[(targets == IGNORE) & (links != IGNORE)].tolist()}
        assert len(masked) == 1
        supported += any(subject in visible and masked <= objects for (subject, _), objects in table.items())
    assert supported > 8 and len(FactBatches(WORLD, worlds, 1.0, 0)(0).facts) == 0


def test_answers_are_those_of_each_statement_alone() -> None:
    model, facts, changes = scattered(), WORLD.memory(), WORLD.changes[0]
    some = [one for one in WORLD.test if one.fact in changes and other_wording(WORLD, one)][:25]
    before: list[Any] = [other_wording(WORLD, one, changes[one.fact]) for one in some]
    found = answers(model, WORLD, some, facts, before)
    for one, first, answer in zip(some, before, found, strict=True):
        said = f" {' '.join(world_tokenizer().tokens(first.text))} "
        known = [f" {each.sentence.text} ".replace(f" {FACTS[one.fact.object].name} ", f" {changes[one.fact].name} ")
                 for each in WORLD.statements[WORLD.documents.plain(one.fact)]]
        assert said in known and said != f" {one.sentence.text} "
        text, links = WORLD.linked(one.sentence)
        at = len(first.links) + one.mention
        example = masked_mention(first.text + text, vocab=VOCAB, rng=Random(0), links=first.links + links, select=at)
        alone = model.answers(Batch.of([example], pad=VOCAB.need("pad")), fact_memory(model, facts))
        best = [facts[number] for number in alone.facts.numbers[at, 1:].tolist()]
        assert answer.entity.key == KEYS[int(alone.logits[at].argmax())] and [*answer.facts] == best
        assert answer.null == pytest.approx(float(alone.facts.probs()[at, 0]), abs=1e-5)
        assert answer.found(best[2].key, 3) and not answer.found(best[2].key, 2)
    assert len({one.entity.key for one in found}) > 3
    assert all(one.null == 1 and not one.facts for one in answers(model, WORLD, some, []))


def test_what_answers_follow_by_hand() -> None:
    """Of one set of changes, one answer was wrong, one stays and one is another; of the unrelated answers, one is lost
    and one is not asked for. After a removal, one old answer stays."""
    first, second = WORLD.changes
    wrong, stays, other = [i for i, one in enumerate(WORLD.test) if one.fact in first][:3]
    lost, silent = [i for i, one in enumerate(WORLD.test) if one.fact not in first | second][:2]
    true = [FACTS[one.fact.object].words for one in WORLD.test]

    def answered(changes: Any) -> list[Any]:
        new = {fact: entity.words if entity else ("gone",) for fact, entity in changes.items()}
        said: list[Any] = [new.get(one.fact, word) for one, word in zip(WORLD.test, true, strict=True)]
        said[wrong], said[silent], said[lost] = ("wrong",), None, ("lost",) if changes else true[lost]
        if {*changes} == {*first}:
            said[stays], said[other] = true[stays], ("else",)
        return said

    found = edited(WORLD, answered, lambda one: ("all", "first") if one.fact in first else ("all",))
    n, rest = len(first) - 1, 2 * (len(WORLD.test) - 2) - len(first) - len(second) + 1
    assert (found["first: changed"], found["all: changed"]) == (n, n + len(second))
    assert [found[f"first: {kind}"] * n for kind in (FOLLOWS, OLD, OTHER)] == pytest.approx([n - 2, 1, 1])
    assert found["first: removed, old answer"] * n == pytest.approx(1) == found["first: accuracy"] * (n + 1) - n + 1
    assert found["all: unrelated"] * rest == pytest.approx(rest - 2) == found["all: removed, unrelated"] * rest


def test_the_study_at_toy_size_and_with_a_look_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader of the memory follows all changes, keeps no removed answer, and never the text's."""
    run = edits.STUDY.learned(MANY, edits.LEFT_OUT, updates=2, lr=1e-3, seed=0, show=False)
    assert len(run.history.losses) == 2 and 0 <= edits.development_score(run) < 0.5

    def look_up(model: Any, world: Any, statements: Any, facts: Any, before: Any = None) -> list[Any]:
        memory, none = {one.key: one for one in facts}, facts[0]._replace(objects=(0,))
        found = [memory.get(world.key(one.fact), none) for one in statements]
        return [edits.Answer(world.entities[one.objects[0]], float(one is none), (one,)) for one in found]
    monkeypatch.setattr(edits, "answers", look_up)
    found = edits.test(run)
    assert found["conflicts"] > 60 and edits.baselines(1)["look-up"] == edits.development_score(run) == 1
    for name, value in {"all: accuracy": 1, f"all: {FOLLOWS}": 1, "all: new object": 1,
                        f"fact first: {FOLLOWS}": 1, "all: unrelated": 1, "all: removed, old answer": 0,
                        "removed: null": 1, f"{UNSEEN}: accuracy": 1, f"{UNSEEN}, not added: accuracy": 0,
                        "all: fact first": 1, "missed": 0, **{f"{one}: memory": 1 for one in edits.CONFLICTS},
                        **{f"{one}: text": 0 for one in edits.CONFLICTS}}.items():
        assert found[name] == pytest.approx(value, abs=0.05), name


@pytest.mark.parametrize("follows, theirs, said", [
    (0.92, 0.8, ["supported", "supported"]), (0.92, 0.9, ["supported", NO_EFFECT]),
    (0.7, 0.8, [NO_EFFECT, "not supported"]), (0.3, 0.1, ["not supported", "supported"])])
def test_verdicts_by_hand(follows: float, theirs: float, said: list[str]) -> None:
    values = {f"all: {FOLLOWS}": follows, f"{edits.NOT_IN_TEXT}: {FOLLOWS}": 0.3, "all: unrelated": 0.96,
              f"{UNSEEN}: accuracy": 0.5, f"{UNSEEN}, not added: accuracy": 0.4, "removed: null": 0.5,
              "all: removed, old answer": 0.5, **{f"{one}: memory": 0.3 for one in edits.CONFLICTS},
              **{f"{one}: text": 0.6 for one in edits.CONFLICTS}}
    run = {name: {"low": value, "high": value + 0.01} for name, value in values.items()}
    made = edits.verdicts({f"{worlds}, {left_out:g} left out": run for worlds, left_out in edits.ARMS},
                          {"REALM": {f"all: {FOLLOWS}": {"low": theirs, "high": theirs + 0.01}}})
    assert [made[f"{MANY}, {edits.LEFT_OUT:g} left out: {claim}"] for claim in (
        "changed facts", "more often than REALM", "changed facts not in the text", "unrelated facts", "added facts",
        "contradicting text")] == [*said, "not supported", "supported", "supported", "not supported"]
    assert made["memorization"] == made["null fact"] == NO_EFFECT


def test_realm_and_rag_are_asked_about_the_same_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    statements = edited_documents.asked(WORLD)
    known = {one.text: one for split in ("train", "test") for one in WORLD.world.questions("one-hop", split)}
    for one, (words, masked, question) in zip(WORLD.test, statements, strict=True):
        assert tuple(words[i] for i in masked) == FACTS[one.fact.object].words
        assert question is None or (known[question].answer == FACTS[one.fact.object].words and WORLD.documents.plain(
            known[question].facts[0]) == WORLD.documents.plain(one.fact))
    assert sum(one.question is None for one in statements) < 6
    size: dict[str, Any] = {"layers": 1, "model": 16, "heads": 2, "inner": 16, "dropout": 0.0, "attention_dropout": 0.0}
    model = REALM(DualEncoderConfig(len(world_tokenizer()), time=96, width=8, **size))
    monkeypatch.setattr(edited_documents, "load", lambda name, expect: (model, None))
    found = edited_documents.realm(WORLD.documents.blocks, statements[:8])
    assert [len(one or ()) for one in found] == [len(one.masked) for one in statements[:8]]


def test_the_bundled_model_has_the_figures_of_its_readme(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in {"home": lambda: tmp_path, "enter": lambda name: None, "FACT_UPDATES": 2}.items():
        monkeypatch.setattr(bundled, name, value)
    bundled.main(bundled.FAE)
    figures = bundled.fact_figures(load(tmp_path / bundled.FAE, expect="fae")[0], WORLD)
    readme = (tmp_path / bundled.FAE / "README.md").read_text(encoding="utf-8")
    assert len(figures) == 2 and all(f"| {name} | {value} |" in readme for name, value in figures.items())
