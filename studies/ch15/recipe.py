"""Recipe of chapter 15: which blocks a CogLTX has to read."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch15 import selection


def main(parts: Parts) -> dict[str, Any]:
    """``selection``: the results of this module's ``measure``."""
    return {"selection": selection.measure(parts)}
