"""Recipe of chapter 13: which noise helps which task."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch13 import noises


def main(parts: Parts) -> dict[str, Any]:
    """``noises``: the results of `noises.measure`."""
    return {"noises": noises.measure(parts)}
