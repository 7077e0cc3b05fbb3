"""The Small World: a miniature universe that generates text and provides complete annotations for it."""

from plmlab.world.world import World, full, small

__all__ = ["World", "full", "small"]
