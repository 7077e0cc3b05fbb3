"""GLM against a BERT that is told lengths or guesses: who is chosen, what is judged, and the verdict's own words."""

from typing import Any

import pytest

from plmlab.chapters.ch12 import blank_arms, blank_test_set
from plmlab.chapters.ch12.blank_arms import PAPER
from plmlab.chapters.ch12.blank_test_set import Row
from plmlab.recipes import Parts, seed_summary
from studies.ch12 import blank_fillers, guessing, unknown_length

SLEEP = ("the", "boys", "sleep", ".")
ROW = Row(SLEEP, ((1, 3),), (0,))
TWO = Row(("the", "cup", "near", "the", "chairs", "is", "new", "."), ((1, 2), (4, 6)), (0, 1))


@pytest.fixture(autouse=True)
def small_scale(toy_blanks: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blank_fillers, "COUNTED", 20)


def test_the_verdict_is_that_of_the_rules() -> None:
    high, low, both = (seed_summary(dict(enumerate(values))) for values in ((0.6, 0.7), (0.4, 0.5), (0.3, 0.9)))
    assert unknown_length.verdict(high, [low]) == "supported"
    assert unknown_length.verdict(low, [high, low]) == "not supported"
    assert unknown_length.verdict(high, [both, low]) == unknown_length.verdict(high, [high]) == (
        "no effect at this size"), "a guesser whose seeds are far apart is not beaten by its mean"
    near = seed_summary({0: 0.595})
    assert unknown_length.verdict(high, [near]) == unknown_length.verdict(near, [high]) == "no effect at this size"


def test_ways_are_chosen_by_development_rows() -> None:
    def run(told: float, guessed: float) -> dict[str, Any]:
        rights = {"lengths given: a": told, "lengths given: b": 0.5, "all lengths: a": guessed}
        return {"development": {way: {"right": right, "chance": right if way == "all lengths: a" else 1 - right} for
                                way, right in rights.items()}, "test_set": {"lengths given: a": {"right": 1 - told}}}
    runs = {("BERT", 0): run(0.9, 0.1), ("BERT", 1): run(0.3, 0.1), ("other", 0): run(0.4, 0.0),
            ("other", 1): run(0.4, 0.3)}
    assert unknown_length.best_ways(runs) == {
        kind: (name, f"{kind}: a") for kind, name in (("lengths given", "BERT"), ("all lengths", "other"))}


def test_readings_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two words are in sight and four fit: one or two are tried, each read once to fill and once to rank a word."""
    monkeypatch.setattr(unknown_length, "LONGEST", 4)
    monkeypatch.setattr(blank_test_set, "rows", lambda name: (ROW,))
    assert unknown_length.readings() == {"lengths given": 2, "all lengths": 2 * (1 + 2)}


def test_both_are_put_to_the_exam(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"development": (ROW,), "test_set": (ROW, TWO), "unread": (TWO,)}
    for module, name, value in (
            (blank_test_set, "rows", rows.__getitem__), (unknown_length, "LONGEST", 8), (blank_arms, "LONGEST", 4)):
        monkeypatch.setattr(module, name, value)
    told = unknown_length.measure(parts)
    assert set(told["arms"]) == {PAPER, "BERT", "BERT, whole spans"}
    assert set(told["filled"]) == set(unknown_length.ASKED)
    test_set = told["filled"]["test_set"]
    assert set(test_set) == {"GLM, 1", "GLM, 2", *(f"BERT, {kind}" for kind in (
        "lengths given", "all lengths", "with a length prior"))}
    assert test_set["BERT, lengths given"]["length"]["values"] == [1, 1], "every length is given"
    assert len(told["ways"]["BERT"]) == 2 * (1 + len(guessing.MEASURES) * (1 + len(unknown_length.WEIGHTS)))
    name, way = test_set["BERT, all lengths"]["by"]
    again = unknown_length.bert_told(str(parts.folder), name, 1)
    assert test_set["BERT, all lengths"]["right"]["values"][1] == again["test_set"][way]["right"]
    assert told["verdict"] in ("supported", "not supported", "no effect at this size")
    assert set(told["exact"]) == set(told["baselines"]) == {"test_set", "unread"}
    assert test_set["GLM, 2"]["readings"]["low"] >= 1
