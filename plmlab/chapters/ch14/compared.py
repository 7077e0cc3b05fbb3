"""What is told of CogQA and its rivals: names of arms, the groups of questions that take hops, and what comparisons
compare. The study itself, and what was written before its runs, is `studies.ch14.compared`."""

from collections.abc import Iterator

from plmlab.chapters.ch14.exam import SPLITS, new_compositions, questions
from plmlab.world.questions.bank import Question

__all__ = ["BOTH", "GOLD", "HOPPING", "MARGIN", "TOP", "compared_questions", "measured_by", "new_compositions"]

BOTH, GOLD, TOP = "both systems", "one pass over gold pages", "one pass over top pages"
MARGIN = 0.02
"""A share by which one must be above the other."""
HOPPING = ("one hop", "2 hops", "3 hops")


def compared_questions() -> Iterator[tuple[str, Question]]:
    """The exam's comparisons, each with its split."""
    return ((split, question) for split in SPLITS for group in ("either-or", "yes-no")
            for question in questions(split)[group])


def measured_by(question: Question) -> str:
    """What two are compared by: whether they have the ``same``, or else the relation that tells the number."""
    return "the same?" if question.shape.startswith("same_") else question.facts[-1].relation
