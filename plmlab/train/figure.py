"""A training run as a plotly figure."""

from typing import TYPE_CHECKING

import plotly.graph_objects as go

if TYPE_CHECKING:
    from plmlab.train.history import History

BLUE, SKY, VERMILION, GREY = "#0072b2", "#56b4e9", "#d55e00", "#666666"


def figure(history: "History", title: str) -> go.Figure:
    """The loss of each step, its running mean, the validation loss and the floor."""
    steps = list(range(1, len(history.losses) + 1))
    chart = go.Figure(layout={
        "title": {"text": title, "font": {"size": 15}}, "template": "plotly_white",
        "xaxis": {"title": "step (updates of the weights)"}, "yaxis": {"title": "loss (nats a target)"},
        "legend": {"orientation": "h", "y": -0.25}, "margin": {"t": 50, "r": 20},
    })
    chart.add_scatter(x=steps, y=history.losses, name="each step", opacity=0.6,
                      line={"color": SKY, "width": 1})
    chart.add_scatter(x=steps, y=history.smoothed(), name="mean of the last 20",
                      line={"color": BLUE, "width": 2.5})
    if history.validation:
        at, losses = zip(*history.validation, strict=True)
        chart.add_scatter(x=at, y=losses, name="validation", mode="lines+markers",
                          line={"color": VERMILION, "dash": "dot"}, marker={"symbol": "diamond", "size": 8})
    if history.floor is not None:
        chart.add_scatter(x=[0, max(len(steps), 1)], y=[history.floor] * 2, mode="lines",
                          name=f"floor: {history.floor:.2f}", line={"color": GREY, "dash": "dash"})
    return chart
