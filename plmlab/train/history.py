"""The record of a training run: the learning curve and how the run ended."""

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
"""Maximum number of points in a figure: more are indistinguishable and enlarge a stored notebook."""

Ending = Literal["running", "completed", "interrupted", "stopped early", "out of batches", "diverged"]


@dataclass(repr=False)
class History:
    """The record of a run, step by step. Losses are means over targets, in nats.

    ``losses[i]``, ``rates[i]`` and ``norms[i]`` are the loss, learning rate and gradient norm (before clipping) of
    update i + 1; the loss is measured before that update. ``validation`` holds (updates, validation loss) pairs;
    ``scores`` holds (updates, score) pairs if a ``score`` function is given. ``tokens`` counts all input tokens,
    including padding. ``seconds`` is wall time, of which ``overhead`` was spent on evaluation and saving. A resumed run
    continues all counts. ``floor`` is the entropy lower bound of the loss, if known. ``ended`` is how the run ended,
    and ``reason`` explains it in a sentence; ``notes`` lists problems that did not end the run.
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
        """Three lines: a summary of the curve, how the run ended, and how to see more."""
        return f"{self.finding()}\n{self.ended}: {self.reason}\n.table() and .figure() show it; .losses has each loss"

    @property
    def tokens_per_second(self) -> float:
        """Input tokens per second of training, without evaluation and saving; 0 before the first update."""
        training = self.seconds - self.overhead
        return self.tokens / training if training > 0 else 0.0

    @property
    def best(self) -> tuple[int, float] | None:
        """The best evaluation: (updates, score) of the highest score; without scores, (updates, validation loss) of the
        lowest validation loss. Ties go to the first; None if no value is finite."""
        sign, points = (-1, self.scores) if self.scores else (1, self.validation)
        return min((point for point in points if isfinite(point[1])), key=lambda point: sign * point[1], default=None)

    def smoothed(self, window: int = 20) -> list[float]:
        """Running mean of the last ``window`` losses, in nats; fewer at the start."""
        if window < 1:
            raise ValueError(f"window={window}: give 1 or more")
        sums = [0.0, *accumulate(self.losses)]
        return [(sums[i] - sums[max(0, i - window)]) / (i - max(0, i - window)) for i in range(1, len(sums))]

    def finding(self) -> str:
        """One-sentence summary: first loss, mean of the last 20 losses, and distance to the floor, in nats."""
        if not self.losses:
            return f"No step was made: {self.reason}"
        first, last = self.losses[0], self.smoothed()[-1]
        verb = "falls" if last < first else "does not fall: it goes"
        text = f"The loss {verb} from {first:.2f} to {last:.2f} nats in {len(self.losses)} steps"
        if self.floor is None:
            return text
        gap = last - self.floor
        return text + (f", {gap:.2f} above the floor" if gap >= 0 else
                       f", {-gap:.2f} below the floor: there is a target leak, or the floor belongs to other data")

    def table(self, rows: int = 10) -> str:
        """Format the run as a text table with about ``rows`` evenly spaced steps, without timings.

        The loss is the mean since the previous row; the validation loss is the most recent one.
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
        """The learning curve as a plotly figure: loss of each step, running mean, validation loss and floor.

        The title defaults to `finding`. Long runs are subsampled to at most 200 steps.
        """
        import plotly.graph_objects as go

        steps = range(1, len(self.losses) + 1)
        every = slice(None, None, -(-len(steps) // POINTS) or 1)
        losses, means = ([round(loss, 4) for loss in row[every]] for row in (self.losses, self.smoothed()))
        chart = go.Figure(layout={
            "title": {"text": title or self.finding(), "font": {"size": 15}}, "template": "none",
            "font": {"color": SOFT}, "xaxis": {"title": "step (updates of the weights)"},
            "yaxis": {"title": "loss (nats per target)"}, "legend": {"orientation": "h", "y": -0.25},
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
        """Save the history as JSON, for `load`."""
        Path(path).write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Load a file written by `save`. Raises ValueError if the file has another format."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except (json.JSONDecodeError, UnicodeDecodeError) as problem:
            raise ValueError(f"{path} is not a history: it is not JSON ({problem})") from None
        return cls.from_dict(data, str(path))

    @classmethod
    def from_dict(cls, data: Any, where: str) -> Self:
        """Restore a history from its ``dataclasses.asdict``. Raises ValueError for any other value; the message names
        ``where`` it came from."""
        names = {f.name for f in fields(cls)}
        if not isinstance(data, dict) or set(data) != names:
            odd = sorted(set(data) ^ names) if isinstance(data, dict) else [type(data).__name__]
            raise ValueError(f"{where} is not a history of this version of plmlab; "
                             f"it differs in {', '.join(odd):.200}")
        return cls(**data | {name: [(step, value) for step, value in data[name]] for name in ("validation", "scores")})
