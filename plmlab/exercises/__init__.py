"""The exercises of the course: ``check`` identifies the mistake in an answer, ``case`` returns the input that reveals
it, ``hint`` gives increasingly specific hints, and ``solution`` shows a solution, folded.

``plmlab/chapters/chNN/exercises.py`` holds the solution of each exercise, the test inputs, the hints, and the known
mistakes, as edits of the solution. The learner's stub is the solution without its body.
"""

from plmlab.exercises.checking import check
from plmlab.exercises.hints import case, hint, solution, start_over, stub

__all__ = ["case", "check", "hint", "solution", "start_over", "stub"]
