"""The coloured groups of words and the presets of chapter 02's Vector Lab."""

from collections.abc import Mapping
from typing import Any

from plmlab.vectors import WordVectors

GROUPS = {"crafts": "craft sg", "animals": "animal sg", "animals, plural": "animal pl", "towns": "town",
          "years": "year", "given names": "given name"}
"""Label of a group in the lab → category of words in the world."""


def presets(snapshots: Mapping[int, WordVectors]) -> dict[str, dict[str, Any]]:
    """The lab's preset buttons: title → the traits that the preset sets. The last preset shows the third snapshot."""
    return {
        "one word, two senses": {"word": "bank", "axes": ()},
        "plural as an axis": {"word": "boys", "axes": (("girl", "girls"), ("baker", "wolf"))},
        "towns and rivers": {"word": "Pinewood", "analogy": ("Glenmore", "Isel", "Pinewood", "Drina"),
                             "axes": (("Glenmore", "Isel"), ("Glenmore", "Pinewood"))},
        "collapse at the start": {"word": "baker", "axes": (), "update": sorted(snapshots)[2]},
    }
