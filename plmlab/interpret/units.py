"""Single-unit probes: how well does one unit predict a label? The unit is selected on one half of the texts and scored
on the other.

Among many units, the best one has a high score by chance alone. Therefore the unit and its sign are selected on one
half, and the score is computed on the other. As controls, the same should be done for an untrained network and for
labels of other texts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


class Measure(NamedTuple):
    """A score of how well values predict a label: at most 1, and ``chance`` for uninformative values. A score below
    chance is as informative as one above it by the same amount, with the sign flipped."""

    title: str
    of: Callable[[Tensor, Tensor], Tensor]
    chance: float


class Sample(NamedTuple):
    """Activations of all units at some positions, and the label of each position."""

    values: Float[Tensor, "rows width"]
    labels: Float[Tensor, "rows"]


@dataclass(frozen=True, eq=False)
class UnitScores:
    """Scores of all units: ``chosen`` on the selection half (at least chance), ``evaluated`` on the evaluation half
    with the same sign. ``rises`` is True for units that increase with the label."""

    chosen: Float[Tensor, "width"]
    evaluated: Float[Tensor, "width"]
    rises: Bool[Tensor, "width"]

    @property
    def order(self) -> list[int]:
        """Unit indices by their score on the selection half, best first."""
        return self.chosen.argsort(descending=True, stable=True).tolist()

    @property
    def best(self) -> float:
        """Score of the selected unit on the evaluation half."""
        return float(self.evaluated[self.order[0]])


def ranks(values: Float[Tensor, "rows width"]) -> Float[Tensor, "rows width"]:
    """Rank of each value in its column, from 1; ties get the mean of their ranks."""
    ordered, indices = values.T.contiguous().sort(-1)
    count = ordered.shape[-1]
    index = torch.arange(count).expand_as(ordered)
    differs = ordered[:, 1:] != ordered[:, :-1]
    edge = torch.ones_like(differs[:, :1])
    first = index.where(torch.cat([edge, differs], 1), 0).cummax(-1).values
    last = index.where(torch.cat([differs, edge], 1), count - 1).flip(-1).cummin(-1).values.flip(-1)
    return torch.zeros(ordered.shape, dtype=torch.float64).scatter_(-1, indices, (first + last).double() / 2 + 1).T


def area_under_curve(values: Float[Tensor, "rows width"], labels: Float[Tensor, "rows"]) -> Float[Tensor, "width"]:
    """AUC of each column: the probability that a position with label 1 has a higher value than one with label 0, where
    ties count half (the Mann–Whitney U statistic divided by the number of pairs). Raises ValueError if only one label
    occurs."""
    positive = labels > 0.5
    ones, zeros = int(positive.sum()), int((~positive).sum())
    if not ones or not zeros:
        raise ValueError(f"{ones} of {len(labels)} positions have label 1 and {zeros} label 0; an AUC needs both")
    return (ranks(values)[positive].sum(0) - ones * (ones + 1) / 2) / (ones * zeros)


def rank_correlation(values: Float[Tensor, "rows width"], labels: Float[Tensor, "rows"]) -> Float[Tensor, "width"]:
    """Spearman correlation of each column with the labels; 0 for a constant column. Raises ValueError if all labels
    are equal."""
    if len(labels) < 2 or bool((labels == labels[0]).all()):
        raise ValueError(f"all {len(labels)} positions have the same label; a correlation needs different ones")
    x, y = (ranked - ranked.mean(0) for ranked in (ranks(values), ranks(labels[:, None])))
    scale = (x.square().sum(0) * y.square().sum(0)).sqrt()
    return (x * y).sum(0) / scale.where(scale > 0, 1)


AUC = Measure("AUC", area_under_curve, 0.5)
SPEARMAN = Measure("rank correlation", rank_correlation, 0.0)


def unit_scores(choosing: Sample, telling: Sample, measure: Measure) -> UnitScores:
    """Score every unit on both halves, with the sign selected on the first half."""
    first, second = (measure.of(half.values, half.labels) - measure.chance for half in (choosing, telling))
    rises = first >= 0
    return UnitScores(measure.chance + first.abs(), measure.chance + torch.where(rises, second, -second), rises)


def word_means(words: Int[Tensor, "rows"], labels: Float[Tensor, "rows"], other: Int[Tensor, "query"],
               ) -> Float[Tensor, "query"]:
    """Word-identity baseline: for each word in ``other``, the mean label of that word in ``words``, or the overall mean
    if it does not occur there."""
    size = int(max(words.max(), other.max())) + 1
    sums = torch.zeros(size, dtype=labels.dtype).index_add_(0, words, labels)
    counts = torch.zeros(size, dtype=labels.dtype).index_add_(0, words, torch.ones_like(labels))
    return torch.where(counts > 0, sums / counts.clamp_min(1), labels.mean())[other]
