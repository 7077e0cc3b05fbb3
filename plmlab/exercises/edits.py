"""A mistake as an edit of the solution's code: what stands there, and what one writes instead.

``edit("** 0.5", "")`` is the solution without its square root. Most mistakes are one such line; where no edit will do,
a mistake is a function.
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
    """Replacements in the code of a function, in turn: (what stands there once, what is written instead)."""

    replacements: tuple[tuple[str, str], ...]

    def of(self, solution: Function) -> Function:
        """The edited function. Its code sees what the solution's module and `plmlab.exercises.mistakes` define.

        ValueError where a text does not stand exactly once in the code at its turn; SyntaxError for an edit that makes
        no Python.
        """
        code = without_docstring(solution)
        for old, new in self.replacements:
            if (count := code.count(old)) != 1:
                raise ValueError(f"{old!r} stands {count} times in {solution.__name__}; an edit needs it once")
            code = code.replace(old, new)
        room = vars(mistakes) | inspect.unwrap(solution).__globals__
        exec(compile(code, f"<{solution.__name__}, edited>", "exec"), room)
        edited: Function = room[solution.__name__]
        return edited


def edit(*texts: str) -> Edit:
    """``edit(old, new)`` writes one text for another, ``edit(old, new, older, newer)`` then a second one."""
    return Edit(tuple(zip(texts[::2], texts[1::2], strict=True)))


def without_docstring(fn: Function) -> str:
    """The code of a function, but for the docstring, which the learner's stub shows."""
    lines, docstring = source(fn)
    return "\n".join([*lines[:docstring.lineno - 1], *lines[docstring.end_lineno:]])


def source(fn: Function) -> tuple[list[str], ast.stmt]:
    """The lines of a function as they stand in its file, and where among them its docstring is."""
    text = dedent(inspect.getsource(fn)).rstrip()
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    return text.splitlines(), function.body[0]
