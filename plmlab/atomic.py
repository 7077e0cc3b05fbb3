"""Atomic writes: a file or folder is replaced completely or not at all, even if the machine fails in between."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


def write(path: Path, data: bytes) -> None:
    """Write a file and flush it to disk."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def replace(path: Path, data: bytes) -> None:
    """Write a file atomically, replacing an existing one. Raises OSError if writing fails."""
    draft = path.with_name(f".{path.name}")
    write(draft, data)
    draft.replace(path)
    settle(path.parent)


def flush(path: Path) -> None:
    """Flush a file written by another library to disk."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def settle(folder: Path) -> None:
    """Flush the folder's directory entries to disk, on systems that support it."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def place(folder: Path, files: Mapping[str, bytes]) -> None:
    """Replace the contents of ``folder`` with these files, atomically.

    The files are written to a temporary folder next to it, flushed, and renamed into place. An existing folder is kept
    until then and is restored if the last rename fails. Raises OSError if writing fails.
    """
    with drafted(folder) as draft:
        for name, data in files.items():
            write(draft / name, data)


@contextmanager
def drafted(folder: Path) -> Iterator[Path]:
    """Context manager for files too large for memory: yields an empty temporary folder, which replaces ``folder`` when
    the block ends, as in `place`. If the block raises, the temporary folder is removed. The caller has to flush every
    file."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft, former = draft_of(folder), folder.with_name(f".{folder.name}.former")
    try:
        clear(draft)
        draft.mkdir()
        yield draft
        settle(draft)
        clear(former)
        if folder.exists():
            os.rename(folder, former)
        try:
            os.rename(draft, folder)
        except OSError:
            if former.exists():
                os.rename(former, folder)
            raise
        settle(folder.parent)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    shutil.rmtree(former, ignore_errors=True)


def draft_of(folder: Path) -> Path:
    """The path of the temporary folder in which the contents of ``folder`` are written before the rename."""
    return folder.with_name(f".{folder.name}.draft")


def clear(folder: Path) -> None:
    """Remove a folder left by an earlier, interrupted attempt."""
    if folder.exists():
        shutil.rmtree(folder)
