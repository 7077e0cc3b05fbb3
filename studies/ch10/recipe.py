"""What chapter 10 records: how far back a Transformer-XL answers, its rivals, real text, and stories as an exam."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch10 import arms, distances, effective_length, longer, stories, wikipedia


def main(parts: Parts) -> dict[str, Any]:
    """``distances``, ``longer``, ``effective length``, ``wikipedia``, ``stories``: what their modules' ``measure``
    say."""
    tuned = arms.tuned(parts)
    return {"distances": distances.measure(parts, tuned), "longer": longer.measure(parts, tuned),
            "effective length": effective_length.measure(parts), "wikipedia": wikipedia.measure(parts),
            "stories": stories.measure(parts, tuned["memory"][0])}
