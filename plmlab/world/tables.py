"""The hand-written tables of the Small World, which are tab-separated, with a comment header and a row of column
names."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from plmlab.paths import DATA

TABLES = DATA / "world"


class TableError(ValueError):
    """Raised if a table of the Small World has an empty cell, a duplicate, an unknown reference or an ambiguity."""


@dataclass(frozen=True)
class Row:
    """One row of a table: its cells (``row["word"]``), and its file and line."""

    file: str
    line: int
    cells: dict[str, str]

    def __getitem__(self, column: str) -> str:
        """The cell of a column, as text. Raises KeyError for an unknown column."""
        return self.cells[column]

    def words(self, column: str) -> tuple[str, ...]:
        """The cell's words, split at spaces."""
        return tuple(self.cells[column].split())

    def items(self, column: str) -> tuple[str, ...]:
        """The cell's entries, split at commas."""
        return tuple(item for item in self.cells[column].split(",") if item)

    @property
    def place(self) -> str:
        """Location of the row, for messages: "nouns.tsv, row 12" (the line of the file)."""
        return f"{self.file}, row {self.line}"


def clash(message: str, *rows: Row) -> TableError:
    """Build a TableError from a message and the conflicting rows; the caller raises it."""
    return TableError(f"{message} ({'; '.join(row.place for row in rows)})")


def read_table(name: str, *, required: tuple[str, ...] = (), folder: Path = TABLES) -> list[Row]:
    """Read the rows of ``folder/name``; the columns in ``required`` must not be empty.

    Raises:
        TableError: if the file is missing or unreadable, a row has too many cells, or a required cell is empty; the
            message names file and row.
    """
    path = folder / name
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise TableError(f"the table {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TableError(f"the table {path} is not UTF-8 text (byte {error.start})") from error
    rows = list(_rows(name, lines))
    for row in rows:
        for column in required:
            if column not in row.cells:
                raise clash(f"the column '{column}' is missing", row)
            if not row[column]:
                raise clash(f"the cell '{column}' is empty", row)
    return rows


def _rows(name: str, lines: list[str]) -> Iterator[Row]:
    columns: list[str] | None = None
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if columns is None:
            columns = cells
            continue
        if len(cells) > len(columns):
            raise TableError(f"{len(cells)} cells, but the header names {len(columns)} columns ({name}, row {number})")
        yield Row(name, number, dict(zip(columns, cells + [""] * (len(columns) - len(cells)), strict=True)))


def unique(rows: list[Row], *columns: str) -> None:
    """Raise a TableError that names both rows if two rows agree in all of ``columns``."""
    seen: dict[tuple[str, ...], Row] = {}
    for row in rows:
        key = tuple(row[column] for column in columns)
        if key in seen:
            raise clash(f"{' '.join(key)!r} occurs twice", seen[key], row)
        seen[key] = row
