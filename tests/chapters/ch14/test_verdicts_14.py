"""The rules of chapter 14 on records made by hand: each outcome can come out."""

from typing import Any

import pytest

from plmlab.chapters.ch14 import compared, verdicts
from plmlab.chapters.ch14.compared import BOTH, TOP
from plmlab.recipes import seed_summary


def told(*values: float) -> dict[str, Any]:
    return seed_summary(dict(enumerate(values)))


def record(ours: list[float], theirs: list[float]) -> dict[str, Any]:
    """Joint F1 by hops; of ours three seeds, 0.01 apart."""
    groups = ("one hop", "2 hops", "3 hops")
    return {"arms": {
        BOTH: {"groups": {name: {"joint f1": told(mean - 0.01, mean, mean + 0.01)}
                          for name, mean in zip(groups, ours, strict=True)}},
        TOP: {"groups": {name: {"joint f1": told(mean, mean, mean), "f1": told(*3 * (mean + 0.1,))}
                         for name, mean in zip(groups, theirs, strict=True)}}}}


@pytest.mark.parametrize(("ours", "theirs", "said"), [
    ([0.9, 0.8, 0.7], [0.9, 0.5, 0.1], "supported"),
    ([0.9, 0.8, 0.7], [0.9, 0.5, 0.39], "partly supported"),
    ([0.9, 0.8, 0.7], [0.5, 0.5, 0.1], "partly supported"),
    ([0.9, 0.8, 0.3], [0.9, 0.5, 0.5], "not supported"),
    ([0.9, 0.8, 0.5], [0.9, 0.5, 0.505], "no effect at this size"),
])
def test_the_graph_helps_as_hops_grow(ours: list[float], theirs: list[float], said: str) -> None:
    numbers = record(ours, theirs)
    assert verdicts.graph_helps(numbers, "joint f1") == said
    assert verdicts.leads(numbers, "joint f1") == pytest.approx([a - b for a, b in zip(ours, theirs, strict=True)])


def test_a_reader_whose_sentences_are_all_right_is_harder_to_beat() -> None:
    numbers = record([0.9, 0.8, 0.5], [0.9, 0.5, 0.45])
    assert verdicts.graph_helps(numbers, "joint f1") == "partly supported"
    assert verdicts.graph_helps(numbers, "f1") == "not supported"


@pytest.mark.parametrize(("system2", "choice", "said"), [
    (0.83, 0.05, "supported"), (0.81, 0.05, "no effect at this size"), (0.79, 0.2, "no effect at this size"),
    (0.77, 0.2, "not supported"), (0.99, 0.04, "cannot be tested"), (0.1, 0.0, "cannot be tested")])
def test_system2_is_compared_with_every_simpler_choice(system2: float, choice: float, said: str) -> None:
    for best in verdicts.SIMPLER:
        simpler = dict.fromkeys(verdicts.SIMPLER, 0.5) | {best: 0.8}
        assert verdicts.system2_adds({"choice": choice, "System 2": system2, **simpler}) == said


@pytest.mark.parametrize(("without", "said"), [
    ((0.5, 0.6, 0.77), "supported"), ((0.5, 0.6, 0.79), "no effect at this size"), ((0.9, 0.9, 0.95), "not supported")])
def test_what_an_arm_lacks_is_worth_something(without: tuple[float, ...], said: str) -> None:
    numbers = {"arms": {name: {"groups": {"2 hops": {"exact": told(*values)}}}
                        for name, values in ((BOTH, (0.8, 0.85, 0.82)), ("no clues", without))}}
    assert verdicts.component_helps(numbers, "no clues", "2 hops") == said


def test_losses_add_up_from_all_questions_to_those_that_are_right() -> None:
    def group(exact: float, among: float) -> dict[str, Any]:
        return {"3 hops": {"exact": told(exact), "among": told(among)}}

    numbers = {"arms": {BOTH: {"groups": group(0.7, 0.8)}},
               "gold hops": {"1": group(0.8, 0.85), "9": group(0.95, 0.97)}}
    assert verdicts.error_shares(numbers, "3 hops") == pytest.approx({
        "error: answer span not found": 0.03, "error at a later hop": 0.12, "error at the first hop": 0.05,
        "error: wrong candidate selected": 0.1, "correct": 0.7})


@pytest.mark.parametrize(("one_hop", "bridges", "said"), [
    ((1, 1, 0), (1, 0, 0), "supported"), ((0, 0, 0), (1, 0, 0), "not supported"),
    ((1, 0, 0), (0, 0, 0), "no effect at this size"),
    ((0, 0, 0), (1, 1, 0), "no effect at this size")])
def test_what_carries_over_to_wikipedia(one_hop: tuple[int, ...], bridges: tuple[int, ...], said: str) -> None:
    rows = [{"form": form, "answer": {"exact": float(right)}} for form, some in (("one-hop", one_hop), (
        "bridge", bridges)) for right in some]
    assert verdicts.on_wikipedia(rows) == said


def test_rows_of_the_chapters_tables() -> None:
    groups = {name: {"exact": told(0.4, 0.5, 0.6)} for name in ("one hop", "2 hops", "3 hops")}
    numbers = {"compared": {"arms": {name: {"groups": groups} for name in (BOTH, TOP, compared.GOLD)},
                            "unseen compositions": {BOTH: groups, compared.GOLD: groups}},
               "multi-hop baselines": {"a table": {"seen compositions": {"one hop": {"exact": 0.99}},
                                                   "unseen compositions": {"2 hops": {"exact": 0.0}}}}}
    rows = compared.score_rows(numbers, "exact")
    assert rows["CogQA"] == ["50 (40–60)"] * 5 and rows[TOP] == [*["50 (40–60)"] * 3, "–", "–"]
    assert rows["a table"] == ["99", "0"]
