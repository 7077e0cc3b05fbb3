"""Recipe of chapter 10: recall by distance of a Transformer-XL and its baselines, real text, and stories as a test
set."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch10 import arms, distances, effective_length, longer, positions, stories, wikipedia


def main(parts: Parts) -> dict[str, Any]:
    """``distances``, ``longer``, ``positions``, ``effective length``, ``wikipedia``, ``stories``: the results of these
    modules' ``measure``."""
    tuned = arms.tuned(parts)
    longer_runs = longer.measure(parts, tuned)
    return {"distances": distances.measure(parts, tuned), "longer": longer_runs,
            "positions": positions.measure(parts, longer_runs["arms"]["memory"]["in order"]),
            "effective length": effective_length.measure(parts), "wikipedia": wikipedia.measure(parts),
            "stories": stories.measure(parts, tuned["memory"][0])}
