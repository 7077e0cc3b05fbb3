"""Gate activations of an LSTM language model on a text, optionally with single units clamped.

The hook points are those of the cell (`plmlab.layers.cells.LSTMCell`). Each is called once per time step, so a unit can
be clamped from a given time step on.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.interpret.logit_lens import LanguageModel
from plmlab.interpret.readable import inference
from plmlab.interpret.watching import intervene, watch
from plmlab.layers.hooks import Change, InTurn, hook_points

GATES = ("input", "forget", "output")
POINTS = ("memory", *GATES, "candidate")
"""Recorded activations of a cell: the cell state c; the gates i, f and o; g, in c = f∘c + i∘g."""


@dataclass(frozen=True)
class Clamp:
    """An intervention that clamps one unit of an LSTM.

    A gate (``point`` "input", "forget" or "output") is clamped to ``value``, from 0 (closed) to 1 (open), from time
    step ``start`` on. The cell state (``point`` "memory") is set to ``value`` only at time step ``start`` and then
    evolves normally. Layers, units and time steps count from 0. Raises ValueError for an unknown point, a negative
    index, or a gate value outside [0, 1].
    """

    point: str
    layer: int
    unit: int
    value: float
    start: int = 0

    def __post_init__(self) -> None:
        if self.point not in (*GATES, "memory"):
            raise ValueError(f"point={self.point!r} cannot be clamped; give {', '.join(GATES)} or memory")
        if min(self.layer, self.unit, self.start) < 0:
            raise ValueError(f"layer={self.layer}, unit={self.unit}, start={self.start}: all three count "
                             "from 0 and cannot be negative")
        if not (0 <= self.value <= 1 if self.point != "memory" else abs(self.value) < float("inf")):
            raise ValueError(f"cannot clamp the {'cell state' if self.point == 'memory' else f'{self.point} gate'} to "
                             f"{self.value}; a gate is from 0 to 1, a cell state any finite number")

    def covers(self, step: int) -> bool:
        """Whether the unit is clamped at this time step."""
        return step == self.start if self.point == "memory" else step >= self.start


@dataclass(frozen=True, eq=False)
class GatedPass:
    """The activations of an LSTM on a text at each of `POINTS`, and the next-token logits at each time step."""

    values: dict[str, Float[Tensor, "layer time unit"]]
    logits: Float[Tensor, "time vocab"]


def cells_of(model: nn.Module) -> list[str]:
    """The LSTM cells of a model from bottom to top, as hook point prefixes. Raises ValueError if the cells do not have
    all `POINTS`."""
    points = hook_points(model)
    stems = [name.removesuffix(".forget") for name in points if name.endswith(".forget")]
    if not stems or any(f"{stem}.{point}" not in points for stem in stems for point in POINTS):
        own = sorted({name.rpartition(".")[2] for name in points if ".cells." in name})
        has = f"its cells have {', '.join(own)}" if own else "it has no recurrent cells"
        raise ValueError(f"this needs an LSTM with input, forget and output gates and a cell state; got a "
                         f"{type(model).__name__}: {has}. Give a model of type lstm-lm")
    return stems


def gate_activations(model: LanguageModel, ids: Sequence[int], holds: Iterable[Clamp] = ()) -> GatedPass:
    """Run the model on a text with the units in ``holds`` clamped. Raises ValueError if a layer or unit does not
    exist."""
    assert isinstance(model, nn.Module)
    stems = cells_of(model)
    tokens = torch.tensor([list(ids)], device=next(model.parameters()).device)
    with (inference(model), intervene(model, _changes(model, stems, list(holds), len(ids))),
          watch(model, *(f"{stem}.{point}" for stem in stems for point in POINTS)) as seen):
        logits = model.token_logits(model.hidden_states(Batch.continuing(tokens, 0)))[0].float().cpu()
    values = {point: torch.stack([torch.cat(seen.calls(f"{stem}.{point}")) for stem in stems]).float().cpu()
              for point in POINTS}
    return GatedPass(values, logits)


def cell_states(model: LanguageModel, tokens: Int[Tensor, "text time"]) -> Float[Tensor, "text time layer unit"]:
    """The cell state of every unit at each time step of a batch of texts, which may be padded on the right."""
    assert isinstance(model, nn.Module)
    stems = cells_of(model)
    with inference(model), watch(model, *(f"{stem}.memory" for stem in stems)) as seen:
        model.hidden_states(Batch.continuing(tokens.to(next(model.parameters()).device), 0))
    return torch.stack([torch.stack(seen.calls(f"{stem}.memory"), 1) for stem in stems], 2).float().cpu()


def _changes(model: nn.Module, stems: Sequence[str], holds: Sequence[Clamp], steps: int) -> dict[str, Change]:
    """The interventions that clamp the units, by hook point; each has one callback per time step, called in turn."""
    by_point: dict[str, list[Clamp]] = defaultdict(list)
    cells = dict(model.named_modules())
    for hold in holds:
        if hold.layer >= len(stems) or hold.unit >= (width := cells[stems[hold.layer]].hidden_size):
            units = "" if hold.layer >= len(stems) else f" of {width} units"
            raise ValueError(f"cannot clamp layer {hold.layer}, unit {hold.unit}; this model has layers 0 … "
                             f"{len(stems) - 1}{units}")
        by_point[f"{stems[hold.layer]}.{hold.point}"].append(hold)
    return {name: InTurn([_clamp({hold.unit: hold.value for hold in point_holds if hold.covers(step)})
                          for step in range(steps)]) for name, point_holds in by_point.items()}


def _clamp(units: dict[int, float]) -> Change:
    def change(tensor: Float[Tensor, "batch unit"]) -> Float[Tensor, "batch unit"]:
        changed = tensor.clone()
        for unit, value in units.items():
            changed[:, unit] = value
        return changed
    return change
