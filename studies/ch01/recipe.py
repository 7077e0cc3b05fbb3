"""Recipe of chapter 01: the time lags that each cell learns to bridge; language models of equal size, trained on the
same number of tokens."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch01 import lags, language


def main(parts: Parts) -> dict[str, Any]:
    """Record ``lags`` and ``language``; see their modules."""
    return {"language": language.measure(parts), "lags": lags.measure(parts)}
