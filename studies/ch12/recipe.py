"""Chapter 12: one network for reading and writing, what the mix of masks is worth, and what hiding a target wastes;
blanks of unknown length, what GLM owes to each of its parts, and a class that is a word.

What would hold, and what would fail, the modules of the experiments say; each was written before its runs.
"""

from typing import Any

from plmlab.recipes import Parts
from studies.ch12 import (
    as_cloze,
    blanks_ablated,
    pretrained,
    shares,
    targets,
    translating,
    tuned,
    unknown_length,
    writing,
)


def main(parts: Parts) -> dict[str, Any]:
    """Of the full world what was ``pretrained``, then tuned to read (``reading``) and to write (``writing``); of the
    small one what ``shares`` of the masks come to, how much of the ``targets`` should be hidden, how blanks of
    ``unknown length`` are filled, and what GLM pays ``without`` a part of it; and of the full one again what is gained
    by saying a class ``as cloze``."""
    paid = shares.measure(parts)
    return {"pretrained": pretrained.measure(parts), "writing": writing.measure(parts),
            "reading": tuned.measure(parts), "shares": paid | translating.measure(parts, paid["updates"]),
            "targets": targets.measure(parts),
            "unknown length": unknown_length.measure(parts), "without": blanks_ablated.measure(parts),
            "as cloze": as_cloze.measure(parts)}
