"""Atomic writes: files and folders are replaced completely or not at all, even if the machine stops in between."""

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
    """Flush to disk a file that another library has written."""
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

    The files are written to a temporary folder next to it, flushed, and renamed into place. An existing folder stays
    until then and is restored if the last rename fails. Raises OSError if writing fails.
    """
    with drafted(folder) as draft:
        for name, data in files.items():
            write(draft / name, data)


@contextmanager
def drafted(folder: Path) -> Iterator[Path]:
    """Yield an empty temporary folder, for files too large for memory, that replaces ``folder`` when the block ends, as
    in `place`. If the block raises, it is removed. The caller has to flush every file in it."""
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
    """Path of the temporary folder in which ``folder`` is written before it is renamed."""
    return folder.with_name(f".{folder.name}.draft")


def clear(folder: Path) -> None:
    """Remove a folder that an earlier, interrupted attempt left."""
    if folder.exists():
        shutil.rmtree(folder)
