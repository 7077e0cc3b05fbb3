"""Detection of git LFS pointers: short text files that a clone contains instead of large files until these are
fetched."""

from pathlib import Path

START = b"version https://git-lfs.github.com/spec/"
"""The first bytes of every pointer file."""
POINTER = "a git LFS pointer, not the file itself: run `git lfs pull` in its folder to fetch the file"


def pointers(*files: Path) -> str:
    """A message that lists the files that are still pointers and explains how to fetch their contents; "" if there are
    none."""
    names = [file.name for file in files if file.is_file() and _begins(file)]
    return f"{', '.join(names)} is {POINTER}" if names else ""


def _begins(file: Path) -> bool:
    with file.open("rb") as data:
        return data.read(len(START)) == START
