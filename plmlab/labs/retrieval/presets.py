"""Statements to try in the Retrieval Lab."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class RetrievalPreset:
    """A statement to try: what it is called, its ``text`` with [MASK] for each hidden token, and its right ``answer``
    where that is known. ``excluded`` are the numbers of the documents that it was taken from; ``replaced`` is an edit
    to begin with, number → (title, text)."""

    title: str
    text: str
    answer: str = ""
    excluded: tuple[int, ...] = ()
    replaced: Mapping[int, tuple[str, str]] = field(default_factory=dict)

    def traits(self) -> dict[str, Any]:
        """What the lab is set to by it."""
        return {"text": self.text, "excluded": list(self.excluded), "added": [], "removed": [],
                "replaced": {str(number): list(told) for number, told in self.replaced.items()}}
