"""Pointers of git LFS: the few lines that a clone holds in place of a large file until it is fetched."""

from pathlib import Path

START = b"version https://git-lfs.github.com/spec/"
"""How every pointer begins."""
POINTER = "a git LFS pointer, not the file itself: run `git lfs pull` in its folder to fetch that"


def pointers(*files: Path) -> str:
    """Which of these files are pointers and what to do about it, in a phrase; "" where none is."""
    found = [file.name for file in files if file.is_file() and _begins(file)]
    return f"{', '.join(found)} is {POINTER}" if found else ""


def _begins(file: Path) -> bool:
    with file.open("rb") as data:
        return data.read(len(START)) == START
