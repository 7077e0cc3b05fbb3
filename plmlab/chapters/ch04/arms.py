"""The configurations compared in chapter 04. Each is trained once per seed; all experiments share these models."""

from plmlab.chapters.ch04.translation import Variant

SEEDS = (2, 3, 4)
UPDATES, LONGER = 2000, 6000
"""Number of updates of every configuration; and of the four that the bottleneck experiment is about."""
DELAY = 10
"""Number of padding tokens ([SEP]): the reduction of the shortest lag of 30-word passages by reversing the source."""

ARMS = {
    "fixed": Variant("fixed"), "general": Variant("general"), "end only": Variant("end only"),
    "two-way": Variant("two-way"), "backwards": Variant("fixed", order="backwards"),
    "last sentence first": Variant("fixed", order="last sentence first"),
    "delay": Variant("fixed", delay=DELAY), "delay, backwards": Variant("fixed", order="backwards", delay=DELAY),
    "dot": Variant("dot"), "transformer": Variant("transformer"), "fixed, 32": Variant("fixed", 32),
    "general, 32": Variant("general", 32), "additive": Variant("additive"),
    "fixed, to 30": Variant("fixed", longest=30), "general, to 30": Variant("general", longest=30),
}
