"""Chapter 08: what is BERT's pretraining worth, by labels and updates; what are its parts; how many slots to ask?"""

from typing import Any

from plmlab.recipes import Parts
from studies.ch08 import both_sides, labels, slots_asked


def main(parts: Parts) -> dict[str, Any]:
    """What chapter 08 records: ``slots asked`` (section 3), ``transfer`` (section 7) and ``both sides`` (section 8)."""
    return {"slots asked": slots_asked.measure(parts), "both sides": both_sides.measure(parts),
            "transfer": labels.measure(parts)}
