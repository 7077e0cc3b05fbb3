"""Presets of the Retrieval Lab: queries to try."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class RetrievalPreset:
    """A query to try: its title, its ``text`` (with one [MASK] per masked token, or a question), and the correct
    ``answer`` if known. ``excluded`` lists the numbers of the documents that the query was taken from; ``replaced``
    holds an initial edit, as number → (title, text); ``chosen`` is the answer that is drawn first, unless it is the
    most probable one."""

    title: str
    text: str
    answer: str = ""
    excluded: tuple[int, ...] = ()
    replaced: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    chosen: str = ""

    def traits(self) -> dict[str, Any]:
        """The trait values that clicking this preset sets."""
        return {"text": self.text, "excluded": list(self.excluded), "added": [], "removed": [], "chosen": self.chosen,
                "replaced": {str(number): list(fields) for number, fields in self.replaced.items()}}
