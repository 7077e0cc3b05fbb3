"""The rules by which chapter 16 judges, as its experiments wrote them down before they ran, applied to what was
recorded."""

from collections.abc import Mapping
from typing import Any

from plmlab.chapters.ch16.ablated import MARGIN
from plmlab.chapters.ch16.arms import FULL
from plmlab.recipes import apart

HOLDS, FAILS, DOES_NOT_SHOW = "holds", "fails", "does not show"
BY = {"retriever": "among four", "answers": "right"}
"""What is judged → by which outcome."""


def is_worth(arms: Mapping[str, Any], without: str, judged: str) -> str:
    """Whether REALM beats the arm that lacks something, by the ``retriever`` or by the ``answers``."""
    full, other = (arms[name]["outcomes"][BY[judged]] for name in (FULL, without))
    if apart(full, other, MARGIN):
        return HOLDS
    return FAILS if apart(other, full, MARGIN) else DOES_NOT_SHOW


def outweighs(edited: Mapping[str, float]) -> str:
    """Whether weights outvote an edited document: by the share of right answers that stay the old ones."""
    old = edited.get("old answer", 0.0)
    if old > 1 / 4:
        return HOLDS
    return FAILS if old < 1 / 20 else DOES_NOT_SHOW
