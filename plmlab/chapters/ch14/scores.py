"""Answers in several hops, scored as HotpotQA scores them (Yang et al. 2018, §5.1): the answer, the sentences that it
rests on, and both at once; and the graph, against the gold one."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from plmlab.metrics import normalised

SURE = ("yes", "no")
"""Answers that share no words with others: they are right or wrong."""


@dataclass(frozen=True)
class Match:
    """How well something was found: exactly, the share of what was given that is right, and of what is right that was
    given."""

    exact: float
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 where both are."""
        return 2 * self.precision * self.recall / total if (total := self.precision + self.recall) else 0.0

    def together(self, other: "Match") -> "Match":
        """Both at once: the products (the joint measures of HotpotQA)."""
        return Match(self.exact * other.exact, self.precision * other.precision, self.recall * other.recall)


def answer_match(answer: str | None, gold: str) -> Match:
    """An answer against the gold one by their words; case, punctuation and articles do not count. None: no answer."""
    given, wanted = normalised(answer or ""), normalised(gold)
    if given != wanted and (given in SURE or wanted in SURE):
        return Match(0.0, 0.0, 0.0)
    words, right = given.split(), wanted.split()
    same = (Counter(words) & Counter(right)).total()
    return Match(float(given == wanted), same / len(words) if words else 0.0, same / len(right) if right else 0.0)


def set_match(found: Collection[object], gold: Collection[object]) -> Match:
    """Things that were found against those that should be: sentences, nodes, edges."""
    both = len(set(found) & set(gold))
    return Match(float(set(found) == set(gold)), both / len(set(found)) if found else 0.0,
                 both / len(set(gold)) if gold else 0.0)
