"""What happened in a training run: the curve, and how it ended."""

import json
from dataclasses import asdict, dataclass, field, fields
from itertools import accumulate
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from plmlab.palette import KEY, QUERY, SEE, SOFT, VALUE

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

POINTS = 200
"""How many points of a long run are drawn: more cannot be told apart, and weigh in a stored notebook."""

Ending = Literal["running", "completed", "interrupted", "stopped early", "out of batches", "diverged"]


@dataclass(repr=False)
class History:
    """A run, step by step. Losses are means over targets, in nats.

    ``losses[i]``, ``rates[i]`` and ``norms[i]`` are the loss, the learning rate and the gradient norm (before
    clipping) of update i + 1; the loss is the one before that update. ``validation`` holds (updates made,
    validation loss), ``scores`` (updates made, score) where weights are judged by a score. ``tokens`` counts the
    positions read, padding too; ``seconds`` is wall time, of which ``overhead`` went into evaluating and saving. A
    resumed run goes on counting. ``floor`` is the loss that no honest model can beat, where it is known. ``ended`` says
    how the run ended and ``reason`` says it in a sentence; ``notes`` tells what went wrong on the way without ending
    it.
    """

    steps: int
    device: str = "cpu"
    precision: str = "float32"
    processes: int = 1
    floor: float | None = None
    losses: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    validation: list[tuple[int, float]] = field(default_factory=list)
    scores: list[tuple[int, float]] = field(default_factory=list)
    tokens: int = 0
    seconds: float = 0.0
    overhead: float = 0.0
    ended: Ending = "running"
    reason: str = "still running"
    notes: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        """Three lines: the curve in a sentence, how the run ended, and where the rest is found."""
        return f"{self.finding()}\n{self.ended}: {self.reason}\n.table() and .figure() show it; .losses has each loss"

    @property
    def tokens_per_second(self) -> float:
        """Positions read a second of training, evaluating and saving not counted; 0 before any second was spent."""
        spent = self.seconds - self.overhead
        return self.tokens / spent if spent > 0 else 0.0

    @property
    def best(self) -> tuple[int, float] | None:
        """The first of the highest scores, (updates made, score); without scores, the first of the lowest validation
        points, (updates made, loss in nats). None without a finite one."""
        sign, points = (-1, self.scores) if self.scores else (1, self.validation)
        return min((point for point in points if isfinite(point[1])), key=lambda point: sign * point[1], default=None)

    def smoothed(self, window: int = 20) -> list[float]:
        """At each step the mean of the last ``window`` losses in nats, of fewer at the start."""
        if window < 1:
            raise ValueError(f"window={window}: a mean needs at least one loss")
        sums = [0.0, *accumulate(self.losses)]
        return [(sums[i] - sums[max(0, i - window)]) / (i - max(0, i - window)) for i in range(1, len(sums))]

    def finding(self) -> str:
        """The curve in a sentence: the first loss, the mean of the last 20, the distance to the floor; all in nats."""
        if not self.losses:
            return f"No step was made: {self.reason}"
        first, last = self.losses[0], self.smoothed()[-1]
        verb = "falls" if last < first else "does not fall: it goes"
        text = f"The loss {verb} from {first:.2f} to {last:.2f} nats in {len(self.losses)} steps"
        if self.floor is None:
            return text
        gap = last - self.floor
        return text + (f", {gap:.2f} above the floor" if gap >= 0 else
                       f", {-gap:.2f} below the floor: something leaks, or the floor is another text's")

    def table(self, rows: int = 10) -> str:
        """The run as text: about ``rows`` steps, evenly spread; what depends on the clock is left out.

        The loss is the mean since the row above, the validation loss the last one known.
        """
        lines = [f"{'step':>7}{'loss':>9}{'validation':>12}{'learning rate':>15}{'gradient norm':>15}"]
        before, total = 0, len(self.losses)
        for step in sorted({round(total * (i + 1) / rows) for i in range(rows)} - {0}):
            loss = sum(self.losses[before:step]) / (step - before)
            known = [value for at, value in self.validation if at <= step]
            held_out = f"{known[-1]:.3f}" if known else "–"
            lines.append(f"{step:>7}{loss:>9.3f}{held_out:>12}{self.rates[step - 1]:>15.2e}"
                         f"{self.norms[step - 1]:>15.3f}")
            before = step
        return "\n".join([*lines, self.reason, *self.notes])

    def figure(self, title: str | None = None) -> "Figure":
        """The curve as a plotly figure: the loss of each step, its running mean, the validation loss and the floor.

        Its title states the finding unless another is given. Of a long run, every n-th step is drawn, 200 at most.
        """
        import plotly.graph_objects as go

        steps = range(1, len(self.losses) + 1)
        every = slice(None, None, -(-len(steps) // POINTS) or 1)
        losses, means = ([round(loss, 4) for loss in row[every]] for row in (self.losses, self.smoothed()))
        chart = go.Figure(layout={
            "title": {"text": title or self.finding(), "font": {"size": 15}}, "template": "none",
            "font": {"color": SOFT}, "xaxis": {"title": "step (updates of the weights)"},
            "yaxis": {"title": "loss (nats a target)"}, "legend": {"orientation": "h", "y": -0.25},
            "margin": {"t": 50, "r": 20},
        })
        at = list(steps[every])
        chart.add_scatter(x=at, y=losses, name="single steps", opacity=0.6, line={"color": SEE, "width": 1})
        chart.add_scatter(x=at, y=means, name="mean of the last 20", line={"color": QUERY, "width": 2.5})
        if self.validation:
            updates, held_out = zip(*self.validation, strict=True)
            chart.add_scatter(x=updates, y=held_out, name="held-out", mode="lines+markers",
                              line={"color": KEY, "dash": "dot"}, marker={"symbol": "diamond", "size": 8})
        if self.floor is not None:
            chart.add_scatter(x=[0, max(len(steps), 1)], y=[self.floor] * 2, mode="lines",
                              name=f"floor: {self.floor:.2f}", line={"color": VALUE, "dash": "dash"})
        return chart

    def save(self, path: str | PathLike[str]) -> None:
        """Write the run as JSON, which `load` reads."""
        Path(path).write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read what `save` wrote; a ValueError says what is wrong with a file that it did not write."""
        try:
            told = json.loads(Path(path).read_text(encoding="utf-8"))
        except (json.JSONDecodeError, UnicodeDecodeError) as problem:
            raise ValueError(f"{path} is not a history: it is not JSON ({problem})") from None
        return cls.from_dict(told, str(path))

    @classmethod
    def from_dict(cls, told: Any, where: str) -> Self:
        """A history from what ``dataclasses.asdict`` made of one; a ValueError for anything else
        names its source, ``where``."""
        names = {f.name for f in fields(cls)}
        if not isinstance(told, dict) or set(told) != names:
            odd = sorted(set(told) ^ names) if isinstance(told, dict) else [type(told).__name__]
            raise ValueError(f"{where} is not a history of this version of plmlab; "
                             f"it differs in {', '.join(odd):.200}")
        return cls(**told | {name: [(step, value) for step, value in told[name]] for name in ("validation", "scores")})
