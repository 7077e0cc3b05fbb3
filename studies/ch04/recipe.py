"""Recipe of chapter 04: the bottleneck, alignment, source reversal, probing the encoder state, exposure bias."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch04 import bottleneck, exposure, held, looks, reversal, trainings


def main(parts: Parts) -> dict[str, Any]:
    """Record ``arms``, ``bottleneck``, ``looks``, ``reversal``, ``held`` and ``exposure``; see their modules."""
    trained = trainings.measure(parts)
    return {"arms": trained, "bottleneck": bottleneck.measure(parts), "looks": looks.measure(parts),
            "reversal": reversal.measure(parts), "held": held.measure(parts), "exposure": exposure.measure(parts)}
