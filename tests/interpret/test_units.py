"""Scores of units against scikit-learn, SciPy and loops over all pairs; and against luck."""

import pytest
import torch
from scipy.stats import rankdata, spearmanr
from sklearn.metrics import roc_auc_score
from torch import Tensor

from plmlab.interpret.units import (
    AUC,
    SPEARMAN,
    Measure,
    Sample,
    area_under_curve,
    rank_correlation,
    ranks,
    unit_scores,
    word_means,
)


def drawn(positions: int, units: int, seed: int = 0) -> Tensor:
    return torch.randn(positions, units, generator=torch.Generator().manual_seed(seed))


TIED = (drawn(60, 7) * 2).round()
YES = (drawn(60, 1, 1)[:, 0] > 0.3).float()


def test_ranks_are_scipys_ties_shared() -> None:
    expected = torch.stack([torch.tensor(rankdata(column.numpy())) for column in TIED.T], 1)
    assert torch.equal(ranks(TIED), expected)
    assert ranks(torch.tensor([[2.0], [2.0], [1.0], [5.0]]))[:, 0].tolist() == [2.5, 2.5, 1, 4]


def test_auc_is_scikit_learns_and_that_of_all_pairs() -> None:
    found = area_under_curve(TIED, YES)
    for unit, column in enumerate(TIED.T):
        assert found[unit] == pytest.approx(roc_auc_score(YES.numpy(), column.numpy()), abs=1e-9)
        pairs = [(a > b) + 0.5 * (a == b) for a in column[YES == 1].tolist() for b in column[YES == 0].tolist()]
        assert found[unit] == pytest.approx(sum(pairs) / len(pairs), abs=1e-9)


def test_the_rank_correlation_is_scipys() -> None:
    far = (drawn(60, 1, 2)[:, 0] * 3).round()
    found = rank_correlation(TIED, far)
    for unit, column in enumerate(TIED.T):
        assert found[unit] == pytest.approx(spearmanr(column.numpy(), far.numpy()).statistic, abs=1e-9)


def test_a_unit_that_never_changes_tells_nothing() -> None:
    same = torch.full((60, 1), 0.7)
    assert area_under_curve(same, YES).item() == 0.5 and rank_correlation(same, YES).item() == 0


@pytest.mark.parametrize(("measure", "said"), [(AUC, "0 of 4 positions have label 1 and 4 label 0"),
                                               (SPEARMAN, "all 4 positions have the same label")])
def test_a_label_that_never_changes_is_told(measure: Measure, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        measure.of(drawn(4, 2), torch.zeros(4))


@pytest.mark.parametrize("measure", [AUC, SPEARMAN])
def test_which_way_a_unit_points_is_settled_on_the_first_half(measure: Measure) -> None:
    """Four units: one that tells the label, one that tells it turned round, one that turns between halves, noise."""
    labels = YES
    halves = [Sample(torch.stack([labels, -labels, sign * labels, drawn(60, 1, seed)[:, 0]], 1), labels)
              for sign, seed in ((1, 5), (-1, 6))]
    found = unit_scores(*halves, measure)
    worst = 2 * measure.chance - 1
    assert found.chosen[:3].tolist() == pytest.approx([1, 1, 1])
    assert found.evaluated[:3].tolist() == pytest.approx([1, 1, worst])
    assert found.rises[:3].tolist() == [True, False, True]
    assert sorted(found.order[:3]) == [0, 1, 2] and found.best == pytest.approx(1)


def test_the_best_of_many_random_units_is_told_by_the_other_half() -> None:
    """400 units of noise: the best looks good on 100 positions, and is nothing on 4,000 others."""
    labels = (drawn(4100, 1, 9)[:, 0] > 0).float()
    noise = drawn(4100, 400, 10)
    found = unit_scores(Sample(noise[:100], labels[:100]), Sample(noise[100:], labels[100:]), AUC)
    assert found.chosen.max() > 0.64 and abs(found.best - 0.5) < 0.03


def test_what_a_word_tells_is_its_mean_and_for_a_new_word_that_of_all() -> None:
    words, labels = torch.tensor([4, 4, 7, 9, 4]), torch.tensor([1.0, 0.0, 1.0, 0.0, 1.0])
    assert word_means(words, labels, torch.tensor([9, 4, 7, 12, 0])).tolist() == pytest.approx([0, 2 / 3, 1, 0.6, 0.6])
