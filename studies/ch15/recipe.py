"""Recipe of chapter 15: which blocks a CogLTX has to read."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch15 import interventions, reading, selection, whole_texts


def main(parts: Parts) -> dict[str, Any]:
    """``selection``, ``reading``, ``whole texts`` and ``interventions``: the results of these modules' ``measure``."""
    selected = selection.measure(parts)
    recalled = selected["runs"][selection.LABELS]["MemRecall, short: exact match"]
    return {"selection": selected, "reading": reading.measure(parts),
            "whole texts": whole_texts.measure(parts, recalled), "interventions": interventions.measure(parts)}
