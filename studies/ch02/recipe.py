"""Recipe of chapter 02: the effect of the dimension, the distance of sampled training from the exact minimum, and the
quality of vectors trained on real text."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch02 import sampling, sizes, wikipedia


def main(parts: Parts) -> dict[str, Any]:
    """Record ``sizes``, ``sampling`` and ``wikipedia``; see their modules."""
    return {"sizes": sizes.measure(parts), "sampling": sampling.measure(parts), "wikipedia": wikipedia.measure(parts)}
