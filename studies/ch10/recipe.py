"""What chapter 10 records: how far back a Transformer-XL answers, its rivals, real text, and stories as an exam."""

from typing import Any

from plmlab.chapters.ch10 import distances
from plmlab.recipes import Parts
from studies.ch10 import effective_length, longer, stories, wikipedia


def main(parts: Parts) -> dict[str, Any]:
    """``distances``, ``longer``, ``effective length``, ``wikipedia``, ``stories``: what their modules' ``measure``
    say."""
    told = distances.measure(parts)
    rates = {name: told["arms"][name]["lr"] for name in longer.AGAIN}
    return {"distances": told, "longer": longer.measure(parts, rates),
            "effective length": effective_length.measure(parts), "wikipedia": wikipedia.measure(parts),
            "stories": stories.measure(parts, rates["memory"])}
