"""Recipe of chapter 09: pretraining tasks at equal compute, ALBERT's two savings, and the four tasks beside BERT."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch09 import four_tasks, learning_signal, sharing


def main(parts: Parts) -> dict[str, Any]:
    """``learning signal``, ``sharing`` and ``four tasks``: the results of these modules' ``measure``."""
    return {"learning signal": learning_signal.measure(parts), "sharing": sharing.measure(parts),
            "four tasks": four_tasks.measure(parts)}
