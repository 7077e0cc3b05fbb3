"""Feedback for learners: plain text that is identical on every machine, and its HTML version for notebooks."""

import sys
from dataclasses import dataclass
from html import escape
from typing import Literal, TypeVar

from plmlab.palette import ACCENT, KEY, SOFT, VALUE

Told = TypeVar("Told")
Verdict = Literal["right", "wrong", "error", "not attempted", "not checked"]

COLOURS: dict[Verdict, str] = {
    "right": VALUE, "wrong": KEY, "error": KEY, "not attempted": SOFT, "not checked": SOFT,
}


def shown(told: Told) -> Told:
    """Print the value when run in a script, and return it. A prompt and a notebook, which have a ``sys.ps1``, display
    results by themselves. Characters that the terminal cannot encode become question marks."""
    if not hasattr(sys, "ps1"):
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        print(repr(told).encode(encoding, "replace").decode(encoding))
    return told


def framed(heading: str, lines: tuple[str, ...], colour: str) -> str:
    """HTML of the heading and the lines, escaped, next to a coloured border."""
    text = "\n".join(map(escape, lines))
    return (
        f'<div role="status" style="border-left: 4px solid {colour}; padding: 2px 12px; margin: 4px 0">'
        f'<strong>{escape(heading)}</strong><div style="white-space: pre-wrap">{text}</div></div>'
    )


@dataclass(frozen=True, repr=False)
class Feedback:
    """The result of ``check``: verdict, heading, explanatory lines, and the name of the known mistake, if any."""

    verdict: Verdict
    heading: str
    lines: tuple[str, ...] = ()
    mistake: str = ""

    @property
    def ok(self) -> bool:
        """Whether the answer is correct."""
        return self.verdict == "right"

    def __repr__(self) -> str:
        return "\n".join([self.heading, *self.lines])

    def _repr_html_(self) -> str:
        return framed(self.heading, self.lines, COLOURS[self.verdict])


@dataclass(frozen=True, repr=False)
class Hint:
    """One of the three hints of an exercise: a heading with the hint's number, and its text."""

    heading: str
    text: str

    def __repr__(self) -> str:
        return f"{self.heading}\n{self.text}"

    def _repr_html_(self) -> str:
        return framed(self.heading, (self.text,), ACCENT)


@dataclass(frozen=True, repr=False)
class Folded:
    """Code that a notebook shows when the user clicks its title or opens it with the keyboard."""

    heading: str
    code: str

    def __repr__(self) -> str:
        return f"# {self.heading}\n{self.code}"

    def _repr_html_(self) -> str:
        return (
            f"<details><summary>{escape(self.heading)}</summary>"
            f'<pre style="overflow-x: auto"><code>{escape(self.code)}</code></pre></details>'
        )
