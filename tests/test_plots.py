"""The chapters' plots: told apart without colour, labelled, and with a clear word where a line does not fit."""

import pytest

from plmlab.plots import attention_heatmap, lines


def test_lines_differ_in_more_than_colour() -> None:
    series = {name: [1.0, 2.0] for name in "abcde"}
    figure = lines("a finding", [1, 2], series, x_title="steps", y_title="loss (nats)")
    drawn = [(t.line.dash, t.marker.symbol) for t in figure.data]
    assert len(set(drawn)) == 5 and len({dash for dash, _ in drawn}) == 5
    assert figure.layout.xaxis.title.text == "steps" and figure.layout.yaxis.title.text == "loss (nats)"


def test_a_spread_lies_under_its_line() -> None:
    figure = lines("t", [1, 2], {"a": [1.0, 2.0]}, x_title="x", y_title="y", spread={"a": ([0.5, 1.5], [1.5, 2.5])})
    band, line = figure.data
    assert list(band.y) == [1.5, 2.5, 1.5, 0.5] and list(line.y) == [1.0, 2.0]


@pytest.mark.parametrize("series, word", [
    ({"a": [1.0]}, "1 values"), ({str(i): [0.0, 0.0] for i in range(6)}, "cannot be distinguished"),
])
def test_what_cannot_be_drawn_is_said(series: dict[str, list[float]], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        lines("t", [1, 2], series, x_title="x", y_title="y")


def test_a_word_that_comes_twice_keeps_both_columns() -> None:
    figure = attention_heatmap("t", [[0.5, 0.5], [1.0, 0.0]], ["a", "a"], ["x", "x"])
    assert len(set(figure.data[0].x)) == 2 and list(figure.layout.xaxis.ticktext) == ["x", "x"]
    assert figure.layout.yaxis.autorange == "reversed"
