"""Recipe of chapter 19: the quality of AT, FAT and Speed Transformer."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch19 import quality


def main(parts: Parts) -> dict[str, Any]:
    """``quality``: the results of that module's ``measure``."""
    return {"quality": quality.measure(parts)}
