"""Recipe of chapter 12: one network for understanding and generation, the mask mixture, the efficiency of target
masking, blanks of unknown length, the ablation of GLM, and classification in cloze format.

The criteria are stated in the modules of the experiments; each was fixed before its runs.
"""

from typing import Any

from plmlab.recipes import Parts
from studies.ch12 import (
    as_cloze,
    blanks_ablated,
    fine_tuned_translation,
    generation,
    mask_mixture,
    pretrained,
    target_masking,
    tuned,
    unknown_length,
)


def main(parts: Parts) -> dict[str, Any]:
    """For the full world, the ``pretrained`` models, fine-tuned for classification (``reading``) and generation
    (``generation``); for the small world, the effect of the ``mask mixture``, the rate of ``target masking``, the
    filling of blanks of ``unknown length``, and the ``ablations`` of GLM's objective; and for the full world again, the
    gain of classification ``as cloze``."""
    mixture = mask_mixture.measure(parts)
    return {"pretrained": pretrained.measure(parts), "generation": generation.measure(parts),
            "reading": tuned.measure(parts), "mask mixture": mixture | fine_tuned_translation.measure(
                parts, mixture["updates"]),
            "target masking": target_masking.measure(parts),
            "unknown length": unknown_length.measure(parts), "ablations": blanks_ablated.measure(parts),
            "as cloze": as_cloze.measure(parts)}
