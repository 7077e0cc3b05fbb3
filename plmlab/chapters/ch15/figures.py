"""Figures of chapter 15."""

from typing import TYPE_CHECKING

from plmlab.palette import INK, LINE, QUERY, VALUE
from plmlab.plots import plain
from plmlab.world.datasets.long_documents import LongDocument

if TYPE_CHECKING:
    import plotly.graph_objects as go


def support_map(document: LongDocument, capacity: int) -> "go.Figure":
    """A strip of the document with its two supporting sentences, and the input length of a model, drawn to scale."""
    import plotly.graph_objects as go

    figure = go.Figure()
    bars = [("document", 0, len(document.tokens), LINE, "", "document"),
            *((f"{name} sentence", one.start, one.end - one.start, colour, shape, "document")
              for name, one, colour, shape in zip(("first", "second"), document.supports, (QUERY, VALUE), ("", "/"),
                                                  strict=True)),
            (f"{capacity} positions", 0, capacity, INK, "", "input of the model")]
    for name, begin, width, colour, shape, row in bars:
        figure.add_bar(y=[row], x=[width], base=[begin], name=name, orientation="h",
                       marker={"color": colour, "pattern": {"shape": shape}, "line": {"color": colour, "width": 2}})
    figure.update_layout(**plain("No window of the model contains both sentences that the question needs"), height=260,
                         barmode="overlay", legend={"orientation": "h", "y": 1.25})
    figure.update_xaxes(title="token", range=[0, len(document.tokens)])
    figure.update_yaxes(autorange="reversed", automargin=True)
    return figure
