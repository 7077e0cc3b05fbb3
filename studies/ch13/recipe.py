"""Recipe of chapter 13: which noise helps which task, how much to drop in spans of what length, and which gap sentences
replace how many labels."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch13 import claims, few_labels


def main(parts: Parts) -> dict[str, Any]:
    """``noises`` and ``spans``: the results of the two claims of `claims`; ``few labels``: those of `few_labels`."""
    return {"noises": claims.measure_noises(parts), "spans": claims.measure_spans(parts),
            "few labels": few_labels.measure(parts)}
