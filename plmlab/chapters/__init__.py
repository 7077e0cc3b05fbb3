"""What one chapter alone uses, a folder a chapter: its recipe, its exercises with their mistakes.

What two chapters use lies further down; chapters never import chapters.
"""

import importlib
import pkgutil
from types import ModuleType


def chapters_with(part: str) -> list[str]:
    """The chapters that have a module of this name ("exercises", "recipe"): their numbers, two digits each."""
    folders = [folder.name for folder in pkgutil.iter_modules(__path__) if folder.ispkg]
    return sorted(name.removeprefix("ch") for name in folders
                  if any(module.name == part for module in pkgutil.iter_modules([f"{__path__[0]}/{name}"])))


def part_of(chapter: str, part: str) -> ModuleType:
    """A module of one chapter ("06"); ModuleNotFoundError where it has none of that name."""
    return importlib.import_module(f"{__name__}.ch{chapter}.{part}")
