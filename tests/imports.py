"""What a Python file imports, read without running it."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path


@cache
def imports(path: Path) -> list[tuple[str, str | None]]:
    """(module, name taken from it) for all that a file imports: inside functions and for type checkers only, too."""
    return list(imported(ast.parse(path.read_text(encoding="utf-8"))))


def imported(module: ast.Module) -> Iterator[tuple[str, str | None]]:
    for node in statements(module.body):
        if isinstance(node, ast.Import):
            yield from ((name.name, None) for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, name.name) for name in node.names)


def statements(block: list[ast.AST]) -> Iterator[ast.AST]:
    """All statements of a block, those of the blocks inside it too."""
    for node in block:
        yield node
        for inner in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from statements(getattr(node, inner, []))
