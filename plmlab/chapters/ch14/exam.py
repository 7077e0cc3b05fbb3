"""The exam of chapter 14: questions of all kinds by how many hops they take, from three splits.

*test* asks what no training question asks, of articles that were read in training; *facts* needs facts, and *entities*
pages, that no training text has.
"""

from collections.abc import Mapping
from functools import cache
from itertools import islice, tee

from plmlab import world
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
