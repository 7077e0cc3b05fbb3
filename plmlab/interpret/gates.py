"""The gates of an LSTM language model on a text: what they were at each step, with some of them held.

A cell is looked into at the points that it names (`plmlab.layers.cells.LSTMCell`); it is passed once a step, so that a
hold can begin at one step and not before.
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
"""What is recorded of a cell: c; i, f and o; g, in c = f∘c + i∘g."""


@dataclass(frozen=True)
class Clamp:
    """One unit held: a gate (``point`` "input", "forget", "output") at ``value`` from step ``start`` on, 0 for shut and
    1 for open; or ``point`` "memory", which is ``value`` after step ``start`` and goes on from there as the gates say.
    Layers, units and steps count from 0.

    ValueError: no such point, a negative count, a gate's value that is not from 0 to 1.
    """

    point: str
    layer: int
    unit: int
    value: float
    start: int = 0

    def __post_init__(self) -> None:
        if self.point not in (*GATES, "memory"):
            raise ValueError(f"{self.point!r} is to be held; what can be held is {', '.join(GATES)} and memory")
        if min(self.layer, self.unit, self.start) < 0:
            raise ValueError(f"layer {self.layer}, unit {self.unit} is to be held from step {self.start} on; all three "
                             "count from 0")
        if not (0 <= self.value <= 1 if self.point != "memory" else abs(self.value) < float("inf")):
            raise ValueError(f"the {self.point}{'' if self.point == 'memory' else ' gate'} is to be held at "
                             f"{self.value}; a gate is from 0 to 1, and a memory a finite number")

    def covers(self, step: int) -> bool:
        """Whether it acts at this step."""
        return step == self.start if self.point == "memory" else step >= self.start


@dataclass(frozen=True, eq=False)
class GatedPass:
    """A text as an LSTM read it: what passed each of `POINTS`, and what it says after each step."""

    values: dict[str, Float[Tensor, "layer time unit"]]
    logits: Float[Tensor, "time vocab"]


def cells_of(model: nn.Module) -> list[str]:
    """The LSTM cells of a model, from the lowest layer on, by the names of their points without the last part; a
    ValueError for a model whose cells do not have `POINTS`."""
    points = hook_points(model)
    stems = [name.removesuffix(".forget") for name in points if name.endswith(".forget")]
    if not stems or any(f"{stem}.{point}" not in points for stem in stems for point in POINTS):
        own = sorted({name.rpartition(".")[2] for name in points if ".cells." in name})
        has = f"its cells have {', '.join(own)}" if own else "it has no cells that carry a state"
        raise ValueError(f"this needs an LSTM, with an input, a forget and an output gate and a memory; a "
                         f"{type(model).__name__} was given, and {has}. A model of type lstm-lm will do")
    return stems


def gated_pass(model: LanguageModel, ids: Sequence[int], holds: Iterable[Clamp] = ()) -> GatedPass:
    """Let the model read a text with some units held; it is not changed. ValueError: a layer or unit there is not."""
    assert isinstance(model, nn.Module)
    stems = cells_of(model)
    tokens = torch.tensor([list(ids)], device=next(model.parameters()).device)
    with (inference(model), intervene(model, _changes(model, stems, list(holds), len(ids))),
          watch(model, *(f"{stem}.{point}" for stem in stems for point in POINTS)) as seen):
        logits = model.token_logits(model.hidden_states(Batch.continuing(tokens, 0)))[0].float().cpu()
    values = {point: torch.stack([torch.cat(seen.calls(f"{stem}.{point}")) for stem in stems]).float().cpu()
              for point in POINTS}
    return GatedPass(values, logits)


def memories(model: LanguageModel, tokens: Int[Tensor, "text time"]) -> Float[Tensor, "text time layer unit"]:
    """The memory of every unit after each step of some texts, which may be padded on the right."""
    assert isinstance(model, nn.Module)
    stems = cells_of(model)
    with inference(model), watch(model, *(f"{stem}.memory" for stem in stems)) as seen:
        model.hidden_states(Batch.continuing(tokens.to(next(model.parameters()).device), 0))
    return torch.stack([torch.stack(seen.calls(f"{stem}.memory"), 1) for stem in stems], 2).float().cpu()


def _changes(model: nn.Module, stems: Sequence[str], holds: Sequence[Clamp], steps: int) -> dict[str, Change]:
    """The interventions that hold, by the names of points: each another one at each step."""
    at: dict[str, list[Clamp]] = defaultdict(list)
    cells = dict(model.named_modules())
    for hold in holds:
        if hold.layer >= len(stems) or hold.unit >= (width := cells[stems[hold.layer]].hidden_size):
            units = "" if hold.layer >= len(stems) else f" of {width} units"
            raise ValueError(f"layer {hold.layer}, unit {hold.unit} is to be held; this model has layers 0 … "
                             f"{len(stems) - 1}{units}")
        at[f"{stems[hold.layer]}.{hold.point}"].append(hold)
    return {name: InTurn([_held({hold.unit: hold.value for hold in mine if hold.covers(step)})
                          for step in range(steps)]) for name, mine in at.items()}


def _held(units: dict[int, float]) -> Change:
    def change(tensor: Float[Tensor, "batch unit"]) -> Float[Tensor, "batch unit"]:
        changed = tensor.clone()
        for unit, value in units.items():
            changed[:, unit] = value
        return changed
    return change
