"""Recipe of chapter 17: retrievers and forms of RAG, beside baselines."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch17 import ablation, baselines


def main(parts: Parts) -> dict[str, Any]:
    """``ablation`` and ``baselines``: the results of these modules' ``measure``."""
    return {"ablation": ablation.measure(parts), "baselines": baselines.measure(parts)}
