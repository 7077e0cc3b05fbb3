"""The Gradient Lab: how much a change at one step still moves at another, and the cliff that clipping is for."""

from math import isfinite
from typing import Any, NamedTuple

import traitlets

from plmlab.labs.base import Lab

CELLS = {"rnn": "an RNN with tanh", "irnn": "an RNN with identity and ReLU", "lstm": "an LSTM", "gru": "a GRU"}
VIEWS = ("map", "cliff")
PUSHES = ("memory", "state")


class Range(NamedTuple):
    """What a slider can be set to, and what it is called."""

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
    "pushed": Range(0, 31, 1, "the step that is pushed"),
    "moved": Range(0, 31, 1, "the step that is moved"),
    "rate": Range(0.05, 2.0, 0.05, "the learning rate"),
    "clip": Range(0.1, 3.0, 0.1, "the norm to clip at"),
    "w": Range(3.5, 5.5, 0.02, "the weight w to start from"),
    "b": Range(-3.2, -1.2, 0.02, "the bias b to start from"),
}


class GradientLab(Lab):
    """How far a push reaches: the size of ∂h_t/∂h_s in a recurrent network of random weights, for all pairs of steps;
    and the error surface of one unit, with a cliff. JavaScript computes all of it.

    Args:
        cell: ``"rnn"``, ``"irnn"`` (identity and ReLU, Le et al. 2015), ``"lstm"`` or ``"gru"`` (PyTorch's form).
        view: ``"map"``, or ``"cliff"`` (Pascanu et al. 2013, fig. 6).
        push: of an LSTM, whether its ``"memory"`` c or its ``"state"`` h is pushed.
        settings: what a slider has: ``radius`` (0.5 to 2), ``forget_bias`` (−2 to 5; of a GRU, the bias of its update
            gate), ``input_size`` (0 to 3), ``width`` (2 to 32), ``steps`` (4 to 32), ``seed``; the cell that is told,
            ``pushed`` and ``moved``; for the cliff ``rate``, ``clip``, and where descent starts, ``w`` and ``b``.
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
            raise TypeError(f"a GradientLab has no {', '.join(unknown)}; its settings are {', '.join(RANGES)}")
        limits = {name: [found.low, found.high, found.step] for name, found in RANGES.items()}
        super().__init__(cell=cell, view=view, push=push, limits=limits, **settings)

    @traitlets.validate("cell", "view", "push")
    def _check_choice(self, proposal: Any) -> Any:
        """A TraitError for what no button chooses."""
        name, value = proposal["trait"].name, proposal["value"]
        choices: tuple[str, ...] = {"cell": tuple(CELLS), "view": VIEWS, "push": PUSHES}[name]
        if value not in choices:
            raise traitlets.TraitError(f"{name} is one of {', '.join(choices)}; {value!r:.60} was given")
        return value

    @traitlets.validate(*RANGES)
    def _check_number(self, proposal: Any) -> Any:
        """The number as its slider has it; a TraitError for one that it cannot be set to."""
        value, (low, high, step, title) = proposal["value"], RANGES[proposal["trait"].name]
        if not (isfinite(value) and low <= value <= high):
            raise traitlets.TraitError(f"{title} must be from {low:g} to {high:g}; {value} was given")
        return type(value)(round(round(value / step) * step, 2))

    def summary(self) -> str:
        """What is drawn; its numbers are JavaScript's."""
        if self.view == "cliff":
            return (f"descent from w = {self.w:g}, b = {self.b:g}, learning rate {self.rate:g}, with the gradient "
                    f"clipped at {self.clip:g} and without")
        bias = f", forget bias {self.forget_bias:g}" if self.cell in ("lstm", "gru") else ""
        return (f"{CELLS[self.cell]}, spectral radius {self.radius:g}{bias}, inputs of size {self.input_size:g}, "
                f"{self.width} units, {self.steps} steps, seed {self.seed}")
