"""What chapter 14 compares: the recipe's numbers come from the right runs; arms are trained, kept and asked as they
say."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import torch

from plmlab.chapters.ch14 import test_set, training
from plmlab.chapters.ch14.answering import answer_question, start_search
from plmlab.chapters.ch14.compared import BOTH, GOLD, compared_attribute, comparison_questions
from plmlab.checkpoints import load
from plmlab.models.cogqa import CogQA, SelfLoopCogQA
from plmlab.models.single_pass_reader import SinglePassReader
from plmlab.recipes import Parts
from studies.ch14 import arms, compared, confidence_threshold, learning, on_wikipedia, recipe
from studies.ch14.no_message_passing import NoMessagePassing

GROUPS = ("one hop", "2 hops")


class Told(Parts):
    """Parts that are told at once, each by its function's name."""

    def __call__(self, function: Any, tasks: Iterable[tuple[Any, ...]]) -> dict[tuple[Any, ...], Any]:
        return {task: getattr(self, function.__name__)(*task) for task in tasks}

    def train_arm(self, folder: str, name: str, lr: float, seed: int) -> dict[str, Any]:
        return {"development": {1e-3: 0.5, 3e-3: 0.7, 1e-2: 0.8, 3e-2: 0.6}[lr], "device": f"device of {seed // 2}"}

    def arm(self, folder: str, name: str, lr: float, seed: int) -> dict[str, Any]:
        return {group: {"exact": len(name) + lr + seed} for group in GROUPS}

    def with_gold_hops(self, folder: str, lr: float, seed: int, hops: int) -> dict[str, Any]:
        return {group: {"exact": 100 * hops + seed} for group in GROUPS}

    def threshold_on_development(self, folder: str, lr: float, seed: int, least: float) -> float:
        return 1 - abs(least - 0.1) + seed

    def confidence_threshold(self, folder: str, lr: float, seed: int, least: float) -> dict[str, Any]:
        return {group: {"exact": least + seed} for group in GROUPS}

    def no_message_passing(self, folder: str, lr: float, seed: int) -> dict[str, Any]:
        return {group: {"exact": 0.9 + seed / 100} for group in GROUPS}

    def on_unseen_compositions(self, folder: str, name: str, lr: float, seed: int) -> dict[str, Any]:
        return {"2 hops": {"exact": len(name) + lr + seed}}

    def comparisons(self, folder: str, lr: float, seed: int) -> dict[str, float]:
        return {"the same?": 0.5 + seed / 10}

    def retrieval_only(self) -> dict[str, Any]:
        return {"one hop": {"exact": 0.3}}

    def baseline(self, name: str) -> str:
        return f"scores of {name}"

    def row(self, name: str) -> dict[str, dict[str, float]]:
        return {"2 hops": {"exact": 0.1}, "3 hops": {"exact": 0.7 if name.startswith("given") else 0.1}}

    def group_means(self, group: str) -> dict[str, float]:
        return {"choice": len(group)}

    def fine_tune(self, folder: str) -> dict[str, str]:
        return {"device": "a GPU"}

    def evaluate(self, folder: str) -> dict[str, str]:
        return {"wikipedia": "rows"}


def test_the_recipe_puts_its_experiments_together() -> None:
    numbers = recipe.main(Told(Path("somewhere.jsonl")))
    assert numbers["on Wikipedia"] == {"device": "a GPU", "updates": on_wikipedia.UPDATES, "lr": on_wikipedia.RATE,
                                       "wikipedia": "rows"}
    assert numbers["gold path"]["fails"] == {"2 hops": "the answer span", "3 hops": "the path"}
    assert numbers["candidates"]["one hop"] == {"choice": 7}
    assert numbers["multi-hop baselines"]["iterated word overlap"] == "scores of iterated word overlap"
    told = numbers["compared"]
    assert told["rates"] == [(1e-3, 0.5), (3e-3, 0.7), (1e-2, 0.8), (3e-2, 0.6)], "the grid grew past its edge"
    assert {name: one["lr"] for name, one in told["arms"].items()} == {
        **dict.fromkeys(arms.COGQA, learning.RATE), **dict.fromkeys(arms.READERS, 1e-2)}
    for name, one in told["arms"].items():
        assert one["groups"]["2 hops"]["exact"]["values"] == [len(name) + one["lr"] + seed for seed in arms.SEEDS]
        assert one["device"] == ["device of 0", "device of 1"]
    assert told["gold hops"][compared.ALL]["one hop"]["exact"]["mean"] == 901
    threshold = told["confidence threshold"]
    assert threshold["least"] == 0.1 and threshold["groups"]["one hop"]["exact"]["low"] == pytest.approx(0.1)
    assert told["no message passing"]["one hop"]["exact"]["values"] == [0.9, 0.91, 0.92]
    for name, lr in ((BOTH, learning.RATE), (GOLD, 1e-2)):
        new = told["unseen compositions"][name]["2 hops"]["exact"]
        assert new["values"] == [len(name) + lr + seed for seed in arms.SEEDS]
    assert told["comparisons"]["the same?"]["values"] == [0.5, 0.6, 0.7]
    assert dict(threshold["development"])[0.1] == pytest.approx(2.0)


@pytest.mark.parametrize("name", [*arms.COGQA, *arms.READERS])
def test_an_arm_is_trained_kept_and_asked(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arms, "UPDATES", 1)
    monkeypatch.setattr(learning, "BATCH", 2)
    monkeypatch.setattr(arms, "development", lambda kind: training.development(kind)[:1])
    told = arms.train_arm(str(tmp_path), name, 1e-3, 3)
    assert 0 <= told["development"] <= 1 and told["device"]
    one, other = arms.stored_model(str(tmp_path), name, 1e-3, 3), arms.train(name, 1e-3, 3)[0]
    assert type(one) is type(arms.initialized(name)) and not one.training
    for key, value in one.state_dict().items():
        torch.testing.assert_close(value, other.state_dict()[key])
    question = test_set.questions("test")["2 hops"][0]
    outcome = arms.answer(name, one)(question, "test")
    assert 0 <= outcome.joint.f1 <= 1


def test_arms_differ_in_what_they_say_and_nothing_else() -> None:
    assert [type(arms.initialized(name)) for name in arms.COGQA] == [SelfLoopCogQA, CogQA, SelfLoopCogQA]
    assert {type(arms.initialized(name)) for name in arms.READERS} == {SinglePassReader}
    first, *others = (arms.initialized(name).encoder.state_dict() for name in (*arms.COGQA, *arms.READERS))
    assert all(torch.equal(other[key], value) for other in others for key, value in first.items())


def test_sure_hops_are_a_part_of_those_that_the_threshold_lets_through() -> None:
    model, _ = load("cogqa-world")
    told, fewer = training.pages("test"), 0
    for question in test_set.questions("test")["3 hops"][:12]:
        plain, same = (answer_question(model, told, question, *kind)
                       for kind in ((), (confidence_threshold.ConfidenceThreshold,)))
        sure = answer_question(model, told, question, confidence_threshold.ConfidenceThreshold, least=0.1)
        assert plain == same and sure.read <= plain.read
        fewer += sure.read < plain.read
    assert fewer


def test_comparisons_are_told_by_what_is_compared() -> None:
    kinds = Counter(compared_attribute(question) for _, question in comparison_questions())
    assert sum(kinds.values()) == 600 and set(kinds) == {
        "the same?", "birth_year", "population", "film_year", "published_in", "founded_in"}
    for _, question in comparison_questions():
        if (what := compared_attribute(question)) != "the same?":
            sign = next(edge.relation for edge in question.graph.edges if edge.clue is None)
            assert sign in "<>" and what in {fact.relation for fact in question.facts}


def test_without_messages_each_node_is_judged_by_itself() -> None:
    model, _ = load("cogqa-world")
    told, moved = training.pages("test"), 0
    for question in test_set.questions("test")["3 hops"][:6]:
        asked, silent = start_search(model, told, question), start_search(model, told, question, NoMessagePassing)
        state = asked.finished()
        alone = {node: float(model.reasoner(state.visits[node].semantics[None], torch.zeros(1, 1, dtype=torch.bool)))
                 for node in state.graph if node in state.visits}
        assert silent.scores(state) == pytest.approx(alone, abs=1e-4)
        moved += asked.scores(state) != pytest.approx(alone, abs=1e-2)
    assert moved


def test_unseen_compositions_are_asked_nowhere_else() -> None:
    known = {one.shape for kind in set(training.KINDS) for one in training.training_rows(kind)}
    for name, some in test_set.unseen_compositions().items():
        assert len(some) == 100 and all(test_set.group(one) == name and one.shape not in known for one in some)
