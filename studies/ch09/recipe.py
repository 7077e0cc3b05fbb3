"""Recipe of chapter 09: pretraining tasks at equal compute, and ALBERT's two savings."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch09 import learning_signal, sharing


def main(parts: Parts) -> dict[str, Any]:
    """``learning signal`` and ``sharing``: the results of these modules' ``measure``."""
    return {"learning signal": learning_signal.measure(parts), "sharing": sharing.measure(parts)}
