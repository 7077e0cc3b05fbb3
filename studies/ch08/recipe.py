"""Chapter 08: what is BERT's pretraining worth, by labels and updates; what are its parts; how many positions to
ask?"""

from typing import Any

from plmlab.recipes import Parts
from studies.ch08 import both_sides, labels, positions_asked


def main(parts: Parts) -> dict[str, Any]:
    """What chapter 08 records: ``positions asked`` (section 3), ``transfer`` (section 7) and ``both sides`` (section
    8)."""
    return {"positions asked": positions_asked.measure(parts), "both sides": both_sides.measure(parts),
            "transfer": labels.measure(parts)}
