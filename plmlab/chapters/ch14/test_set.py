"""The test set of chapter 14: questions of all kinds from three splits, grouped by number of hops.

The questions of *test* do not occur in training, but their articles do; those of *facts* need facts that no training
text contains, and those of *entities* need pages that no training text contains.
"""

from collections.abc import Mapping
from functools import cache
from itertools import islice, tee

from plmlab import world
from plmlab.world.questions.bank import Question

SPLITS = ("test", "facts", "entities")
SIZES: Mapping[str, int] = {"one hop": 100, "2 hops": 150, "3 hops": 100, "either-or": 100, "yes-no": 100}
"""Maximum number of questions per group and split; *test* has only 60 of three hops."""
GROUPS: Mapping[str, tuple[str, ...]] = {
    "one-hop": ("one hop",), "bridge": ("2 hops", "3 hops"), "comparison": ("either-or", "yes-no")}
"""Kind of question → its groups."""


def group(question: Question) -> str:
    """The group of a question: its number of hops or, for a comparison question, its form."""
    if question.kind == "comparison":
        return question.form
    return "one hop" if question.hops == 1 else f"{question.hops} hops"


@cache
def questions(split: str) -> dict[str, tuple[Question, ...]]:
    """Map each group to the test questions of a split."""
    by_group = {}
    for kind, names in GROUPS.items():
        drawn = islice(world.full().questions(kind, split, 0), 2000)
        for name, some in zip(names, tee(drawn, len(names)), strict=True):
            by_group[name] = tuple(islice((one for one in some if group(one) == name), SIZES[name]))
    return by_group


@cache
def unseen_compositions() -> dict[str, tuple[Question, ...]]:
    """For 2 and 3 hops, the questions with a combination of relations that no training question has, although each
    relation occurs in other combinations in training."""
    pool = [*world.full().questions("bridge", "combinations", 0)]
    return {name: tuple(islice((one for one in pool if group(one) == name), 100)) for name in ("2 hops", "3 hops")}
