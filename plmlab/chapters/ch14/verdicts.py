"""What was written before the runs of chapter 14 (`studies.ch14.compared`), as rules that a record is judged by."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from plmlab.chapters.ch14.compared import BOTH, HOPPING, MARGIN, TOP
from plmlab.recipes import separated

Numbers = Mapping[str, Any]


def leads(numbers: Numbers, measure: str) -> list[float]:
    """By how much CogQA's joint F1 is above a measure of the reader of top pages, in the mean, by hops. That reader's
    ``joint f1``; or its ``f1``, the joint F1 that it would have if all its sentences were right."""
    ours, theirs = (numbers["arms"][name]["groups"] for name in (BOTH, TOP))
    return [ours[group]["joint f1"]["mean"] - theirs[group][measure]["mean"] for group in HOPPING]


def graph_helps(numbers: Numbers, measure: str) -> str:
    """"Graphs help as hops grow": holds, holds in part (ahead, but the lead does not grow each time), fails, or does
    not show."""
    ours = numbers["arms"][BOTH]["groups"]["3 hops"]["joint f1"]
    theirs = numbers["arms"][TOP]["groups"]["3 hops"][measure]
    one, two, three = leads(numbers, measure)
    if separated(theirs, ours):
        return "fails"
    if not separated(ours, theirs):
        return "does not show"
    return "holds" if two > one + MARGIN and three > two + MARGIN else "holds in part"


def system2_adds(numbers: Numbers, group: str) -> str:
    """Whether both systems are right more often than System 1's surest answer in the same graphs: in each seed, by more
    than the margin."""
    told = numbers["arms"][BOTH]["groups"][group]
    gains = [both - alone for both, alone in zip(told["exact"]["values"], told["alone"]["values"], strict=True)]
    return "holds" if min(gains) > MARGIN else "fails" if max(gains) < -MARGIN else "does not show"


def is_worth(numbers: Numbers, without: str, group: str) -> str:
    """Whether what another arm lacks is worth something: each seed with it is right more often than each without."""
    with_it, lacking = (numbers["arms"][name]["groups"][group]["exact"] for name in (BOTH, without))
    return ("holds" if separated(with_it, lacking, MARGIN) else "fails" if separated(lacking, with_it, MARGIN)
            else "does not show")


def losses(numbers: Numbers, group: str) -> dict[str, float]:
    """From all questions of a group down to those that CogQA has right, what is lost: with all hops given no answer is
    found; with the first one given a later hop goes wrong; then the first one; and at last another candidate is chosen
    than the right one."""
    full, first, every = (told[group] for told in (numbers["arms"][BOTH]["groups"], *numbers["led"].values()))
    among = {name: told["among"]["mean"] for name, told in (("full", full), ("first", first), ("every", every))}
    return {"no answer found": 1 - among["every"], "a later hop": among["every"] - among["first"],
            "the first hop": among["first"] - among["full"], "the choice": among["full"] - full["exact"]["mean"],
            "right": full["exact"]["mean"]}


def on_wikipedia(rows: list[Mapping[str, Any]]) -> str:
    """Whether hops carry over to Wikipedia (`studies.ch14.on_wikipedia`)."""
    right = {form: [one["answer"]["exact"] for one in rows if one["form"] == form] for form in ("one-hop", "bridge")}
    if fmean(right["one-hop"]) >= 1 / 2 and fmean(right["bridge"]) >= 1 / 3:
        return "holds"
    return "fails" if fmean(right["one-hop"]) < 1 / 3 and sum(right["bridge"]) <= 1 else "does not show"
