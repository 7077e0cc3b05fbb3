"""The family tree of pretrained models as a figure: time on the x-axis, one lane per branch, and lines of descent."""

from itertools import groupby

import plotly.graph_objects as go

from plmlab.course import CHAPTERS, Relative, family
from plmlab.palette import ACCENT, KEY, LINE, PINK, QUERY, SEE, SOFT, VALUE

LANES = {"decoder": QUERY, "one model for both": PINK, "encoder": KEY, "encoder–decoder": VALUE,
         "knowledge": ACCENT, "recurrent": SEE}
LANE, ROW, GAP = 1.0, 0.34, 0.75


def family_tree(first_year: float = 2017.9) -> go.Figure:
    """Plot every model of the course. Models older than ``first_year`` are placed at the left edge; hovering over a
    model shows its main idea."""
    models = family()
    place = layout(models, first_year)
    titles = {chapter.key: chapter.title for chapter in CHAPTERS}
    figure = go.Figure()
    for child in models:
        for parent in child.parents:
            (x0, y0), (x1, y1) = place[parent], place[child.name]
            bend = [(x0, y0), (x0 + 0.6 * (x1 - x0), y0 + 0.1 * (y1 - y0)), (x1, y1)]
            figure.add_scatter(x=[p[0] for p in bend], y=[p[1] for p in bend], mode="lines", hoverinfo="skip",
                               line={"color": LINE, "width": 1.2, "shape": "spline"}, showlegend=False)
    for branch, colour in LANES.items():
        mine = [m for m in models if m.branch == branch]
        figure.add_scatter(
            x=[place[m.name][0] for m in mine], y=[place[m.name][1] for m in mine], text=[m.name for m in mine],
            customdata=[[m.idea, f"{m.chapter} {titles[m.chapter]}", int(m.year)] for m in mine],
            mode="markers+text", textposition="middle right", name=branch,
            marker={"size": 10, "color": colour}, textfont={"size": 12},
            hovertemplate="<b>%{text}</b> (%{customdata[2]})<br>%{customdata[0]}<br>"
                          "chapter %{customdata[1]}<extra></extra>",
        )
    figure.update_layout(
        title=f"Three years, {sum(m.year >= first_year for m in models)} models: nearly all descend from BERT and GPT",
        height=560, margin={"l": 20, "r": 20, "t": 60, "b": 40}, plot_bgcolor="rgba(0,0,0,0)",
        paper_bgcolor="rgba(0,0,0,0)", font={"color": SOFT},
        legend={"orientation": "h", "y": 1.05, "title": {"text": "branch"}},
        xaxis={"title": "year of first publication (older ones at the left edge)", "range": [first_year - 0.42, 2021.7],
               "tickvals": [2018, 2019, 2020, 2021], "showgrid": True, "gridcolor": LINE, "zeroline": False},
        yaxis={"visible": False},
    )
    return figure


def layout(models: list[Relative], first_year: float) -> dict[str, tuple[float, float]]:
    """Coordinates (x, y) of every model, by name: x is the year, y the lane; models that are too close in time get
    separate rows."""
    place: dict[str, tuple[float, float]] = {}
    top = 0.0
    lanes = {branch: list(group) for branch, group in groupby(
        sorted(models, key=lambda m: (list(LANES).index(m.branch), m.year)), key=lambda m: m.branch)}
    for branch in LANES:
        free: list[float] = []
        for m in lanes[branch]:
            x = max(m.year, first_year - 0.3)
            row = next((i for i, until in enumerate(free) if x >= until), len(free))
            free[row:row + 1] = [x + 0.16 + 0.062 * len(m.name)]
            place[m.name] = (x, top - row * ROW)
        top -= (len(free) - 1) * ROW + GAP
    return place
