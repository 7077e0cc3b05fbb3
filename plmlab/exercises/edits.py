"""A mistake as an edit of the solution's code: the original text and its replacement.

``edit("** 0.5", "")`` is the solution without its square root. Most mistakes are a single edit of this kind; where no
edit suffices, a mistake is a function.
"""

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

from plmlab.exercises import mistakes

Function = Callable[..., Any]


@dataclass(frozen=True)
class Edit:
    """Successive replacements in the code of a function, as pairs (text that occurs exactly once, replacement)."""

    replacements: tuple[tuple[str, str], ...]

    def of(self, solution: Function) -> Function:
        """The edited function. Its code can use the names defined in the solution's module and in
        `plmlab.exercises.mistakes`.

        Raises ValueError if a text does not occur exactly once when it is to be replaced, SyntaxError if the result is
        not valid Python.
        """
        code = without_docstring(solution)
        for old, new in self.replacements:
            if (count := code.count(old)) != 1:
                raise ValueError(f"{old!r} occurs {count} times in {solution.__name__}; an edit needs exactly one "
                                 "occurrence")
            code = code.replace(old, new)
        room = vars(mistakes) | inspect.unwrap(solution).__globals__
        exec(compile(code, f"<{solution.__name__}, edited>", "exec"), room)
        edited: Function = room[solution.__name__]
        return edited


def edit(*texts: str) -> Edit:
    """Build an Edit: ``edit(old, new)`` replaces one text; ``edit(old, new, older, newer)`` then replaces another."""
    return Edit(tuple(zip(texts[::2], texts[1::2], strict=True)))


def without_docstring(fn: Function) -> str:
    """The code of a function without its docstring, which is part of the learner's stub."""
    lines, docstring = source(fn)
    return "\n".join([*lines[:docstring.lineno - 1], *lines[docstring.end_lineno:]])


def source(fn: Function) -> tuple[list[str], ast.stmt]:
    """The source lines of a function, exactly as in its file, and the AST node of its docstring."""
    text = dedent(inspect.getsource(fn)).rstrip()
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    return text.splitlines(), function.body[0]
