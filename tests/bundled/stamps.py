"""Which bundled checkpoints are verified as they are now.

The figures in a checkpoint's README are computed again by the tests marked ``bundled``, which takes a minute or two.
Once they have passed, ``data/checkpoints/verified.json`` keeps a stamp: a hash of the checkpoint's files, of the code
that computes the figures (the test, the model, and all that they import) and of the tables of the Small World. While
the stamp stays the same, so do the figures, and ten texts are enough as a check.
"""

import ast
import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from imports import imports

from plmlab.checkpoints import CONFIG, home
from plmlab.models.registry import model_type
from plmlab.paths import DATA, ROOT

FILE = DATA / "checkpoints" / "verified.json"
HOW = "run `make test PARTS=bundled`, which computes all figures again, and commit data/checkpoints/verified.json"
PINNED = ("numpy", "tokenizers", "torch")
"""Packages whose version can change a figure."""


def verified() -> dict[str, dict[str, Any]]:
    """Checkpoint → its ``stamp``, and the value of its ``ten`` texts."""
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}


def write(entries: dict[str, dict[str, Any]]) -> None:
    """Add entries to the file, or replace those of the same names."""
    told = json.dumps(dict(sorted((verified() | entries).items())), indent=2)
    FILE.write_text(told + "\n", encoding="utf-8")


def stamp(name: str, test: Path) -> str:
    """The hash of all that a checkpoint's figures depend on, as computed by a ``test`` file."""
    folder = home() / name
    kind = model_type(json.loads((folder / CONFIG).read_text(encoding="utf-8"))["model_type"])
    found = hashlib.sha256()
    for path in sorted([*folder.iterdir(), *(DATA / "world").rglob("*.tsv"), *(DATA / "world").rglob("*.txt")]):
        found.update(path.read_bytes())
    for path in sorted(needed([test, *paths([kind.model.__module__, "plmlab.checkpoints"])])):
        found.update(code(path).encode())
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    found.update("".join(line for line in lines if line.partition("==")[0] in PINNED).encode())
    return found.hexdigest()


def needed(roots: Iterable[Path]) -> set[Path]:
    """Files and all files of the package that they import, directly or not."""
    found: set[Path] = set()
    waiting = [*roots]
    while waiting:
        if (path := waiting.pop()) not in found:
            found.add(path)
            waiting += paths(modules(path))
    return found


def paths(names: Iterable[str]) -> Iterator[Path]:
    """The files of the package's modules, and of the packages around them; a name of anything else has none."""
    for name in names:
        parts = name.split(".")
        places = [ROOT.joinpath(*parts).with_suffix(".py"),
                  *(ROOT.joinpath(*parts[:end], "__init__.py") for end in range(1, len(parts) + 1))]
        yield from (path for path in places if path.is_file())


@cache
def modules(path: Path) -> tuple[str, ...]:
    """The names by which a file may import modules of the package; the labs, which only draw, are left out."""
    names = [name for module, taken in imports(path) for name in (module, f"{module}.{taken}")]
    return tuple(name for name in names if name.startswith("plmlab.") and not name.startswith("plmlab.labs"))


@cache
def code(path: Path) -> str:
    """A file without lines of comment and without docstrings, on which no figure depends."""
    lines = path.read_text(encoding="utf-8").splitlines()
    text: set[int] = set()
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.Constant | ast.JoinedStr):
            text.update(range(node.lineno, node.end_lineno or 0))  # where a line that begins with # is no comment
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            first, last = node.lineno - 1, node.end_lineno or node.lineno
            if not lines[first][:node.col_offset].strip() and not lines[last - 1][node.end_col_offset:].strip():
                lines[first:last] = [""] * (last - first)
    return "\n".join(line for number, line in enumerate(lines)
                     if line.strip() and (number in text or not line.lstrip().startswith("#")))
