"""Scores of multi-hop answers as in HotpotQA (Yang et al. 2018, §5.1), for the answer, its supporting sentences, and
both jointly; and scores of the graph against the gold graph."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from plmlab.metrics import normalised

SURE = ("yes", "no")
"""Answers that get no partial credit for shared words."""


@dataclass(frozen=True)
class Match:
    """Exact match, precision and recall of a prediction."""

    exact: float
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 if both are 0."""
        return 2 * self.precision * self.recall / total if (total := self.precision + self.recall) else 0.0

    def together(self, other: "Match") -> "Match":
        """Joint score: the products of both precisions and of both recalls (HotpotQA's joint metrics)."""
        return Match(self.exact * other.exact, self.precision * other.precision, self.recall * other.recall)


def answer_match(answer: str | None, gold: str) -> Match:
    """Word overlap of an answer with the gold answer, ignoring case, punctuation and articles. None means no answer."""
    given, wanted = normalised(answer or ""), normalised(gold)
    if given != wanted and (given in SURE or wanted in SURE):
        return Match(0.0, 0.0, 0.0)
    words, right = given.split(), wanted.split()
    same = (Counter(words) & Counter(right)).total()
    return Match(float(given == wanted), same / len(words) if words else 0.0, same / len(right) if right else 0.0)


def set_match(found: Collection[object], gold: Collection[object]) -> Match:
    """Score of a predicted set of sentences, nodes or edges against the gold set."""
    both = len(set(found) & set(gold))
    return Match(float(set(found) == set(gold)), both / len(set(found)) if found else 0.0,
                 both / len(set(gold)) if gold else 0.0)
