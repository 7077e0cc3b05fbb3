"""The Small World: a miniature universe that writes its own text and knows everything about it."""

from plmlab.world.world import World, full, small

__all__ = ["World", "full", "small"]
