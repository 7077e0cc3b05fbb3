"""Chapter 16's open-domain questions: which weights are reset, and which answers count as found and as correct."""

from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_realm import scattered, tiny

from plmlab.chapters.ch16.corpora import corpus
from plmlab.chapters.ch16.training import with_corpus
from plmlab.models.realm_open_qa import FoundAnswer, REALMForOpenQA
from plmlab.objectives.open_domain_qa import QuestionBatch
from plmlab.recipes import Parts
from plmlab.world.datasets.fact_documents import TEST_WORLDS, TRAINING
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch16 import open_domain

WORLD = TEST_WORLDS[0]


def same(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


@pytest.mark.parametrize("name", open_domain.BEGINNINGS)
def test_what_is_set_back_is_what_it_was_before(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = tiny(0), tiny(1)
    monkeypatch.setattr(open_domain, "initialized", lambda arm: before)
    monkeypatch.setattr(open_domain, "stored_model", lambda folder, arm, lr, seed: after)
    made = open_domain.beginning("", name, 0.0, 0)
    assert same(made.embedder, before.embedder) == (name in ("retriever reset", "both reset"))
    assert same(made.embedder, after.embedder) == (name in ("reader reset", "REALM"))
    assert same(made.reader, before.reader) == (name in ("reader reset", "both reset"))
    assert same(made.reader, after.reader) == (name in ("retriever reset", "REALM"))


def test_an_answer_stands_where_its_tokens_do_side_by_side() -> None:
    body = corpus(WORLD).blocks[5].text.split()
    assert open_domain.contains_answer(WORLD, (3, 5), body[1:3]) and open_domain.contains_answer(WORLD, (5,), body)
    assert not open_domain.contains_answer(WORLD, (5,), (*body, "."))
    assert not open_domain.contains_answer(WORLD, (), body[1:3])
    assert not open_domain.contains_answer(WORLD, (5,), (body[3], body[1], body[0]))


def test_questions_come_from_training_worlds_with_their_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_domain, "TRAINING", TRAINING[:1])
    pretrained = tiny(0)
    batch = open_domain.QuestionBatches(REALMForOpenQA.from_pretrained(pretrained), pretrained, 0)(3)
    texts = {open_domain.spelled(one.words) for one in open_domain.questions(TRAINING[0])}
    asked = [tuple(row[row != 0].tolist()[1:-1]) for row in batch.queries.tokens]
    assert len(asked) == open_domain.BATCH and {*asked} <= texts
    bodies = {told.text for told in corpus(TRAINING[0]).blocks}
    for tokens, segments in zip(batch.reader_inputs.tokens, batch.reader_inputs.segments, strict=True):
        assert " ".join(world_tokenizer().tokens(tokens[segments == 1][:-1].tolist())) in bodies


def test_the_exam_counts_what_is_right_to_the_word(monkeypatch: pytest.MonkeyPatch) -> None:
    pretrained = scattered()
    model = REALMForOpenQA.from_pretrained(pretrained).eval()
    told = open_domain.questions(WORLD)[:20]
    monkeypatch.setattr(open_domain, "questions", lambda world: told)
    answers = {open_domain.spelled(one.words): open_domain.spelled(one.answer) for one in told}

    def said(model: REALMForOpenQA, batch: QuestionBatch, wrong: tuple[int, ...] = ()) -> list[list[FoundAnswer]]:
        return [[FoundAnswer((*answers[tuple(row[row != 0].tolist()[1:-1])], *wrong), 0.5)]
                for row in batch.queries.tokens]

    monkeypatch.setattr(REALMForOpenQA, "best", said)
    first = open_domain.test_set(model, pretrained, (WORLD,))
    assert first["right"] == 1
    documents, held = with_corpus(pretrained, WORLD).corpus, []
    for one in told:
        found = model.retrieve(documents, [open_domain.spelled(one.words)]).reader_inputs.tokens.tolist()
        answer = open_domain.spelled(one.answer)
        held.append(any(row[place:place + len(answer)] == [*answer] for row in found
                        for place in range(len(one.words) + 2, len(row))))
    assert first["among four"] == sum(held) / len(held)
    monkeypatch.setattr(REALMForOpenQA, "best", lambda model, batch: said(model, batch, (9,)))
    assert open_domain.test_set(model, pretrained, (WORLD,))["right"] == 0


BEST = dict(zip(open_domain.BEGINNINGS, (1.2e-3, 6e-4, 6e-4, 1.2e-3), strict=True))


class Told(Parts):
    """Parts whose numbers are made up: each beginning is best at a rate of its own, and right as often as its rate."""

    def __call__(self, function: Any, tasks: list[tuple[Any, ...]]) -> dict[tuple[Any, ...], Any]:
        return {task: self.told(function.__name__, task) for task in tasks}

    def told(self, function: str, task: tuple[Any, ...]) -> dict[str, Any]:
        if function != "fine_tuned":
            return {"BM25": 0.5}
        _, name, pretraining, lr, seed = task
        assert pretraining == 0.25
        return {"development": {"right": -abs(lr - BEST[name])}, "test_set": {"among four": 1.0, "right": lr + seed}}


def test_each_beginning_has_the_rate_that_is_best_for_it(tmp_path: Path) -> None:
    told = open_domain.measure(Told(tmp_path / "16.parts.jsonl"), dict.fromkeys(open_domain.ARMS, 0.25))
    assert told["rate"] == BEST
    for name, rate in BEST.items():
        assert told["fine-tuned"][name]["right"]["values"] == pytest.approx([rate, rate + 1, rate + 2])
        assert [lr for lr, _ in told["rates"][name]] == [*open_domain.RATES]
