"""What `plmlab pretrain` does in a process of its own: killed at a given moment, or as one of two."""

from collections.abc import Iterator
from pathlib import Path

from forked import die
from stopping import stopped_at

from plmlab import cli
from plmlab.pretraining import run
from plmlab.text import tokenfile


def killed_at(step: int, *arguments: str) -> None:
    """Killed when the batch of a step is drawn."""
    run.material = stopped_at(step, die, run.material)
    cli.main(["pretrain", *arguments])


def killed_in(name: str, *arguments: str) -> None:
    """Killed when 10,000 tokens of the file of that name have been written."""
    through = tokenfile.write_rows
    tokenfile.LETTERS_AT_ONCE = 1000

    def until(rows: Iterator) -> Iterator:
        written = 0
        for row in rows:
            if written > 10_000:
                die()
            yield row
            written += len(row)

    def write_rows(rows: Iterator, tokenizer: object, path: Path) -> None:
        through(until(rows) if path.name == name else rows, tokenizer, path)
    tokenfile.write_rows = write_rows
    cli.main(["pretrain", *arguments])


def pretrained(*arguments: str) -> None:
    """To the end."""
    assert cli.main(["pretrain", *arguments]) == 0
