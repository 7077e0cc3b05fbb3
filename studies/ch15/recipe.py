"""Recipe of chapter 15: which blocks a CogLTX has to read, and readers of whole texts beside it."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch15 import selection, whole_texts


def main(parts: Parts) -> dict[str, Any]:
    """``selection`` and ``whole texts``: the results of these modules' ``measure``."""
    selected = selection.measure(parts)
    recalled = selected["runs"][selection.LABELS]["MemRecall, short: exact match"]
    return {"selection": selected, "whole texts": whole_texts.measure(parts, recalled)}
