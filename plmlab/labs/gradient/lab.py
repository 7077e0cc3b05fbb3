"""The Gradient Lab: vanishing and exploding gradients in recurrent networks, and gradient clipping at a cliff."""

from math import isfinite
from typing import Any, NamedTuple

import traitlets

from plmlab.labs.base import Lab

CELLS = {"rnn": "an RNN with tanh", "irnn": "an RNN with ReLU and identity initialization", "lstm": "an LSTM",
         "gru": "a GRU"}
VIEWS = ("map", "cliff")
PUSHES = ("memory", "state")


class Range(NamedTuple):
    """The limits and the step of a slider, and its name in messages."""

    low: float
    high: float
    step: float
    title: str


RANGES = {
    "radius": Range(0.5, 2.0, 0.05, "the spectral radius"),
    "forget_bias": Range(-2.0, 5.0, 0.5, "the forget bias"),
    "input_size": Range(0.0, 3.0, 0.1, "the size of the inputs"),
    "width": Range(2, 32, 1, "the width"),
    "steps": Range(4, 32, 1, "the number of steps"),
    "seed": Range(0, 999, 1, "the seed"),
    "pushed": Range(0, 31, 1, "the perturbed step"),
    "moved": Range(0, 31, 1, "the affected step"),
    "rate": Range(0.05, 2.0, 0.05, "the learning rate"),
    "clip": Range(0.1, 3.0, 0.1, "the clipping threshold"),
    "w": Range(3.5, 5.5, 0.02, "the initial weight w"),
    "b": Range(-3.2, -1.2, 0.02, "the initial bias b"),
}


class GradientLab(Lab):
    """Gradient flow through time: the norm of ∂h_t/∂h_s for all pairs of steps in a recurrent network with random
    weights, and the error surface of a single unit, which has a cliff. All computations run in JavaScript.

    Args:
        cell: ``"rnn"``, ``"irnn"`` (ReLU and identity initialization, Le et al. 2015), ``"lstm"`` or ``"gru"`` (in
            PyTorch's form).
        view: ``"map"``, or ``"cliff"`` (Pascanu et al. 2013, fig. 6).
        push: in an LSTM, whether the cell state c (``"memory"``) or the hidden state h (``"state"``) is perturbed.
        settings: the slider values ``radius`` (0.5 to 2), ``forget_bias`` (−2 to 5; in a GRU, the bias of its update
            gate), ``input_size`` (0 to 3), ``width`` (2 to 32), ``steps`` (4 to 32), ``seed``; the selected map cell,
            ``pushed`` (perturbed step s) and ``moved`` (affected step t); in the cliff view, ``rate``, ``clip``, and
            the starting point of gradient descent, ``w`` and ``b``.

    Raises:
        TypeError: if a setting is unknown.
        TraitError: if a value is out of range, or is not one of the choices.
    """

    title = "Gradient Lab"
    module = "gradient/lab.js"
    styles = ("gradient/lab.css",)

    cell = traitlets.Unicode("rnn").tag(sync=True)
    view = traitlets.Unicode("map").tag(sync=True)
    push = traitlets.Unicode("memory").tag(sync=True)
    radius = traitlets.Float(1.1).tag(sync=True)
    forget_bias = traitlets.Float(1.0).tag(sync=True)
    input_size = traitlets.Float(0.5).tag(sync=True)
    width = traitlets.Int(16).tag(sync=True)
    steps = traitlets.Int(20).tag(sync=True)
    seed = traitlets.Int(0).tag(sync=True)
    pushed = traitlets.Int(0).tag(sync=True)
    moved = traitlets.Int(31).tag(sync=True)
    rate = traitlets.Float(0.2).tag(sync=True)
    clip = traitlets.Float(1.0).tag(sync=True)
    w = traitlets.Float(4.5).tag(sync=True)
    b = traitlets.Float(-2.5).tag(sync=True)
    limits = traitlets.Dict().tag(sync=True)

    def __init__(self, cell: str = "rnn", view: str = "map", push: str = "memory", **settings: float) -> None:
        if unknown := sorted(settings.keys() - RANGES):
            raise TypeError(f"GradientLab has no setting {', '.join(unknown)}; its settings are {', '.join(RANGES)}")
        limits = {name: [limit.low, limit.high, limit.step] for name, limit in RANGES.items()}
        super().__init__(cell=cell, view=view, push=push, limits=limits, **settings)

    @traitlets.validate("cell", "view", "push")
    def _check_choice(self, proposal: Any) -> Any:
        """Raise TraitError if the value is not one of the choices."""
        name, value = proposal["trait"].name, proposal["value"]
        choices: tuple[str, ...] = {"cell": tuple(CELLS), "view": VIEWS, "push": PUSHES}[name]
        if value not in choices:
            raise traitlets.TraitError(f"{name} is one of {', '.join(choices)}; {value!r:.60} was given")
        return value

    @traitlets.validate(*RANGES)
    def _check_number(self, proposal: Any) -> Any:
        """Round to the slider's step. Raises TraitError if the number is out of range."""
        value, (low, high, step, title) = proposal["value"], RANGES[proposal["trait"].name]
        if not (isfinite(value) and low <= value <= high):
            raise traitlets.TraitError(f"{title} must be from {low:g} to {high:g}; {value} was given")
        return type(value)(round(round(value / step) * step, 2))

    def summary(self) -> str:
        """The settings of the current drawing, without results, because JavaScript computes those."""
        if self.view == "cliff":
            return (f"descent from w = {self.w:g}, b = {self.b:g}, learning rate {self.rate:g}, without clipping "
                    f"and with the gradient norm clipped at {self.clip:g}")
        bias = f", forget bias {self.forget_bias:g}" if self.cell in ("lstm", "gru") else ""
        return (f"{CELLS[self.cell]}, spectral radius {self.radius:g}{bias}, inputs of size {self.input_size:g}, "
                f"{self.width} units, {self.steps} steps, seed {self.seed}")
