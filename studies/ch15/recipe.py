"""Recipe of chapter 15: which blocks a CogLTX has to read."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch15 import reading, selection


def main(parts: Parts) -> dict[str, Any]:
    """``selection`` and ``reading``: the results of these modules' ``measure``."""
    return {"selection": selection.measure(parts), "reading": reading.measure(parts)}
