"""The decision rules of chapter 14, fixed before the runs (`studies.ch14.compared`), applied to the recorded
results."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from plmlab.chapters.ch14.compared import BOTH, HOPPING, MARGIN, TOP
from plmlab.recipes import separated

Numbers = Mapping[str, Any]
SIMPLER = ("System 1", "random candidate", "deepest candidate")
"""Simpler ways to choose among the candidate answers of a graph."""


def leads(numbers: Numbers, measure: str) -> list[float]:
    """Mean difference between CogQA's joint F1 and a measure of the baseline on retrieved pages, by number of hops. The
    measure is the baseline's ``joint f1``, or its ``f1``, which is the joint F1 that the baseline would have if all its
    supporting sentences were correct."""
    ours, theirs = (numbers["arms"][name]["groups"] for name in (BOTH, TOP))
    return [ours[group]["joint f1"]["mean"] - theirs[group][measure]["mean"] for group in HOPPING]


def graph_helps(numbers: Numbers, measure: str) -> str:
    """Verdict on the claim that the graph helps more as the number of hops grows: "supported", "partly supported"
    (CogQA is ahead, but its lead does not grow with every hop), "not supported", or "no effect at this size"."""
    ours = numbers["arms"][BOTH]["groups"]["3 hops"]["joint f1"]
    theirs = numbers["arms"][TOP]["groups"]["3 hops"][measure]
    one, two, three = leads(numbers, measure)
    if separated(theirs, ours):
        return "not supported"
    if not separated(ours, theirs):
        return "no effect at this size"
    return "supported" if two > one + MARGIN and three > two + MARGIN else "partly supported"


CHOICE = 0.05
"""Minimum fraction of questions in which System 2 has a choice, for its choice to be tested."""


def system2_adds(candidates: Mapping[str, float]) -> str:
    """Verdict on whether System 2 chooses better than every simpler choice among the same candidates
    (`studies.ch14.candidates`)."""
    if candidates["choice"] < CHOICE:
        return "cannot be tested"
    lead = candidates["System 2"] - max(candidates[name] for name in SIMPLER)
    return "supported" if lead > MARGIN else "no effect at this size" if lead > -MARGIN else "not supported"


def component_helps(numbers: Numbers, without: str, group: str) -> str:
    """Verdict on whether a component helps: every seed with the component has a higher accuracy than every seed of the
    variant without it."""
    with_it, lacking = (numbers["arms"][name]["groups"][group]["exact"] for name in (BOTH, without))
    return ("supported" if separated(with_it, lacking, MARGIN) else
            "not supported" if separated(lacking, with_it, MARGIN) else "no effect at this size")


def error_shares(numbers: Numbers, group: str) -> dict[str, float]:
    """Where the questions of a group are lost, as fractions that add up to 1 with the correctly answered questions: no
    answer is found even if all hops are given; a later hop fails if only the first hop is given; the first hop fails;
    or the wrong candidate is chosen."""
    full, first, every = (one[group] for one in (numbers["arms"][BOTH]["groups"], *numbers["gold hops"].values()))
    among = {name: results["among"]["mean"] for name, results in (("full", full), ("first", first), ("every", every))}
    correct = full["exact"]["mean"]
    return {"error: answer span not found": 1 - among["every"], "error at a later hop": among["every"] - among["first"],
            "error at the first hop": among["first"] - among["full"],
            "error: wrong candidate selected": among["full"] - correct, "correct": correct}


def on_wikipedia(rows: list[Mapping[str, Any]]) -> str:
    """Verdict on whether multi-hop answering transfers to Wikipedia (`studies.ch14.on_wikipedia`)."""
    accuracy = {form: [one["answer"]["exact"] for one in rows if one["form"] == form] for form in ("one-hop", "bridge")}
    if fmean(accuracy["one-hop"]) >= 1 / 2 and fmean(accuracy["bridge"]) >= 1 / 3:
        return "supported"
    fails = fmean(accuracy["one-hop"]) < 1 / 3 and sum(accuracy["bridge"]) <= 1
    return "not supported" if fails else "no effect at this size"
