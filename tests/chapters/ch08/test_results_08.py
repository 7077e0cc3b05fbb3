"""The tables of the recorded results, the rules of chapter 08, and what they decide."""

import pytest

from plmlab.chapters.ch08 import results

SUPPORTED, NOT, OPEN = "supported", "not supported", "inconclusive"


@pytest.mark.parametrize(("one", "other", "told"), [
    ((0.8, 0.9), (0.5, 0.7), SUPPORTED), ((0.8, 0.9), (0.7, 0.8), OPEN), ((0.5, 0.9), (0.6, 0.7), OPEN),
    ((0.5, 0.6), (0.7, 0.8), NOT), ((0.5, 0.7), (0.6, 0.6), NOT),
])
def test_the_rule_compares_the_lowest_seed_with_the_highest_then_the_means(
        one: tuple[float, float], other: tuple[float, float], told: str) -> None:
    summaries = [{"low": low, "high": high, "mean": (low + high) / 2} for low, high in (one, other)]
    assert results.outcome(*summaries) == told


def test_the_outcomes_are_those_of_the_chapters_verdicts() -> None:
    assert results.transfer_outcomes() == {
        "acceptability": [OPEN, SUPPORTED, SUPPORTED], "paraphrase": [OPEN, OPEN, SUPPORTED], "NER": [SUPPORTED] * 3,
        "extractive QA": [SUPPORTED] * 3}
    assert [*results.ablation_outcomes().values()] == [[NOT, OPEN, NOT]] * 2
    assert results.masking()["claim: 80/10/10 outperforms always [MASK]"] == [SUPPORTED, OPEN, ""]


def test_all_fine_tuned_means_are_above_those_from_scratch() -> None:
    gains = results.transfer_gains()
    assert all(gain > 0 for row in gains.values() for gain in row)
    assert gains["acceptability"][2] == pytest.approx(52, abs=1)


def test_the_rows_have_the_numbers_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "majority", lambda task: 0.46)
    monkeypatch.setattr(results, "overlap_score", lambda: 0.72)
    transfer, ablation = results.transfer(), results.ablation()
    assert transfer["NER"]["from scratch"] == ["31 (27–35)", "52 (48–55)", "90 (87–94)", "0.001"]
    assert transfer["acceptability"]["baseline: majority class"] == ["", "", "46", ""]
    assert transfer["paraphrase"]["baseline: word overlap"] == ["", "", "72", ""]
    assert "baseline: majority class" not in transfer["NER"]
    assert transfer["NER"]["frozen: BiLSTM, all layers"][:2] == ["", ""]
    assert ablation["left-to-right, no NSP"] == ["99 (98–100)", "70 (68–72)", "93 (91–96)"]
    assert {len(row) for row in ablation.values()} == {3}
    assert results.pretraining()["left-to-right, no NSP"] == ["2.3", "0.01"]
    assert results.masking()["always [MASK]"] == ["92 (90–94)", "94 (92–97)", "52 (49–54)"]
    assert results.masking_rates()["30%, 500 updates"] == ["48 (42–51)"]
