"""How well single units tell a label: chosen on one half of the texts, and told from the other.

The best of many units looks good by luck alone. So the unit, and which way it points, are chosen on one half, and its
score is that of the other half; the same is to be done for a network that learned nothing and for labels that belong
to other texts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


class Measure(NamedTuple):
    """A measure of how well numbers tell a label, 1 at best; ``chance`` is what it is where they tell nothing, and as
    far on the other side of it the numbers tell as much, turned round."""

    title: str
    of: Callable[[Tensor, Tensor], Tensor]
    chance: float


class Sample(NamedTuple):
    """Positions of some texts: what each unit was there, and the label."""

    values: Float[Tensor, "rows width"]
    labels: Float[Tensor, "rows"]


@dataclass(frozen=True, eq=False)
class UnitScores:
    """The scores of units: ``chosen`` on the half that they are chosen on, never below chance; ``told`` on the other,
    pointing the same way; ``rises`` is whether a unit is higher where the label is."""

    chosen: Float[Tensor, "width"]
    told: Float[Tensor, "width"]
    rises: Bool[Tensor, "width"]

    @property
    def order(self) -> list[int]:
        """The units, the best on the first half first."""
        return self.chosen.argsort(descending=True, stable=True).tolist()

    @property
    def best(self) -> float:
        """What the unit that is chosen reaches on the other half."""
        return float(self.told[self.order[0]])


def ranks(values: Float[Tensor, "rows width"]) -> Float[Tensor, "rows width"]:
    """The rank of each value in its column, from 1 on; equal values share the mean of their ranks."""
    ordered, places = values.T.contiguous().sort(-1)
    count = ordered.shape[-1]
    positions = torch.arange(count).expand_as(ordered)
    differs = ordered[:, 1:] != ordered[:, :-1]
    edge = torch.ones_like(differs[:, :1])
    first = positions.where(torch.cat([edge, differs], 1), 0).cummax(-1).values
    last = positions.where(torch.cat([differs, edge], 1), count - 1).flip(-1).cummin(-1).values.flip(-1)
    return torch.zeros(ordered.shape, dtype=torch.float64).scatter_(-1, places, (first + last).double() / 2 + 1).T


def area_under_curve(values: Float[Tensor, "rows width"], labels: Float[Tensor, "rows"]) -> Float[Tensor, "width"]:
    """The AUC of each column: how often a position of label 1 has the higher value of a pair with one of label 0, ties
    counted half (Mann–Whitney's U over all pairs)."""
    positive = labels > 0.5
    ones, zeros = int(positive.sum()), int((~positive).sum())
    if not ones or not zeros:
        raise ValueError(f"of {len(labels)} positions {ones} have the label and {zeros} have not: an AUC compares the "
                         f"two")
    return (ranks(values)[positive].sum(0) - ones * (ones + 1) / 2) / (ones * zeros)


def rank_correlation(values: Float[Tensor, "rows width"], labels: Float[Tensor, "rows"]) -> Float[Tensor, "width"]:
    """Spearman's correlation of each column with the labels; 0 for a column that never changes."""
    if len(labels) < 2 or bool((labels == labels[0]).all()):
        raise ValueError(f"{len(labels)} positions all have the same label: nothing can go along with it")
    one, other = (ranked - ranked.mean(0) for ranked in (ranks(values), ranks(labels[:, None])))
    size = (one.square().sum(0) * other.square().sum(0)).sqrt()
    return (one * other).sum(0) / size.where(size > 0, 1)


AUC = Measure("AUC", area_under_curve, 0.5)
SPEARMAN = Measure("rank correlation", rank_correlation, 0.0)


def unit_scores(choosing: Sample, telling: Sample, measure: Measure) -> UnitScores:
    """Score every unit on both halves; which way it points is settled on the first."""
    first, second = (measure.of(half.values, half.labels) - measure.chance for half in (choosing, telling))
    rises = first >= 0
    return UnitScores(measure.chance + first.abs(), measure.chance + torch.where(rises, second, -second), rises)


def word_means(words: Int[Tensor, "rows"], labels: Float[Tensor, "rows"], other: Int[Tensor, "query"],
               ) -> Float[Tensor, "query"]:
    """What a word alone tells of its label: the mean label that it has among ``words``, for each of the ``other``; the
    mean of all for one that does not stand there."""
    size = int(max(words.max(), other.max())) + 1
    sums = torch.zeros(size, dtype=labels.dtype).index_add_(0, words, labels)
    counts = torch.zeros(size, dtype=labels.dtype).index_add_(0, words, torch.ones_like(labels))
    return torch.where(counts > 0, sums / counts.clamp_min(1), labels.mean())[other]
