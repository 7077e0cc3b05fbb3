"""Plots in the course's style: lines differ in dash and marker as well as in colour, and titles state the finding."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from plotly.colors import sequential

from plmlab.lists import refuse_string
from plmlab.palette import ACCENT, KEY, LINE, PINK, QUERY, SOFT, VALUE

Row = Sequence[int | float]

STYLES = (
    (QUERY, "solid", "circle"), (KEY, "dash", "square"), (VALUE, "dot", "diamond"), (ACCENT, "dashdot", "triangle-up"),
    (PINK, "longdash", "x"),
)


def lines(title: str, x: Row, series: Mapping[str, Row], *, x_title: str, y_title: str,
          spread: Mapping[str, tuple[Row, Row]] | None = None, floor: float | None = None,
          log_x: bool = False, log_y: bool = False) -> go.Figure:
    """Make a line plot of named series over the same x.

    ``spread`` gives the lowest and highest seed of a series, drawn as a shaded band; ``floor`` is a lower bound, drawn
    as a dotted line. Raises ValueError for more lines than there are styles, and for a series whose length differs
    from that of x.
    """
    if len(series) > len(STYLES):
        raise ValueError(f"{len(series)} lines cannot be distinguished in one plot; give at most {len(STYLES)}")
    figure = go.Figure()
    for (name, values), (colour, dash, symbol) in zip(series.items(), STYLES, strict=False):
        if len(values) != len(x):
            raise ValueError(f"{name!r} has {len(values)} values, but x has {len(x)}")
        if spread and name in spread:
            low, high = spread[name]
            figure.add_scatter(x=[*x, *reversed(x)], y=[*high, *reversed(low)], fill="toself", fillcolor=colour,
                               opacity=0.15, line={"width": 0}, hoverinfo="skip", showlegend=False)
        figure.add_scatter(x=list(x), y=list(values), name=name, mode="lines+markers",
                           line={"color": colour, "dash": dash}, marker={"symbol": symbol, "size": 7})
    if floor is not None:
        figure.add_hline(floor, line={"color": SOFT, "dash": "dot", "width": 1}, annotation_text="floor")
    grid = {"showgrid": True, "gridcolor": LINE, "zeroline": False}
    return figure.update_layout(
        **plain(title), height=340, legend={"orientation": "h", "y": 1.12},
        xaxis={"title": x_title, "type": "log" if log_x else "linear", "tickvals": list(x) if log_x else None, **grid},
        yaxis={"title": y_title, "type": "log" if log_y else "linear", **grid},
    )


def attention_heatmap(title: str, weights: Sequence[Row], queries: Sequence[str], keys: Sequence[str], *,
                      x_title: str = "key (attended to)", y_title: str = "query (attends)") -> go.Figure:
    """Make a heat map of attention weights, from 0 to 1: one row per query, one column per key.

    Raises ValueError if ``queries`` or ``keys`` is a single string instead of a list of labels.
    """
    for names in (queries, keys):
        refuse_string(names, "the names of queries and of keys")
    numbered = [f"{i} {key}" for i, key in enumerate(keys)]
    rows = [f"{i} {query}" for i, query in enumerate(queries)]
    heat = go.Heatmap(z=[list(row) for row in weights], x=numbered, y=rows, zmin=0, zmax=1,
                      colorscale=sequential.Cividis, colorbar={"title": "weight"},
                      hovertemplate="%{y} attends to %{x}: %{z:.2f}<extra></extra>")
    return go.Figure(heat).update_layout(
        **plain(title), height=160 + 26 * len(rows), width=220 + 42 * len(numbered),
        xaxis={"title": x_title, "tickvals": numbered, "ticktext": list(keys), "side": "bottom"},
        yaxis={"title": {"text": y_title, "standoff": 12}, "tickvals": rows, "ticktext": list(queries),
               "autorange": "reversed", "automargin": True},
    )


def plain(title: str) -> dict[str, object]:
    """The layout shared by all plots: transparent background, room for a title, and text legible on light and dark
    themes."""
    return {"template": "none", "title": {"text": title, "font": {"size": 15}}, "plot_bgcolor": "rgba(0,0,0,0)",
            "paper_bgcolor": "rgba(0,0,0,0)", "font": {"color": SOFT}, "margin": {"l": 60, "r": 20, "t": 70, "b": 50}}
