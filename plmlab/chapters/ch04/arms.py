"""The models that chapter 04 compares: each is trained once a seed, so that every experiment asks the same ones."""

from plmlab.chapters.ch04.translation import Arm

SEEDS = (2, 3, 4)
UPDATES, LONGER = 2000, 6000
"""Of every arm; and of the four that the bottleneck is judged by."""
DELAY = 10
"""Positions of nothing: as many as reading backwards takes off the shortest lag of passages of 30 words."""

ARMS = {
    "fixed": Arm("fixed"), "general": Arm("general"), "end only": Arm("end only"), "two-way": Arm("two-way"),
    "backwards": Arm("fixed", order="backwards"), "last sentence first": Arm("fixed", order="last sentence first"),
    "delay": Arm("fixed", delay=DELAY), "delay, backwards": Arm("fixed", order="backwards", delay=DELAY),
    "dot": Arm("dot"), "transformer": Arm("transformer"), "fixed, 32": Arm("fixed", 32),
    "general, 32": Arm("general", 32), "additive": Arm("additive"),
    "fixed, to 30": Arm("fixed", longest=30), "general, to 30": Arm("general", longest=30),
}
