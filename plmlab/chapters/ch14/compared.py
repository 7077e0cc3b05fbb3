"""Constants for comparing CogQA with its baselines: names of variants, groups of multi-hop questions, and the
attributes that comparison questions compare. The study, with the rules fixed before its runs, is
`studies.ch14.compared`."""

from collections.abc import Iterator

from plmlab.chapters.ch14.test_set import SPLITS, questions
from plmlab.world.questions.bank import Question

BOTH, GOLD, TOP = "both systems", "one pass over gold pages", "one pass over top pages"
MARGIN = 0.02
"""Minimum difference in score for one to count as above the other."""
HOPPING = ("one hop", "2 hops", "3 hops")


def comparison_questions() -> Iterator[tuple[str, Question]]:
    """The comparison questions of the test set, each with the name of its split."""
    return ((split, question) for split in SPLITS for group in ("either-or", "yes-no")
            for question in questions(split)[group])


def compared_attribute(question: Question) -> str:
    """The attribute by which the two entities are compared: ``same`` if the question asks whether they share a value,
    otherwise the relation whose number decides."""
    return "the same?" if question.shape.startswith("same_") else question.facts[-1].relation
