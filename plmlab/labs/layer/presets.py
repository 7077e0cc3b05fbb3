"""Presets of the Layer Lab: pairs of sentences that share an ambiguous word."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

TEXT = "the old bank lent the grandmother some money ."
SECOND = "the miners sat by the water on the bank ."
SPELLED = "Whitfield"
SPELLINGS = (SPELLED, "bankful", "unbearable", "猫")


@dataclass(frozen=True)
class LayerPreset:
    """A preset: two sentences, and a word that occurs in both."""

    title: str
    text: str
    second: str
    word: str

    def traits(self) -> dict[str, Any]:
        """The trait values that clicking this preset sets."""
        return {"text": self.text, "second": self.second,
                "places": [sentence.split().index(self.word) for sentence in (self.text, self.second)]}


OTHER = LayerPreset("two senses", TEXT, SECOND, "bank")
SAME = LayerPreset("one sense", TEXT, "the pilots borrowed money from the bank .", "bank")
RIGHT = LayerPreset("same left context", "the bank in Elmsworth closed at noon and paid no interest .",
                    "the bank in Elmsworth is covered with reeds .", "bank")
LEFT = LayerPreset("same right context", "Alice Carver keeps her money at the bank .", SECOND, "bank")
SPRING = LayerPreset("another word", "the spring near Ostrava fills a small pond .",
                     "the spring was warm and rainy this year .", "spring")
OFFERED: Sequence[LayerPreset] = (OTHER, SAME, RIGHT, LEFT, SPRING)
