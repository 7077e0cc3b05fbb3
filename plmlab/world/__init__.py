"""The Small World: a miniature universe that generates fully annotated text."""

from plmlab.world.world import World, full, small

__all__ = ["World", "full", "small"]
