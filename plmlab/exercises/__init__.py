"""The exercises of the course: ``check`` names the mistake, ``case`` gives the input where it shows, ``hint`` climbs a
ladder, ``solution`` is folded away.

``plmlab/chapters/chNN/exercises.py`` holds each exercise's solution, the inputs that tell right from wrong, the hints,
and the mistakes by name, as edits of the solution. The learner's stub is the solution without its body.
"""

from plmlab.exercises.checking import check
from plmlab.exercises.hints import case, hint, solution, start_over, stub

__all__ = ["case", "check", "hint", "solution", "start_over", "stub"]
