"""The configurations compared in chapter 04. Each is trained once per seed; all experiments share these models."""

from plmlab.chapters.ch04.translation import Arm

SEEDS = (2, 3, 4)
UPDATES, LONGER = 2000, 6000
"""Number of updates of every configuration; and of the four that the bottleneck experiment is about."""
DELAY = 10
"""Number of padding tokens ([SEP]): the reduction of the shortest lag of 30-word passages by reversing the source."""

ARMS = {
    "fixed": Arm("fixed"), "general": Arm("general"), "end only": Arm("end only"), "two-way": Arm("two-way"),
    "backwards": Arm("fixed", order="backwards"), "last sentence first": Arm("fixed", order="last sentence first"),
    "delay": Arm("fixed", delay=DELAY), "delay, backwards": Arm("fixed", order="backwards", delay=DELAY),
    "dot": Arm("dot"), "transformer": Arm("transformer"), "fixed, 32": Arm("fixed", 32),
    "general, 32": Arm("general", 32), "additive": Arm("additive"),
    "fixed, to 30": Arm("fixed", longest=30), "general, to 30": Arm("general", longest=30),
}
