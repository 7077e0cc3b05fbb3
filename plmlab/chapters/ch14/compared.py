"""CogQA compared with its baselines: names of variants, groups of multi-hop questions, rows of the tables, and
the attributes that comparison questions compare. The study, with the rules fixed before its runs, is
`studies.ch14.compared`."""

from collections.abc import Iterator, Mapping
from typing import Any

from plmlab.chapters.ch14.test_set import SPLITS, questions
from plmlab.tables import spreads
from plmlab.world.questions.bank import Question

BOTH, GOLD, TOP = "both systems", "single-pass reader, gold pages", "single-pass reader, retrieved pages"
MARGIN = 0.02
"""Minimum difference in score for one to count as above the other."""
HOPPING = ("one hop", "2 hops", "3 hops")


def score_rows(numbers: Mapping[str, Any], measure: str) -> dict[str, list[str]]:
    """Model or baseline → a score in percent on the seen compositions by hops, then on the unseen compositions; "–" if
    not measured. ``numbers`` are the chapter's recorded results."""
    arms, new = numbers["compared"]["arms"], numbers["compared"]["unseen compositions"]
    rows = {name: [*spreads(arms[arm]["groups"][group][measure] for group in HOPPING),
                   *(spreads(new[arm][group][measure] for group in HOPPING[1:]) if arm in new else "––")]
            for name, arm in (("CogQA", BOTH), (TOP, TOP), (GOLD, GOLD))}
    for name, parts in numbers["multi-hop baselines"].items():
        rows[name] = [f"{100 * scores[measure]:.0f}" for groups in parts.values() for scores in groups.values()]
    return rows


def comparison_questions() -> Iterator[tuple[str, Question]]:
    """The comparison questions of the test set, each with the name of its split."""
    return ((split, question) for split in SPLITS for group in ("either-or", "yes-no")
            for question in questions(split)[group])


def compared_attribute(question: Question) -> str:
    """The attribute by which the two entities are compared: ``same`` if the question asks whether they share a value,
    otherwise the relation whose number decides."""
    return "the same?" if question.shape.startswith("same_") else question.facts[-1].relation
