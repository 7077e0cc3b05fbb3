"""The exam of chapter 14: questions of all kinds by how many hops they take, from three splits, and their outcomes.

*test* asks what no training question asks, of articles that were read in training; *facts* needs facts, and *entities*
pages, that no training text has.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import islice, tee
from statistics import fmean

from plmlab import world
from plmlab.chapters.ch14.answering import GrownOutcome, Outcome
from plmlab.world.questions.bank import Question

SPLITS = ("test", "facts", "entities")
SIZES: Mapping[str, int] = {"one hop": 100, "2 hops": 150, "3 hops": 100, "either-or": 100, "yes-no": 100}
"""So many questions of a group, of each split, at most; there are 60 of three hops in *test*."""
GROUPS: Mapping[str, tuple[str, ...]] = {
    "one-hop": ("one hop",), "bridge": ("2 hops", "3 hops"), "comparison": ("either-or", "yes-no")}
"""The groups of a kind of question."""


def group(question: Question) -> str:
    """The group of a question: by its hops, or by how it compares."""
    if question.kind == "comparison":
        return question.form
    return "one hop" if question.hops == 1 else f"{question.hops} hops"


@cache
def questions(split: str) -> dict[str, tuple[Question, ...]]:
    """Group → the exam's questions of a split."""
    found = {}
    for kind, names in GROUPS.items():
        drawn = islice(world.full().questions(kind, split, 0), 2000)
        for name, some in zip(names, tee(drawn, len(names)), strict=True):
            found[name] = tuple(islice((one for one in some if group(one) == name), SIZES[name]))
    return found


@cache
def new_compositions() -> dict[str, tuple[Question, ...]]:
    """2 and 3 hops → questions whose relations no training question puts together, each of which training asks with
    others."""
    drawn = [*world.full().questions("bridge", "combinations", 0)]
    return {name: tuple(islice((one for one in drawn if group(one) == name), 100)) for name in ("2 hops", "3 hops")}


def by_group(answer: Callable[[Question, str], Outcome], groups: Iterable[str] = tuple(SIZES),
             ) -> dict[str, dict[str, float]]:
    """Group → `told` of all its questions, the splits pooled, and the share ``in`` each split that is right;
    ``answer`` gives the outcome of a question of a split."""
    found = {}
    for name in groups:
        parts = {split: [answer(question, split) for question in questions(split)[name]] for split in SPLITS}
        found[name] = told([one for part in parts.values() for one in part]) | {
            f"in {split}": fmean(one.answer.exact for one in part) for split, part in parts.items()}
    return found


def told(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Means over questions: of whether the answer, the supporting sentences, and both are right, and of their F1; of
    the pages that were ``read``; where graphs were grown, of the precision and recall of nodes and edges, of whether
    System 1 ``alone`` is right, and whether the right answer is ``among`` the nodes that it points at as answers."""
    found = {"exact": fmean(one.answer.exact for one in outcomes), "f1": fmean(one.answer.f1 for one in outcomes),
             "read": fmean(one.read for one in outcomes)}
    for name in ("supporting", "joint"):
        some = [getattr(one, name) for one in outcomes]
        found |= {f"{name} exact": fmean(one.exact for one in some), f"{name} f1": fmean(one.f1 for one in some)}
    grown = [one for one in outcomes if isinstance(one, GrownOutcome)]
    if grown:
        found |= {"alone": fmean(one.alone.exact for one in grown), "among": fmean(one.among for one in grown)}
    for name in ("nodes", "edges") if grown else ():
        some = [getattr(one, name) for one in grown]
        found |= {f"precision of {name}": fmean(one.precision for one in some),
                  f"recall of {name}": fmean(one.recall for one in some)}
    return found
