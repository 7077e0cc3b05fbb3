"""Tables that a notebook renders, and that stand as plain text where nothing is rendered."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from IPython.display import display


@dataclass(frozen=True)
class Table:
    """A table: its ``header``, and rows of as many cells; the first column names the row, the others stand right.

    ValueError for a row of another length.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise ValueError(f"the row {row!s:.80} has {len(row)} cells, and the header {len(self.header)}")

    def __repr__(self) -> str:
        lines = [self.header, *self.rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.header))]
        return "\n".join("  ".join(cell.rjust(width) if column else cell.ljust(width)
                                   for column, (cell, width) in enumerate(zip(line, widths, strict=True))).rstrip()
                         for line in lines)

    def _repr_markdown_(self) -> str:
        lines = [self.header, (":--", *["--:"] * (len(self.header) - 1)), *self.rows]
        return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def show_table(header: Sequence[str], rows: Mapping[str, Sequence[Any]]) -> None:
    """Display a table: ``header`` names the columns, the first being that of the rows' names.

    Floats get two digits behind the point; give strings to have it otherwise.
    """
    display(Table(tuple(header), tuple((name, *map(_cell, cells)) for name, cells in rows.items())))


def spreads(points: Iterable[Mapping[str, Any]], digits: int | None = None) -> list[str]:
    """What a recipe has recorded with its spread, as cells: the mean, and the range of the seeds in brackets; of 100,
    or as it is with so many ``digits`` behind the point."""
    def told(number: float) -> str:
        return f"{100 * number:.0f}" if digits is None else f"{number:.{digits}f}"
    return [f"{told(point['mean'])} ({told(point['low'])}–{told(point['high'])})" for point in points]


def _cell(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
