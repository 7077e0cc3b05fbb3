"""Recipe of chapter 08: the benefit of BERT's pretraining by number of labels and updates, the contributions of its
parts, and the masking rate."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch08 import both_sides, labels, positions_asked


def main(parts: Parts) -> dict[str, Any]:
    """The results of chapter 08: ``positions asked`` (section 3), ``transfer`` (section 7) and ``both sides`` (section
    8).
    """
    return {"positions asked": positions_asked.measure(parts), "both sides": both_sides.measure(parts),
            "transfer": labels.measure(parts)}
