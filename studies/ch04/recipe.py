"""Recipe of chapter 04: the bottleneck, alignment, source reversal, probing the encoder state, exposure bias."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch04 import attention_alignment, exposure, reversal, single_vector_bottleneck, state_probe, trainings


def main(parts: Parts) -> dict[str, Any]:
    """Record ``arms``, ``single_vector_bottleneck``, ``attention_alignment``, ``reversal``, ``state_probe`` and
    ``exposure``; see their modules."""
    trained = trainings.measure(parts)
    return {"arms": trained, "single_vector_bottleneck": single_vector_bottleneck.measure(parts),
            "attention_alignment": attention_alignment.measure(parts), "reversal": reversal.measure(parts),
            "state_probe": state_probe.measure(parts), "exposure": exposure.measure(parts)}
