"""The decision rules of chapter 16, fixed before the experiments ran, applied to the recorded results."""

from collections.abc import Mapping
from typing import Any

from plmlab.chapters.ch16.arms import FULL
from plmlab.recipes import separated

MARGIN = 0.02
"""Minimum difference between every seed of one variant and every seed of another."""
HOLDS, FAILS, DOES_NOT_SHOW = "holds", "fails", "does not show"
BY = {"retriever": "among four", "answers": "right"}
"""Component of the model → the outcome that decides its verdict."""


def is_worth(arms: Mapping[str, Any], without: str, judged: str, whole: str = FULL) -> str:
    """Verdict on whether a variant, by default REALM, is better than the variant ``without`` a component, judged by its
    ``retriever`` or its ``answers``."""
    return _beats(*(arms[name]["outcomes"][BY[judged]] for name in (whole, without)))


def worth_of_pretraining(tuned: Mapping[str, Any], without: str) -> str:
    """Verdict on whether REALM's pretraining gives more correct answers in open-domain question answering than one of
    the `open_domain.BEGINNINGS`."""
    return _beats(*(tuned[name]["right"] for name in (FULL, without)))


def finds_more(one: list[list[int]], other: list[list[int]]) -> str:
    """Verdict on whether one ranking finds the answer among four blocks for at least three more questions than another
    ranking does; each ranking is given as rows of (k, found, asked)."""
    first, second = ({most: count for most, count, _ in rows}[4] for rows in (one, other))
    if first >= second + 3:
        return HOLDS
    return FAILS if second >= first + 3 else DOES_NOT_SHOW


def outweighs(edited: Mapping[str, float]) -> str:
    """Verdict on whether weights override edited documents, by the fraction of correct answers that stay the old
    ones."""
    old = edited.get("old answer", 0.0)
    if old > 1 / 4:
        return HOLDS
    return FAILS if old < 1 / 20 else DOES_NOT_SHOW


def _beats(full: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    if separated(full, other, MARGIN):
        return HOLDS
    return FAILS if separated(other, full, MARGIN) else DOES_NOT_SHOW
