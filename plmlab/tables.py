"""Tables that are rendered as Markdown in a notebook and printed as plain text elsewhere."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from IPython.display import display


@dataclass(frozen=True)
class Table:
    """A table. The first column, which holds the row names, is left-aligned; the others are right-aligned.

    Raises ValueError if a row and the ``header`` differ in length.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise ValueError(f"the row {row!s:.80} has {len(row)} cells, but the header has {len(self.header)}")

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
    """Display a table; ``header`` names all columns, the first of which holds the row names.

    Floats are shown with two decimal places; pass strings for any other format.
    """
    display(Table(tuple(header), tuple((name, *map(_cell, cells)) for name, cells in rows.items())))


def spreads(points: Iterable[Mapping[str, Any]], digits: int | None = None) -> list[str]:
    """Format recorded results as table cells: the mean, and the range over seeds in brackets.

    Values are in percent by default, or unscaled with ``digits`` decimal places.
    """
    def formatted(number: float) -> str:
        return f"{100 * number:.0f}" if digits is None else f"{number:.{digits}f}"
    return [f"{formatted(point['mean'])} ({formatted(point['low'])}–{formatted(point['high'])})" for point in points]


def _cell(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
