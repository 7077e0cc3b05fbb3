"""A unit that holds itself keeps a bit and loses a push; one that does not loses both."""

import pytest
import torch

from plmlab.chapters.ch01 import lags
from plmlab.chapters.ch01.last_state_model import LastStateModel
from plmlab.chapters.ch01.latching import STEPS, state_distances, train_latching_rnn
from plmlab.chapters.ch01.tasks import TASKS


def one_unit(itself: float) -> LastStateModel:
    """A plain RNN of one unit that reads the first sign as 1 or −1 and no noise; h = tanh(W x + ``itself`` · h)."""
    network = LastStateModel("RNN", TASKS["first symbol"].inputs, 1, 2, steps=STEPS)
    cell = network.recurrent.cells[0]
    with torch.no_grad():
        for weights in cell.parameters():
            weights.zero_()
        cell.weight_ih[0, :2] = torch.tensor([1.0, -1.0])
        cell.weight_hh.fill_(itself)
    return network


def test_a_unit_that_holds_itself_latches() -> None:
    found = state_distances(one_unit(2.0))
    stable = 0.95750402  # h = tanh(2 h)
    assert found["first symbol"][0] == pytest.approx(2 * torch.tensor(1.0).tanh().item(), rel=1e-6)
    assert found["first symbol"][-1] == pytest.approx(2 * stable, rel=1e-6)
    assert found["perturbation of norm 1"][-1] < 1e-40 + (2 * (1 - stable ** 2)) ** (STEPS - 12)


def test_a_weak_one_loses_both() -> None:
    found = state_distances(one_unit(0.5))
    assert found["first symbol"][-1] < 1e-20 and found["perturbation of norm 1"][-1] < 1e-20
    assert len(found["first symbol"]) == len(found["perturbation of norm 1"]) == STEPS + 1


@pytest.mark.parametrize(("good", "seed"), [({3, 5}, 3), (set(), 11)], ids=["the first that holds a bit", "none"])
def test_a_run_that_ends_otherwise_is_not_taken(good: set[int], seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def learn(task: str, cell: str, steps: int, lr: float, seed: int) -> tuple[LastStateModel, list[float]]:
        return one_unit(2.0 if seed in good else 0.999), [0.5, 0.0 if seed != 2 else 0.4]

    monkeypatch.setattr(lags, "learn", learn)
    _, errors, found = train_latching_rnn()
    assert found == seed and errors == [0.5, 0.0]
