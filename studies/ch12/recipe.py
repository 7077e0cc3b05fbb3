"""Recipe of chapter 12: one network for understanding and generation, the mask mixture, the efficiency of target
masking, blanks of unknown length, the ablation of GLM, and classification in cloze format.

The criteria are stated in the modules of the experiments; each was fixed before its runs.
"""

from typing import Any

from plmlab.recipes import Parts
from studies.ch12 import (
    as_cloze,
    blanks_ablated,
    pretrained,
    shares,
    targets,
    translating,
    tuned,
    unknown_length,
    writing,
)


def main(parts: Parts) -> dict[str, Any]:
    """For the full world, the ``pretrained`` models, fine-tuned for classification (``reading``) and generation
    (``writing``); for the small world, the effect of the mask mixture (``shares``), the masking rate of ``targets``,
    the filling of blanks of ``unknown length``, and GLM's loss ``without`` a part of its objective; and for the full
    world again, the gain of classification ``as cloze``."""
    paid = shares.measure(parts)
    return {"pretrained": pretrained.measure(parts), "writing": writing.measure(parts),
            "reading": tuned.measure(parts), "shares": paid | translating.measure(parts, paid["updates"]),
            "targets": targets.measure(parts),
            "unknown length": unknown_length.measure(parts), "without": blanks_ablated.measure(parts),
            "as cloze": as_cloze.measure(parts)}
