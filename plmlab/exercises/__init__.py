"""The exercises of the course: ``check`` names the mistake, ``hint`` climbs a ladder, ``solution`` is folded away.

One file a chapter, ``chapterNN.py``, holds each exercise's solution, the wrong solutions under the names of their
mistakes, the inputs that tell them apart, and the hints. The learner's stub is the solution without its body.
"""

from plmlab.exercises.guidance import hint, solution, start_over, stub
from plmlab.exercises.judging import check

__all__ = ["check", "hint", "solution", "start_over", "stub"]
