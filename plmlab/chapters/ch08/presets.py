"""Presets of chapter 08 for the Attention Lab: a head that attends from a position, not from a subject, to the verb."""

from plmlab.chapters.ch08.heads import BestHead
from plmlab.labs.attention.lab import AttentionPreset


def position_head(best: BestHead) -> list[AttentionPreset]:
    """Two sentences for the head that attends from most subjects to their verbs: with its subject in position 2, and
    with an adjective there."""
    layer, head = best.layer, best.head
    return [
        AttentionPreset(
            "two intervening nouns", "the keys near the old table under the window are lost .", layer, head, "keys",
            "are", "“keys” attends to “are”, past “table” and “window”. Do these two nouns attend to “are” as well?",
            "Hardly: “window”, next to it, gives it a weight of 0.08, and “table” less."),
        AttentionPreset(
            "an adjective before the subject", "the white jackets are too expensive .", layer, head, "jackets", "are",
            "“white” moves the subject from position 2 to position 3. Does “jackets” still attend to “are”? Does "
            "“white”?",
            "“jackets” attends most to [CLS]. “white”, now in position 2, gives “are” a weight of 0.82. This head has "
            "learned in which position subjects usually are, not what a subject is."),
    ]
