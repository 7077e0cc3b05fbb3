"""Recipe of chapter 18: knowledge bases and entity memories."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch18 import edits, fae_answerer, kbqa, knowbert, memory, other_answerers


def main(parts: Parts) -> dict[str, Any]:
    """``knowbert``, ``kbqa``, ``other answerers``, ``fae answerer``, ``memory`` and ``edits``: the results of these
    modules' ``measure``."""
    studies = {"knowbert": knowbert, "kbqa": kbqa, "other answerers": other_answerers,
               "fae answerer": fae_answerer, "memory": memory, "edits": edits}
    return {name: study.measure(parts) for name, study in studies.items()}
