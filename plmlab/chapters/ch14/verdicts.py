"""The decision rules of chapter 14, fixed before the runs (`studies.ch14.compared`), applied to the recorded
results."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from plmlab.chapters.ch14.compared import BOTH, HOPPING, MARGIN, TOP
from plmlab.recipes import separated

Numbers = Mapping[str, Any]


def leads(numbers: Numbers, measure: str) -> list[float]:
    """Mean difference between CogQA's joint F1 and a measure of the baseline on top pages, by number of hops. The
    measure is the baseline's ``joint f1``, or its ``f1``, which is the joint F1 that the baseline would have if all its
    supporting sentences were correct."""
    ours, theirs = (numbers["arms"][name]["groups"] for name in (BOTH, TOP))
    return [ours[group]["joint f1"]["mean"] - theirs[group][measure]["mean"] for group in HOPPING]


def graph_helps(numbers: Numbers, measure: str) -> str:
    """Verdict on the claim that the graph helps more as the number of hops grows: "holds", "holds in part" (CogQA is
    ahead, but its lead does not grow with every hop), "fails", or "does not show"."""
    ours = numbers["arms"][BOTH]["groups"]["3 hops"]["joint f1"]
    theirs = numbers["arms"][TOP]["groups"]["3 hops"][measure]
    one, two, three = leads(numbers, measure)
    if separated(theirs, ours):
        return "fails"
    if not separated(ours, theirs):
        return "does not show"
    return "holds" if two > one + MARGIN and three > two + MARGIN else "holds in part"


def system2_adds(numbers: Numbers, group: str) -> str:
    """Verdict on whether the accuracy of both systems together exceeds that of System 1's most confident answer in the
    same graphs, by more than the margin for every seed."""
    results = numbers["arms"][BOTH]["groups"][group]
    gains = [both - alone for both, alone in zip(results["exact"]["values"], results["alone"]["values"], strict=True)]
    return "holds" if min(gains) > MARGIN else "fails" if max(gains) < -MARGIN else "does not show"


def is_worth(numbers: Numbers, without: str, group: str) -> str:
    """Verdict on whether a component helps: every seed with the component has a higher accuracy than every seed of the
    variant without it."""
    with_it, lacking = (numbers["arms"][name]["groups"][group]["exact"] for name in (BOTH, without))
    return ("holds" if separated(with_it, lacking, MARGIN) else "fails" if separated(lacking, with_it, MARGIN)
            else "does not show")


def losses(numbers: Numbers, group: str) -> dict[str, float]:
    """Where the questions of a group are lost, as fractions that add up to 1 with the correctly answered questions: no
    answer is found even if all hops are given; a later hop fails if only the first hop is given; the first hop fails;
    or the wrong candidate is chosen."""
    full, first, every = (told[group] for told in (numbers["arms"][BOTH]["groups"], *numbers["led"].values()))
    among = {name: told["among"]["mean"] for name, told in (("full", full), ("first", first), ("every", every))}
    return {"no answer found": 1 - among["every"], "a later hop": among["every"] - among["first"],
            "the first hop": among["first"] - among["full"], "the choice": among["full"] - full["exact"]["mean"],
            "right": full["exact"]["mean"]}


def on_wikipedia(rows: list[Mapping[str, Any]]) -> str:
    """Verdict on whether multi-hop answering transfers to Wikipedia (`studies.ch14.on_wikipedia`)."""
    accuracy = {form: [one["answer"]["exact"] for one in rows if one["form"] == form] for form in ("one-hop", "bridge")}
    if fmean(accuracy["one-hop"]) >= 1 / 2 and fmean(accuracy["bridge"]) >= 1 / 3:
        return "holds"
    return "fails" if fmean(accuracy["one-hop"]) < 1 / 3 and sum(accuracy["bridge"]) <= 1 else "does not show"
