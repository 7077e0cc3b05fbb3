"""How far a push reaches: against autograd's own derivative, and decay known by hand."""

from math import exp, log

import pytest
import torch

from plmlab.chapters.ch01.last_state_model import (
    ChronoLSTMCell,
    ForgetBiasLSTMCell,
    LastStateModel,
    OpenForgetGateLSTMCell,
)
from plmlab.chapters.ch01.perturbation_decay import (
    OrthogonalRNNCell,
    language_model_horizon,
    running_text,
    zero_recurrent_weights,
)
from plmlab.chapters.ch01.perturbations import perturbation_size, steps_until_below
from plmlab.layers.cells import Cell, GRUCell, LSTMCell, RNNCell
from plmlab.layers.recurrent import Recurrent
from plmlab.models.recurrent import LSTMLanguageModel, RecurrentConfig
from plmlab.world.datasets.tokenizer import world_tokenizer


@pytest.mark.parametrize("cell", [RNNCell, GRUCell, LSTMCell])
def test_of_one_unit_it_is_the_derivative(cell: type[Cell]) -> None:
    """A push of length 1 in one dimension has two directions only, so that nothing is left to chance."""
    torch.manual_seed(3)
    network, x = Recurrent(cell, 2, 1).double(), torch.randn(1, 6, 2, dtype=torch.float64)

    def shown(push: torch.Tensor) -> torch.Tensor:
        begin = [torch.zeros(1, 1, 1, dtype=torch.float64) for _ in network.cells[0].widths]
        begin[-1] = begin[-1] + push
        return network(x, None, tuple(begin))[0][0, :, 0]

    slopes = torch.autograd.functional.jacobian(shown, torch.zeros(1, 1, 1, dtype=torch.float64)).flatten()
    found = perturbation_size(network, x, torch.Generator().manual_seed(0))
    assert torch.allclose(found, slopes.abs(), rtol=1e-6, atol=1e-10)


def test_a_memory_that_only_forgets_halves() -> None:
    """All weights 0 but the output gate's bias: f = ½, and h = o · tanh(c), whose slope at 0 is o."""
    network = Recurrent(LSTMCell, 3, 4).double()
    for weights in network.parameters():
        torch.nn.init.zeros_(weights)
    found = perturbation_size(network, torch.randn(2, 9, 3, dtype=torch.float64), torch.Generator().manual_seed(0))
    assert torch.allclose(found, 0.5 * 0.5 ** torch.arange(1, 10, dtype=torch.float64), rtol=1e-6)
    assert steps_until_below(found,
                             fraction=0.1) == 4  # a half of the half: 1, ½, ¼, ⅛ of the first, then less than a tenth


@pytest.mark.parametrize(("sizes", "steps"), [
    ([1.0, 0.5, 0.02, 0.005], 3), ([1.0, 0.001, 0.5, 0.0], 3), ([1.0, 0.0, 0.0], 1), ([1.0, 0.5, 0.25], None),
    ([0.0, 0.0], 0)])
def test_steps_until_a_hundredth_is_left(sizes: list[float], steps: int | None) -> None:
    assert steps_until_below(torch.tensor(sizes)) == steps


def test_forget_biases_begin_where_they_are_said_to() -> None:
    cell = ForgetBiasLSTMCell(3, 7)
    assert torch.equal((cell.bias_ih + cell.bias_hh).chunk(4)[1], torch.ones(7))
    assert (cell.bias_ih + cell.bias_hh).chunk(4)[0].abs().max() > 0
    cell = OpenForgetGateLSTMCell(3, 7)
    assert torch.equal((cell.bias_ih + cell.bias_hh).chunk(4)[1], torch.full((7,), 8.0))


def test_an_orthogonal_u_turns_a_state_and_keeps_its_length() -> None:
    U = OrthogonalRNNCell(3, 7).weight_hh
    assert torch.allclose(U @ U.T, torch.eye(7), atol=1e-5)


def test_a_chrono_memory_lasts_from_one_step_to_the_longest() -> None:
    """f = σ(log u) = u / (1 + u): what is kept for some u steps."""
    torch.manual_seed(0)
    cell = ChronoLSTMCell(3, 2000, longest=50)
    i, f, g, o = (cell.bias_ih + cell.bias_hh).detach().chunk(4)
    assert torch.equal(i, -f) and not g.any() and not o.any()
    assert 0 <= float(f.min()) < 0.3 and log(49) < float(f.max()) <= log(50)
    assert float(f.exp().mean()) == pytest.approx(25.5, abs=1)  # evenly from 1 to 50
    assert exp(float(f.max())) > 40


def test_a_network_answers_from_its_last_state() -> None:
    torch.manual_seed(0)
    for name in ("RNN", "LSTM, chrono"):
        network, x = LastStateModel(name, 3, 6, 2, steps=20), torch.randn(4, 9, 3)
        shown = network.recurrent(x)[0]
        torch.testing.assert_close(network(x), network.output(shown[:, -1]))


@pytest.mark.parametrize(("bias", "steps"), [(0.0, 7), (50.0, None)])
def test_a_language_model_is_pushed_while_it_reads(bias: float, steps: int | None) -> None:
    """Gates at ½ leave less than a hundredth after seven steps; open ones leave all."""
    model = LSTMLanguageModel(RecurrentConfig(20, layers=1, model=4, dropout=0.0))
    for weights in model.recurrent.parameters():
        torch.nn.init.zeros_(weights)
    torch.nn.init.constant_(model.recurrent.layers[0].cells[0].bias_ih.chunk(4)[1], bias)
    assert language_model_horizon(model, torch.randint(20, (3, 30))) == steps
    assert next(model.parameters()).dtype == torch.float32


def test_running_text_is_sentences_after_their_starts() -> None:
    tokens = running_text(rows=2, length=40)
    assert tokens.shape == (2, 40) and (tokens[:, 0] == world_tokenizer().vocab.need("start")).all()
    assert 2 <= int((tokens[0] == world_tokenizer().vocab.need("start")).sum()) < 12 and not torch.equal(tokens[0],
                                                                                                         tokens[1])


def test_without_its_matrix_a_state_goes_nowhere_and_a_memory_on() -> None:
    """f = σ(1) = 0.73 alone: 0.73¹⁵ is the first below a hundredth."""
    for cell, steps in ((RNNCell, 0), (ForgetBiasLSTMCell, 15)):
        torch.manual_seed(0)
        network, x = Recurrent(cell, 3, 10).double(), torch.zeros(1, 25, 3, dtype=torch.float64)
        zero_recurrent_weights(network)
        assert steps_until_below(perturbation_size(network, x, torch.Generator().manual_seed(0))) == steps
