"""The decision rules of chapter 16, fixed before the experiments ran, applied to the recorded results."""

from collections.abc import Mapping, Sequence
from typing import Any

from plmlab.chapters.ch16.arms import FULL
from plmlab.recipes.study import verdict

MARGIN = 0.02
"""Minimum difference between every seed of one variant and every seed of another."""
BY = {"retriever": "among four", "answers": "right"}
"""Component of the model → the outcome that decides its verdict."""


def is_worth(arms: Mapping[str, Any], without: str, judged: str, whole: str = FULL) -> str:
    """Verdict on whether a variant, by default REALM, is better than the variant ``without`` a component, judged by its
    ``retriever`` or its ``answers``."""
    return verdict(arms[whole]["outcomes"][BY[judged]], arms[without]["outcomes"][BY[judged]], MARGIN)


def worth_of_pretraining(tuned: Mapping[str, Any], without: str) -> str:
    """Verdict on whether REALM's pretraining gives more correct answers in open-domain question answering than one of
    the `open_domain.BEGINNINGS`."""
    return verdict(tuned[FULL]["right"], tuned[without]["right"], MARGIN)


def finds_more(one: Sequence[Sequence[int]], other: Sequence[Sequence[int]]) -> str:
    """Verdict on whether one ranking finds the answer among four blocks for at least three more questions than another
    ranking does; each ranking is given as rows of (k, found, questions)."""
    first, second = ({k: count for k, count, _ in rows}[4] for rows in (one, other))
    if abs(first - second) < 3:
        return "no effect at this size"
    return "supported" if first > second else "not supported"


def weights_override(old_answers: int, correct: int) -> str:
    """Verdict on whether weights override edited documents, by the share of ``correct`` answers that stay the old ones:
    supported above 25 %, not supported below 5 %, and undecided in between, the borders included."""
    if 4 * old_answers > correct:
        return "supported"
    return "not supported" if 20 * old_answers < correct else "undecided"
