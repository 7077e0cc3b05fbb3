"""A training run as a plotly figure."""

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from plmlab.palette import KEY, QUERY, SEE, SOFT, VALUE

if TYPE_CHECKING:
    from plmlab.train.history import History

POINTS = 200
"""How many points of a long run are drawn: more cannot be told apart, and weigh in a stored notebook."""


def figure(history: "History", title: str) -> go.Figure:
    """The loss of each step, its running mean, the validation loss and the floor."""
    steps = range(1, len(history.losses) + 1)
    every = slice(None, None, -(-len(steps) // POINTS) or 1)
    losses, means = ([round(loss, 4) for loss in row[every]] for row in (history.losses, history.smoothed()))
    chart = go.Figure(layout={
        "title": {"text": title, "font": {"size": 15}}, "template": "none", "font": {"color": SOFT},
        "xaxis": {"title": "step (updates of the weights)"}, "yaxis": {"title": "loss (nats a target)"},
        "legend": {"orientation": "h", "y": -0.25}, "margin": {"t": 50, "r": 20},
    })
    chart.add_scatter(x=list(steps[every]), y=losses, name="single steps", opacity=0.6, line={"color": SEE, "width": 1})
    chart.add_scatter(x=list(steps[every]), y=means, name="mean of the last 20", line={"color": QUERY, "width": 2.5})
    if history.validation:
        at, held_out = zip(*history.validation, strict=True)
        chart.add_scatter(x=at, y=held_out, name="held-out", mode="lines+markers",
                          line={"color": KEY, "dash": "dot"}, marker={"symbol": "diamond", "size": 8})
    if history.floor is not None:
        chart.add_scatter(x=[0, max(len(steps), 1)], y=[history.floor] * 2, mode="lines",
                          name=f"floor: {history.floor:.2f}", line={"color": VALUE, "dash": "dash"})
    return chart
