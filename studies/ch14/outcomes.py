"""Test results: means over the questions of a group."""

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from plmlab.chapters.ch14.answering import GraphOutcome, Outcome
from plmlab.chapters.ch14.test_set import SIZES, SPLITS, questions
from plmlab.world.questions.bank import Question


def by_group(answer: Callable[[Question, str], Outcome], groups: Iterable[str] = tuple(SIZES),
             ) -> dict[str, dict[str, float]]:
    """Map each group to `mean_scores` of all its questions, with the splits pooled, and to the accuracy ``in`` each
    split. ``answer`` maps a question and its split to the outcome."""
    found = {}
    for name in groups:
        parts = {split: [answer(question, split) for question in questions(split)[name]] for split in SPLITS}
        found[name] = mean_scores([one for part in parts.values() for one in part]) | {
            f"in {split}": fmean(one.answer.exact for one in part) for split, part in parts.items()}
    return found


def mean_scores(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Means over questions: exact match and F1 of the answer, of the supporting sentences, and of both jointly; the
    number of pages ``read``; and for graphs the precision and recall of nodes and edges, the accuracy of System 1
    ``alone``, and the fraction of questions whose correct answer is ``among`` the candidate answer nodes."""
    found = {"exact": fmean(one.answer.exact for one in outcomes), "f1": fmean(one.answer.f1 for one in outcomes),
             "read": fmean(one.read for one in outcomes)}
    for name in ("supporting", "joint"):
        some = [getattr(one, name) for one in outcomes]
        found |= {f"{name} exact": fmean(one.exact for one in some), f"{name} f1": fmean(one.f1 for one in some)}
    grown = [one for one in outcomes if isinstance(one, GraphOutcome)]
    if grown:
        found |= {"alone": fmean(one.alone.exact for one in grown), "among": fmean(one.among for one in grown)}
    for name in ("nodes", "edges") if grown else ():
        some = [getattr(one, name) for one in grown]
        found |= {f"precision of {name}": fmean(one.precision for one in some),
                  f"recall of {name}": fmean(one.recall for one in some)}
    return found
