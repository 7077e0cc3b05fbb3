"""What chapter 04 records: the bottleneck, links, the order of the source, what a state holds, exposure bias."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch04 import bottleneck, exposure, held, looks, reversal, trainings


def main(parts: Parts) -> dict[str, Any]:
    """``arms``, ``bottleneck``, ``looks``, ``reversal``, ``held`` and ``exposure``, as their modules tell."""
    trained = trainings.measure(parts)
    return {"arms": trained, "bottleneck": bottleneck.measure(parts), "looks": looks.measure(parts),
            "reversal": reversal.measure(parts), "held": held.measure(parts), "exposure": exposure.measure(parts)}
