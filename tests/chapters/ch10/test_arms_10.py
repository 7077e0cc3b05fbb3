"""The arms of chapter 10: each builds and reads, and what sets them apart is what is said."""

from math import log
from typing import Any

import pytest
import torch
from torch import Tensor

from plmlab.chapters.ch10 import arms, recall_task
from plmlab.example import Batch
from plmlab.recipes import recorded
from plmlab.recipes.study import Run
from plmlab.train import History
from studies.ch10 import arms as study

RELATIVE = ("memory", "none", "window", "with gradient")
ABSOLUTE = ("absolute window", "absolute", "absolute, none", "continued", "no positions")

pytestmark = pytest.mark.usefixtures("few_texts")


@pytest.mark.parametrize("name", arms.ARMS)
@torch.no_grad()
def test_every_arm_reads_a_text_and_names_its_loss(name: str) -> None:
    model = arms.new(name, 0).eval()
    rows = recall_task.train_ids()[:3]
    batch, size = recall_task.next_words(rows), len(recall_task.tokenizer())
    logits = model(batch)
    assert rows.shape == (3, 160) and logits.shape == (3, 159, size)
    asked = [float(logits[row, position].log_softmax(0)[rows[row, position + 1]]) for row in range(3)
             for position in range(159)]
    assert float(model.loss(batch)) == pytest.approx(-sum(asked) / len(asked), abs=1e-4)
    assert 0.5 * log(size) < float(model.loss(batch)) < 3 * log(size)
    changed = rows.clone()
    changed[:, 90] = changed[:, 91]
    other = model(recall_task.next_words(changed))
    moved = (other - logits).abs().amax((0, 2))
    assert moved[:90].max() < 1e-5 and moved[90] > 1e-3


def heard(name: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The positions that one layer of an arm hears in the last position of a text of 160."""
    for size, value in (("LAYERS", 1), ("WIDTH", 16)):
        monkeypatch.setattr(arms, size, value)
    model = arms.new(name, 0).double().eval()
    texts: Tensor = recall_task.train_ids()[:1].repeat(161, 1)
    texts[range(160), range(160)] = (texts[0] + 1) % len(recall_task.tokenizer())
    with torch.no_grad():
        logits = model(Batch.continuing(texts, 0))[:, -1]
    return [position for position in range(160) if (logits[position] - logits[160]).abs().max() > 1e-9]


@pytest.mark.parametrize("name", arms.ARMS)
def test_a_window_is_as_long_as_segment_and_memory(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert arms.WINDOW == arms.SEGMENT + arms.MEMORY == 80
    assert heard(name, monkeypatch) == list(range(144 if name.endswith("none") else 80, 160))


def test_rates_are_taken_from_arms_that_have_their_own() -> None:
    assert set(study.LIKE) | set(study.LIKE.values()) <= set(arms.ARMS)
    assert not set(study.LIKE) & set(study.LIKE.values())
    assert recorded("10")["numbers"]["distances"]["words"] == study.WORDS


def test_one_thing_is_changed() -> None:
    """With one seed arms of one kind begin with the same weights; relative positions take W_R, u and v more, and
    projections without biases."""
    built = {name: arms.new(name, 5) for name in arms.ARMS}
    for kind in (RELATIVE, ABSOLUTE):
        first, *others = (built[name].state_dict() for name in kind)
        for other in others:
            assert first.keys() == other.keys() and all(torch.equal(first[name], other[name]) for name in first)
    assert not torch.equal(arms.new("memory", 6).embeddings.token.weight, built["memory"].embeddings.token.weight)
    relative, absolute = (dict(built[name].named_parameters()) for name in ("memory", "absolute"))
    ends = {name.split("attention.")[-1] for name in set(relative) - set(absolute)}
    assert ends == {"r.weight", "content_bias", "position_bias"}
    assert {name.split("attention.")[-1] for name in set(absolute) - set(relative)} == {
        f"{part}.bias" for part in ("q", "k", "v", "out")}


def test_a_run_is_followed_on_texts_to_choose_by(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "EVERY", 1)
    monkeypatch.setattr(study, "WATCHED", 3)
    run = study.STUDY.learned("continued", updates=2, lr=1e-3, seed=4, show=False)
    model, history = arms.train_variant("continued", 2, 1e-3, 4, show=False)
    assert run.history.losses == pytest.approx(history.losses)
    told = study.test(run)
    for key, value in arms.evaluate(model, "test_set")._asdict().items():
        assert told[key] == pytest.approx(value)
    (_, one), (step, last) = told["history"]
    watched = arms.evaluate(model, "development", 3).answers
    assert told["seconds"] > 0 and step == 2 and last == pytest.approx(watched, abs=1e-6) and one != last
    assert last != pytest.approx(arms.evaluate(model, "development").answers, abs=1e-6)


def test_a_rate_is_judged_by_answers_in_the_texts_to_choose_by() -> None:
    model = arms.new("memory", 8).eval()
    some = recall_task.texts("development")
    with torch.no_grad():
        logits = model(recall_task.next_words(recall_task.ids(some))).log_softmax(-1)
    words = recall_task.ids(some)
    prices = [-float(logits[row, recall.start, words[row, recall.start + 1]])
              for row, text in enumerate(some) for recall in text.recalls]
    assert {len(recall.answer) for text in some for recall in text.recalls} == {2}
    judged = study.development(Run(("memory",), 1, 1e-3, 8, model, History(1)))
    assert judged == pytest.approx(-sum(prices) / len(prices), abs=1e-4)


def test_near_accuracy_of_the_development_texts_counts_three_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    right = {"16": 1.0, "32": 0.25, "48": 0.5, "64": 0.75, "80": 1.0}
    parts: list[str] = []
    told = recall_task.Evaluation(right, 0, 0)
    monkeypatch.setattr(study, "evaluate", lambda model, part: parts.append(part) or told)
    assert study.near_development(Run(("absolute",), 1, 1e-3, 8, None, History(1))) == 0.5 and parts == ["development"]


def test_seeds_draw_other_batches_and_arms_of_a_seed_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    read: dict[tuple[str, int], list[Tensor]] = {}

    def kept(name: str, seed: int) -> Any:
        def looks(model: Any, batches: Any, *, steps: int, **_: Any) -> History:
            read[name, seed] = [batches(step).tokens for step in range(steps)]
            return History(steps)
        return looks
    for name, seed in (("memory", 0), ("window", 0), ("absolute", 0), ("memory", 1)):
        monkeypatch.setattr(arms, "fit", kept(name, seed))
        arms.train_variant(name, 3, 1e-3, seed)
    first = read["memory", 0]
    assert {len(batch) for batch in first} == {arms.TEXTS} and first[0].shape[1] == 159
    assert len(torch.cat(first).unique(dim=0)) > 40
    for other in (read["window", 0], read["absolute", 0]):
        assert all(torch.equal(a, b) for a, b in zip(first, other, strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(first, read["memory", 1], strict=True))
