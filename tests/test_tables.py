"""Tables: what is rendered is what was given, and the plain text stands in columns."""

from html.parser import HTMLParser

import mistune
import pytest

from plmlab.recipes import seed_summary
from plmlab.tables import Table, show_table, spreads


class Cells(HTMLParser):
    """The cells of a table in HTML, row by row."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1] and data.strip():
            self.rows[-1][-1] += data


def test_what_is_rendered_is_what_was_given() -> None:
    table = Table(("reader", "right", "a | b"), (("BERT", "98", "0.50"), ("P(x|y)", "1,024", "–")))
    html = mistune.create_markdown(plugins=["table"])(table._repr_markdown_())
    cells = Cells()
    cells.feed(html)
    assert cells.rows == [list(table.header), *map(list, table.rows)]


def test_plain_text_stands_in_columns() -> None:
    assert repr(Table(("", "all", "hard"), (("BERT", "9", "10"), ("a GPT", "100", "7")))) == (
        "       all  hard\nBERT     9    10\na GPT  100     7")


def test_numbers_are_written_in_one_way(capsys) -> None:
    show_table(("reader", "loss", "texts"), {"BERT": (0.5, 1024), "best": ("0.392", "all")})
    assert capsys.readouterr().out.splitlines() == [
        "reader   loss  texts", "BERT     0.50  1,024", "best    0.392    all"]


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="has 1 cells, but the header has 2"):
        Table(("a", "b"), (("x",),))


def test_spreads_are_the_mean_and_the_range_of_the_seeds() -> None:
    point = seed_summary({0: 0.914, 1: 0.9, 2: 0.946})
    assert spreads([point]) == ["92 (90–95)"] and spreads([point, point], digits=3) == ["0.920 (0.900–0.946)"] * 2
