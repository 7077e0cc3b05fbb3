"""Folders that appear whole or not at all, whenever the machine stops."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


def write(path: Path, data: bytes) -> None:
    """A file whose bytes are on the disk when the call returns."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def replace(path: Path, data: bytes) -> None:
    """Write a file that appears, in the place of one that may be there, when it is whole. OSError where the disk
    refuses."""
    draft = path.with_name(f".{path.name}")
    write(draft, data)
    draft.replace(path)
    settle(path.parent)


def flush(path: Path) -> None:
    """Wait until a file that another library wrote is on the disk."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def settle(folder: Path) -> None:
    """Wait until the folder's list of files is on the disk, where the system has a way to ask for it."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def place(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make ``folder`` hold just these files.

    They are written beside it, flushed, and renamed into place; a folder of that name which stood there
    before is there until then, and again if the last rename fails. OSError where the disk refuses.
    """
    with drafted(folder) as draft:
        for name, data in files.items():
            write(draft / name, data)


@contextmanager
def drafted(folder: Path) -> Iterator[Path]:
    """An empty folder, for files too large to be held in memory; when the block ends, it takes the place of ``folder``
    as in `place`. Nothing is left of it where the block raises. Each file in it is to be flushed."""
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
    """Where a folder is written before it is put in place."""
    return folder.with_name(f".{folder.name}.draft")


def clear(folder: Path) -> None:
    """Remove what an earlier, killed attempt left."""
    if folder.exists():
        shutil.rmtree(folder)
