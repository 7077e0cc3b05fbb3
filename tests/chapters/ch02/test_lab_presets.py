"""The presets and groups of chapter 02's Vector Lab name words that have vectors."""

import torch

from plmlab import checkpoints, world
from plmlab.chapters.ch02.lab_presets import GROUPS, presets
from plmlab.vectors import WordVectors
from plmlab.vectors.learning import vectors_of
from plmlab.world.datasets.word_kinds import kind_groups


def test_all_words_have_a_vector() -> None:
    words = {*vectors_of(*checkpoints.load("skipgram-world")).words}
    made = presets(dict.fromkeys((9, 0, 4, 1), WordVectors(("a", "b"), torch.eye(2))))
    assert made["collapse at the start"]["update"] == 4
    for preset in made.values():
        named = {preset["word"], *preset.get("analogy", ()), *(word for axis in preset["axes"] for word in axis)}
        assert named <= words
    for group in kind_groups(world.full(), GROUPS).values():
        assert len(group) >= 5 and {*group} <= words
