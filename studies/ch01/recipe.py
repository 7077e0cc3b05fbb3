"""What chapter 01 records: how long a lag each cell bridges, and language models of one size at equal tokens."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch01 import lags, language


def main(parts: Parts) -> dict[str, Any]:
    """``lags`` and ``language``, as their modules tell."""
    return {"language": language.measure(parts), "lags": lags.measure(parts)}
