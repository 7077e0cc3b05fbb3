"""The gates of an LSTM against torch.nn.LSTM and against a cell stepped by hand, with units held and without."""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.interpret.gates import GATES, POINTS, Clamp, cell_states, cells_of, gate_activations
from plmlab.layers.cells import CoupledLSTMCell
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.models.recurrent import GRULanguageModel, LSTMLanguageModel, RecurrentConfig, RNNLanguageModel

IDS = [5, 8, 2, 9, 9, 1, 7]


def some(cls: type = LSTMLanguageModel, layers: int = 2) -> LSTMLanguageModel:
    torch.manual_seed(3)
    model = cls(RecurrentConfig(12, layers=layers, model=5))
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.7)
    return model.eval()


@torch.no_grad()
def by_hand(model: LSTMLanguageModel, ids: Sequence[int], holds: Sequence[Clamp]) -> tuple[dict[str, Tensor], Tensor]:
    """Every gate and memory [layer time unit], stepped unit by unit, and the logits."""
    found = {point: torch.zeros(len(model.recurrent.layers), len(ids), 5) for point in POINTS}
    xs = [model.token.weight[i] for i in ids]
    for layer, one in enumerate(model.recurrent.layers):
        cell = one.cells[0]
        h, c = torch.zeros(5), torch.zeros(5)
        shown = []
        for step, x in enumerate(xs):
            rows = cell.weight_ih @ x + cell.bias_ih + cell.weight_hh @ h + cell.bias_hh
            i, f, o = (torch.sigmoid(rows[at:at + 5]) for at in (0, 5, 15))
            g = torch.tanh(rows[10:15])
            gates = {"input": i, "forget": f, "output": o}
            for hold in holds:
                if hold.layer == layer and hold.point in gates and step >= hold.start:
                    gates[hold.point][hold.unit] = hold.value
            c = f * c + i * g
            for hold in holds:
                if hold.layer == layer and hold.point == "memory" and step == hold.start:
                    c[hold.unit] = hold.value
            h = o * torch.tanh(c)
            shown.append(h)
            for point, value in (*gates.items(), ("candidate", g), ("memory", c)):
                found[point][layer, step] = value
        xs = shown
    return found, torch.stack(xs) @ model.token.weight.T + model.bias


def close(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=0, atol=1e-5)


def test_the_memories_are_those_of_torchs_lstm() -> None:
    model = some()
    theirs = nn.LSTM(5, 5, 2, batch_first=True)
    theirs.load_state_dict({f"{name}_l{layer}": getattr(cell, name) for layer, cell in enumerate(model.recurrent.cells)
                            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")})
    found = gate_activations(model, IDS)
    for step in range(len(IDS)):
        with torch.no_grad():
            shown, (_, c) = theirs(model.token.weight[torch.tensor(IDS[:step + 1])][None])
        close(found.values["memory"][:, step], c[:, 0])
        close(found.logits[step], shown[0, -1] @ model.token.weight.T + model.bias)


HELD = {
    "nothing": [], "a forget gate shut": [Clamp("forget", 0, 2, 0.0, 3)],
    "an input gate open": [Clamp("input", 1, 4, 1.0)],
    "an output gate": [Clamp("output", 0, 1, 0.0, 2)], "a memory written": [Clamp("memory", 0, 3, -3.0, 4)],
    "several": [Clamp("forget", 0, 2, 1.0, 1), Clamp("memory", 0, 2, 2.5, 3), Clamp("input", 0, 0, 0.5, 5),
                Clamp("input", 0, 1, 0.0, 2), Clamp("output", 1, 2, 1.0)],
    "beyond the text": [Clamp("forget", 0, 2, 0.0, 40)],
}


@pytest.mark.parametrize("name", HELD)
def test_what_is_held_is_held_as_in_a_cell_stepped_by_hand(name: str) -> None:
    model = some()
    values, logits = by_hand(model, IDS, HELD[name])
    found = gate_activations(model, IDS, HELD[name])
    for point in POINTS:
        close(found.values[point], values[point])
    close(found.logits, logits)
    changed = (found.logits - gate_activations(model, IDS).logits).abs().amax(-1) > 1e-4
    assert changed.any() == (name not in ("nothing", "beyond the text"))
    if HELD[name]:
        assert not changed[:min(hold.start for hold in HELD[name])].any(), "what comes later changes nothing before"


def test_the_model_is_as_it_was() -> None:
    model = some().train()
    batch = Batch.continuing(torch.tensor([IDS]), 0)
    before = model.eval()(batch)
    gate_activations(model.train(), IDS, HELD["several"])
    assert model.training
    assert torch.equal(model.eval()(batch), before) and not model.recurrent.written_out


def test_memories_of_texts_that_are_padded() -> None:
    model = some()
    found = cell_states(model, torch.tensor([IDS, [*IDS[:4], 0, 0, 0]]))
    close(found[0].transpose(0, 1), gate_activations(model, IDS).values["memory"])
    close(found[1, :4].transpose(0, 1), gate_activations(model, IDS[:4]).values["memory"])


def test_a_cell_with_the_same_points_is_an_lstm_too() -> None:
    class Coupled(LSTMLanguageModel):
        cell_class = CoupledLSTMCell

    values = gate_activations(some(Coupled), IDS).values
    close(values["forget"], 1 - values["input"])
    assert values["memory"].shape == (2, len(IDS), 5) and set(values) == {"memory", "candidate", *GATES}


@pytest.mark.parametrize(("model", "said"), [
    (some(GRULanguageModel), "needs an LSTM.* got a GRULanguageModel: .*cells have candidate, reset, state, update"),
    (some(RNNLanguageModel), "got a RNNLanguageModel: .*cells have state"),
    (GPT2(GPTConfig(12, time=8, layers=1, model=4, heads=1)), "got a GPT2: .*no recurrent cells"),
])
def test_what_is_no_lstm_is_told(model: nn.Module, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        cells_of(model)


@pytest.mark.parametrize(("told", "said"), [
    (("candidate", 0, 0, 0.0, 0), "point='candidate' cannot be clamped; give input, forget, output or memory"),
    (("forget", 0, -1, 0.0, 0), "count from 0"), (("input", 0, 0, 1.5, 0), "cannot clamp the input gate to 1.5"),
    (("memory", 0, 0, float("inf"), 0), "any finite number"), (("memory", 0, 0, float("nan"), 0), "any finite number"),
])
def test_what_is_no_hold_is_told(told: tuple, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Clamp(*told)


@pytest.mark.parametrize(("hold", "said"), [(Clamp("forget", 2, 0, 0.0), "layers 0 … 1$"),
                                            (Clamp("forget", 1, 5, 0.0), "layers 0 … 1 of 5 units")])
def test_a_unit_that_there_is_not(hold: Clamp, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        gate_activations(some(), IDS, [hold])
