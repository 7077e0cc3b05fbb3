"""The candidate of a GRU with a clamped reset gate, compared with its formula."""

import pytest
import torch

from plmlab.chapters.ch01.reset_gate import candidate, candidate_changes
from plmlab.layers.cells import GRUCell
from plmlab.layers.recurrent import Recurrent


@pytest.mark.parametrize("gate", [0.0, 0.3, 1.0])
def test_the_clamped_gate_multiplies_the_state_in_the_candidate(gate: float) -> None:
    torch.manual_seed(1)
    layer, x, h = Recurrent(GRUCell, 3, 5), torch.randn(2, 1, 3), torch.randn(2, 5)
    cell = layer.cells[0]
    (W, U, b) = (weight.chunk(3)[2] for weight in (cell.weight_ih, cell.weight_hh, cell.bias_ih + cell.bias_hh))
    expected = torch.tanh(x[:, 0] @ W.T + gate * h @ U.T + b)
    assert torch.allclose(candidate(layer, x, h, gate).view(2, 5), expected, atol=1e-6)


def test_a_closed_gate_removes_the_state_but_not_the_input() -> None:
    by_input, by_state = candidate_changes(0.0)
    assert by_input > 0.1 and by_state == 0
    assert min(candidate_changes(1.0)) > 0.1
