"""Recipe of chapter 13: which noise helps which task, and how much to drop in spans of what length."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch13 import claims


def main(parts: Parts) -> dict[str, Any]:
    """``noises`` and ``spans``: the results of the two claims (`claims`)."""
    return {"noises": claims.measure_noises(parts), "spans": claims.measure_spans(parts)}
