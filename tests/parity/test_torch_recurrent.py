"""Our recurrences against ``nn.RNN``, ``nn.LSTM`` and ``nn.GRU``: fused and written out, gradients too."""

from contextlib import nullcontext
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.testing import assert_close

from plmlab.interpret import watch
from plmlab.layers.cells import Cell, IdentityRNNCell, LSTMCell, RNNCell, TorchGRUCell
from plmlab.layers.recurrent import Recurrent

KINDS: dict[str, tuple[type[Cell], Any, dict, dict]] = {
    "RNN": (RNNCell, nn.RNN, {}, {}), "ReLU": (IdentityRNNCell, nn.RNN, {}, {"nonlinearity": "relu"}),
    "LSTM": (LSTMCell, nn.LSTM, {}, {}), "LSTMP": (LSTMCell, nn.LSTM, {"projected": 3}, {"proj_size": 3}),
    "GRU": (TorchGRUCell, nn.GRU, {}, {}),
}
BATCH, TIME, INPUTS, HIDDEN = 4, 7, 5, 6
LENGTHS = torch.tensor([3, 7, 1, 6])
both_ways = pytest.mark.parametrize("watched", [False, True], ids=["fused", "written out"])


def pair(kind: str, layers: int, both: bool) -> tuple[Recurrent, nn.RNNBase]:
    """One recurrence of each, with the same weights."""
    cell, theirs_class, choices, their_choices = KINDS[kind]
    torch.manual_seed(0)
    theirs = theirs_class(INPUTS, HIDDEN, layers, batch_first=True, bidirectional=both, **their_choices).double()
    ours = Recurrent(cell, INPUTS, HIDDEN, layers, bidirectional=both, **choices).double()
    with torch.no_grad():
        for place, one in enumerate(ours.cells):
            layer, turned = divmod(place, 1 + both)
            for name, weight in one.named_parameters():
                weight.copy_(getattr(theirs, f"{name}_l{layer}{'_reverse' * turned}"))
    return ours, theirs


def texts() -> Tensor:
    return torch.randn(BATCH, TIME, INPUTS, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def begin(theirs: nn.RNNBase) -> tuple[Tensor, ...]:
    """States to begin with that are not zero."""
    count = theirs.num_layers * (1 + theirs.bidirectional)
    widths = (theirs.proj_size or HIDDEN, HIDDEN)[: 1 + isinstance(theirs, nn.LSTM)]
    generator = torch.Generator().manual_seed(2)
    return tuple(torch.randn(count, BATCH, width, generator=generator, dtype=torch.float64) for width in widths)


def weighed(shown: Tensor, states: tuple[Tensor, ...]) -> Tensor:
    """A number in which every output has a part of its own."""
    return sum((part
                * torch.arange(part.numel(), dtype=part.dtype).view_as(part).cos()).sum()  # type: ignore[return-value]
               for part in (shown, *states))


@both_ways
@pytest.mark.parametrize("carried", [False, True], ids=["from zero", "carried on"])
@pytest.mark.parametrize("padded", [False, True], ids=["", "padded"])
@pytest.mark.parametrize("both", [False, True], ids=["from the left", "both sides"])
@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_torchs(kind: str, layers: int, both: bool, padded: bool, carried: bool, watched: bool) -> None:
    ours, theirs = pair(kind, layers, both)
    x, their_x = texts().requires_grad_(), texts().requires_grad_()
    states = begin(theirs) if carried else None
    given = states if states is None or len(states) > 1 else states[0]
    with watch(ours) if watched else nullcontext():
        assert ours.written_out == watched
        shown, last = ours(x, LENGTHS if padded else None, states)
    if padded:
        packed, told = theirs(pack_padded_sequence(their_x, LENGTHS, batch_first=True, enforce_sorted=False), given)
        expected = pad_packed_sequence(packed, batch_first=True)[0]
    else:
        expected, told = theirs(their_x, given)
    told = _several(told)
    assert_close(shown, expected, atol=1e-10, rtol=0)
    assert len(last) == len(told)
    for one, other in zip(last, told, strict=True):
        assert_close(one, other, atol=1e-10, rtol=0)
    weighed(shown, last).backward()
    weighed(expected, told).backward()
    assert_close(x.grad, their_x.grad, atol=1e-10, rtol=0)
    for place, cell in enumerate(ours.cells):
        layer, turned = divmod(place, 1 + both)
        for name, weight in cell.named_parameters():
            assert_close(weight.grad, getattr(theirs, f"{name}_l{layer}{'_reverse' * turned}").grad, atol=1e-10, rtol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_dropout_stands_between_layers_as_in_torch(kind: str) -> None:
    ours, theirs = pair(kind, 2, False)
    ours.dropout = theirs.dropout = 0.5
    torch.manual_seed(4)
    fused = ours.train()(texts())[0]
    torch.manual_seed(4)
    assert_close(fused, theirs.train()(texts())[0], atol=1e-10, rtol=0)
    assert not torch.allclose(fused, ours.eval()(texts())[0])


def test_written_out_it_drops_half_of_what_one_layer_shows_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, _ = pair("LSTM", 2, False)
    ours.dropout, given = 0.5, []
    read = LSTMCell.read
    monkeypatch.setattr(LSTMCell, "read", lambda cell, x: (given.append(x), read(cell, x))[1])
    with watch(ours.train()):
        ours(texts().repeat(8, 4, 1))
    assert (given[0] != 0).all() and 0.45 < (given[1] == 0).double().mean() < 0.55


@both_ways
@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_truncated_the_gradient_goes_back_to_the_beginning_of_the_window(kind: str, watched: bool) -> None:
    """The state is carried on, its history is not: torch's own second window has the same gradient, and the whole
    text another."""
    ours, theirs = pair(kind, layers=2, both=False)
    with watch(ours) if watched else nullcontext():
        first, states = ours(texts()[:, :4])
        second, last = ours(texts()[:, 4:], None, tuple(state.detach() for state in states))
    whole, their_last = theirs(texts())
    assert_close(torch.cat([first, second], 1), whole, atol=1e-10, rtol=0)
    weighed(second, last).backward()
    weighed(whole[:, 4:], _several(their_last)).backward()
    through_all = _gradients(theirs)
    theirs.zero_grad()
    _, before = theirs(texts()[:, :4])
    carried = tuple(state.detach() for state in _several(before))
    shown, their_last = theirs(texts()[:, 4:], carried if kind == "LSTM" else carried[0])
    weighed(shown, _several(their_last)).backward()
    for place, cell in enumerate(ours.cells):
        for name, weight in cell.named_parameters():
            assert_close(weight.grad, _gradients(theirs)[f"{name}_l{place}"], atol=1e-10, rtol=0)
            if name == "weight_hh":
                assert not torch.allclose(weight.grad, through_all[f"{name}_l{place}"], atol=1e-3)


def _several(states: Tensor | tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return states if isinstance(states, tuple) else (states,)


def _gradients(network: nn.Module) -> dict[str, Tensor]:
    return {name: weight.grad.clone() for name, weight in network.named_parameters()}
