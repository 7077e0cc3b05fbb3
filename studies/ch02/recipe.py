"""What chapter 02 records: what a small dimension costs, how near sampled training comes to the exact minimum, and
what vectors of real text are worth."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch02 import sampling, sizes, wikipedia


def main(parts: Parts) -> dict[str, Any]:
    """``sizes``, ``sampling`` and ``wikipedia``, as their modules tell."""
    return {"sizes": sizes.measure(parts), "sampling": sampling.measure(parts), "wikipedia": wikipedia.measure(parts)}
