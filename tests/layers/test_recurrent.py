"""Recurrent cells by hand: single steps, gates that are reached into, gradients through time; and clear errors."""

from contextlib import nullcontext
from math import exp, tanh

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from plmlab.interpret import intervene, watch
from plmlab.layers.cells import (
    Cell,
    CoupledLSTMCell,
    GRUCell,
    IdentityRNNCell,
    LSTMCell,
    PeepholeLSTMCell,
    RNNCell,
    TorchGRUCell,
)
from plmlab.layers.recurrent import Recurrent

CELLS = (RNNCell, IdentityRNNCell, LSTMCell, PeepholeLSTMCell, CoupledLSTMCell, GRUCell, TorchGRUCell)


def sigma(x: float) -> float:
    return 1 / (1 + exp(-x))


def one_unit(kind: type[Cell], weight_ih: list[float], weight_hh: list[float], **more: list) -> Cell:
    """A cell with one unit that reads one number; its biases of the state are zero."""
    cell = kind(1, 1).double()
    with torch.no_grad():
        for name, value in {"weight_ih": weight_ih, "weight_hh": weight_hh, **more}.items():
            parameter = getattr(cell, name)
            parameter.copy_(torch.tensor(value, dtype=torch.float64).view_as(parameter))
        for name in {"bias_ih", "bias_hh"} - set(more):
            getattr(cell, name).zero_()
    return cell


def numbers(*values: float) -> tuple[Tensor, ...]:
    return tuple(torch.tensor([[value]], dtype=torch.float64) for value in values)


def test_a_peephole_shows_i_and_f_the_old_memory_and_o_the_new_one() -> None:
    cell = one_unit(PeepholeLSTMCell, [0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8], weight_ch=[1.0, -2.0, 3.0])
    x, h, c = 2.0, -1.0, 0.5
    i, f, g = sigma(0.2 - 0.5 + 1.0 * c), sigma(0.4 - 0.6 - 2.0 * c), tanh(0.6 - 0.7)
    new = f * c + i * g
    o = sigma(0.8 - 0.8 + 3.0 * new)
    shown, memory = cell.step(cell.read(numbers(x)[0]), numbers(h, c))
    assert memory.item() == pytest.approx(new, abs=1e-12)
    assert shown.item() == pytest.approx(o * tanh(new), abs=1e-12)
    assert shown.item() != pytest.approx(sigma(3.0 * c) * tanh(new), abs=1e-3)


def test_a_coupled_gate_forgets_what_it_takes_in() -> None:
    cell = one_unit(CoupledLSTMCell, [0.1, 0.3, 0.4], [0.5, 0.7, 0.8])
    x, h, c = 2.0, -1.0, 0.5
    i, g, o = sigma(0.2 - 0.5), tanh(0.6 - 0.7), sigma(0.8 - 0.8)
    new = (1 - i) * c + i * g
    shown, memory = cell.step(cell.read(numbers(x)[0]), numbers(h, c))
    assert memory.item() == pytest.approx(new, abs=1e-12)
    assert shown.item() == pytest.approx(o * tanh(new), abs=1e-12)


def test_the_textbooks_gru_resets_before_the_matrix_and_torchs_after() -> None:
    bias = {"bias_hh": [0.0, 0.0, 0.9]}
    x, h = 2.0, -1.0
    r, z = sigma(0.2 - 0.5), sigma(0.4 - 0.6)
    textbook = one_unit(GRUCell, [0.1, 0.2, 0.3], [0.5, 0.6, 0.7], **bias)
    n = tanh(0.6 + 0.7 * (r * h) + 0.9)
    assert textbook.step(textbook.read(numbers(x)[0]), numbers(h))[0].item() == pytest.approx((1 - z) * h + z * n)
    torchs = one_unit(TorchGRUCell, [0.1, 0.2, 0.3], [0.5, 0.6, 0.7], **bias)
    n = tanh(0.6 + r * (0.7 * h + 0.9))
    assert torchs.step(torchs.read(numbers(x)[0]), numbers(h))[0].item() == pytest.approx(z * h + (1 - z) * n)


def test_how_many_weights_a_variant_has() -> None:
    def count(kind: type[Cell]) -> int:
        return sum(p.numel() for p in kind(100, 100).parameters())

    lstm = count(LSTMCell)
    assert lstm == 4 * (100 * 100 * 2 + 200)
    assert count(CoupledLSTMCell) / lstm == 3 / 4 and count(GRUCell) / lstm == 3 / 4
    assert count(PeepholeLSTMCell) / lstm - 1 == pytest.approx(0.004, abs=3e-4)


@pytest.mark.parametrize("kind", CELLS)
def test_padding_changes_nothing_and_is_shown_as_zeros(kind: type[Cell]) -> None:
    torch.manual_seed(0)
    model = Recurrent(kind, 3, 4, 2, bidirectional=True).double()
    x = torch.randn(2, 5, 3, dtype=torch.float64)
    with watch(model):
        shown, last = model(x, torch.tensor([2, 5]))
        alone, alone_last = model(x[:1, :2])
    assert_close(shown[:1, :2], alone, atol=1e-12, rtol=0)
    assert not shown[0, 2:].any()
    for one, other in zip(last, alone_last, strict=True):
        assert_close(one[:, :1], other, atol=1e-12, rtol=0)


@pytest.mark.parametrize("kind", CELLS)
def test_a_text_in_two_pieces_is_the_text_if_the_state_is_carried(kind: type[Cell]) -> None:
    torch.manual_seed(0)
    model = Recurrent(kind, 3, 4, 2).double()
    x = torch.randn(2, 6, 3, dtype=torch.float64)
    whole, last = model(x)
    one, state = model(x[:, :4])
    two, after = model(x[:, 4:], None, state)
    assert_close(torch.cat([one, two], 1), whole, atol=1e-12, rtol=0)
    for mine, true in zip(after, last, strict=True):
        assert_close(mine, true, atol=1e-12, rtol=0)


def test_every_gate_is_seen_at_every_step_and_can_be_held_open_or_shut() -> None:
    torch.manual_seed(0)
    model, x = Recurrent(LSTMCell, 3, 4, 2).double(), torch.randn(2, 6, 3, dtype=torch.float64)
    with watch(model) as seen:
        model(x)
    for gate in (*LSTMCell.gates, "memory", "state"):
        assert [tuple(tensor.shape) for tensor in seen.calls(f"layers.1.cells.0.{gate}")] == [(2, 4)] * 6
    assert seen["layers.1.hidden"].shape == (2, 6, 4)
    held = {"layers.0.cells.0.forget": torch.ones_like, "layers.0.cells.0.input": torch.zeros_like}
    begin = (torch.zeros(2, 2, 4, dtype=torch.float64), torch.randn(2, 2, 4, dtype=torch.float64))
    with intervene(model, held):
        _, (_, memory) = model(x, None, begin)
    assert_close(memory[0], begin[1][0])
    assert not torch.allclose(memory[1], begin[1][1])


def test_the_gradient_through_time_is_the_ordered_product_of_the_steps() -> None:
    """∂h_t/∂h_s = Π diag(1 − h²) U, the latest step first (Pascanu et al. 2013, eq. 5)."""
    torch.manual_seed(0)
    model = Recurrent(RNNCell, 3, 4).double()
    cell, x = model.cells[0], torch.randn(1, 6, 3, dtype=torch.float64)
    start = torch.randn(1, 1, 4, dtype=torch.float64, requires_grad=True)
    shown, _ = model(x, None, (start,))
    by_autograd = torch.stack([torch.autograd.grad(shown[0, -1, unit], start, retain_graph=True)[0][0, 0]
                               for unit in range(4)])
    product = torch.eye(4, dtype=torch.float64)
    for step in range(6):
        product = (1 - shown[0, step] ** 2).diag() @ cell.weight_hh @ product
    assert_close(by_autograd, product, atol=1e-12, rtol=0)
    turned = torch.eye(4, dtype=torch.float64)
    for step in range(6):
        turned = turned @ (1 - shown[0, step] ** 2).diag() @ cell.weight_hh
    assert not torch.allclose(by_autograd, turned, atol=1e-6)


def test_an_identity_cell_begins_by_keeping_what_it_has() -> None:
    model = Recurrent(IdentityRNNCell, 3, 4).double()
    _, (last,) = model(torch.zeros(1, 50, 3, dtype=torch.float64), None, (torch.arange(4.0).double()[None, None],))
    assert last[0, 0].tolist() == [0, 1, 2, 3]


def test_errors_are_in_the_readers_words() -> None:
    model = Recurrent(LSTMCell, 3, 4)
    with pytest.raises(ValueError, match="each must be at least 1 and at most 5"):
        model(torch.zeros(2, 5, 3), torch.tensor([0, 5]))
    with pytest.raises(ValueError, match="below the hidden size, 4"):
        LSTMCell(3, 4, projected=4)
    with pytest.raises(ValueError, match="needs at least one layer"):
        Recurrent(LSTMCell, 3, 4, 0)
    both = Recurrent(LSTMCell, 3, 4, bidirectional=True)
    one = (torch.zeros(1, 2, 4), torch.zeros(1, 2, 4))
    for looked_into in (nullcontext(), watch(both)):
        with looked_into, pytest.raises(ValueError, match=r"\(1, 2, 4\); expected \(2, 2, 4\)"):
            both(torch.zeros(2, 5, 3), None, one)
