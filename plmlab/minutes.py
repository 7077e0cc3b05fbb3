"""Study time of a chapter: of its core, which is read from top to bottom, and of the whole, including folded code.

Estimates for a second-language reader: one minute per 180 words of prose or per 4 lines of code, half a minute per
figure (in addition to its words), three minutes per lab, six per exercise.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WORDS, LINES = 180, 4
"""Words of prose, and lines of code, per minute."""
FIGURE, LAB, EXERCISE = 0.5, 3, 6
"""Minutes per figure, per lab and per exercise."""
DEEPER = "*deeper*"
"""Mark in a heading: its section, up to the next heading of the same or a higher level, is not part of the core."""

HEADING = re.compile(r"^(#{1,3}) (.+)$", re.MULTILINE)
WORD = re.compile(r"[^\W\d_一-鿿]+(?:['’-][^\W\d_]+)*|[一-鿿]+|\$\$?[^$]+\$\$?|\d[\d.,]*")
MAKES_LAB = re.compile(r"^(?:\w+ = )?(?:\w*Lab|ShapeXRay|head_view)\(", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True)
class Section:
    """Contents of the section under one heading: ``deeper`` is True outside the core; ``lines`` counts
    visible lines of code, ``folded`` folded lines."""

    title: str
    deeper: bool
    words: int = 0
    lines: int = 0
    folded: int = 0
    figures: int = 0
    labs: int = 0
    exercises: int = 0

    @property
    def whole(self) -> float:
        """Minutes for the whole section, including folded code."""
        return self.open + self.folded / LINES

    @property
    def core(self) -> float:
        """Minutes for the section as part of the core: 0 for a deeper section; folded code does not count."""
        return 0.0 if self.deeper else self.open

    @property
    def open(self) -> float:
        """Minutes for everything that is not folded."""
        return (self.words / WORDS + self.lines / LINES + self.figures * FIGURE + self.labs * LAB
                + self.exercises * EXERCISE)


def sections(notebook: Path) -> list[Section]:
    """The sections of a notebook; cells before the first heading are skipped."""
    counts: list[dict[str, Any]] = []
    depth = Depth()
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "markdown":
            if counts:
                _add(counts[-1], _code(source, cell))
            continue
        for rank, title, text in _by_headings(source):
            if title:
                counts.append({"title": title.replace(DEEPER, "").strip(" ·"), "deeper": depth.under(rank, title)})
            if counts:
                _add(counts[-1], {"words": len(WORD.findall(text))})
    return [Section(**count) for count in counts]


def cells_with_depth(cells: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield each cell of a notebook, and whether it is in a deeper section; the last heading in a Markdown cell
    decides."""
    depth, deeper = Depth(), False
    for cell in cells:
        if cell["cell_type"] == "markdown":
            for heading in HEADING.finditer("".join(cell["source"])):
                deeper = depth.under(len(heading[1]), heading[2])
        yield cell, deeper


class Depth:
    """Tracks whether the current heading is inside a deeper section."""

    def __init__(self) -> None:
        self.rank = 9

    def under(self, rank: int, title: str) -> bool:
        """Enter the section with this heading and return whether it is deeper. A heading of the same or a higher level
        ends a deeper section."""
        if rank <= self.rank:
            self.rank = rank if DEEPER in title else 9
        return self.rank <= rank


def core(told: Sequence[Section]) -> float:
    """Total minutes for the core of a chapter, given its sections."""
    return sum(section.core for section in told)


def whole(told: Sequence[Section]) -> float:
    """Total minutes for a whole chapter, given its sections."""
    return sum(section.whole for section in told)


def table(told: Sequence[Section]) -> str:
    """A table of the minutes for each section, and their total."""
    rows = [f"{'core':>6}{'whole':>7}  section"]
    rows += [f"{section.core:6.0f}{section.whole:7.0f}  {section.title}{'  (deeper)' * section.deeper}"
             for section in told]
    return "\n".join([*rows, f"{core(told):6.0f}{whole(told):7.0f}  total"])


def _by_headings(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield (level, title, text below) for each heading of a Markdown cell; level 0 and "" for the text before the
    first heading."""
    headings = list(HEADING.finditer(text))
    yield 0, "", text[:headings[0].start()] if headings else text
    ends = [heading.start() for heading in headings[1:]]
    for heading, end in zip(headings, [*ends, len(text)], strict=False):
        yield len(heading[1]), heading[2], text[heading.end():end]


def _code(source: str, cell: dict[str, Any]) -> dict[str, int]:
    """Counts of the contents of a code cell: lines, labs, figures. An exercise counts only as one exercise."""
    if re.match(r"\s*(# )?(hint|solution)\(", source):
        return {}
    if re.search(r"^check\(", source, re.MULTILINE):
        return {"exercises": 1}
    lines = sum(1 for line in source.splitlines() if line.strip() and not re.match(r"\s*(from \S+ )?import ", line))
    outputs = json.dumps([output.get("data", {}) for output in cell["outputs"]])
    folded = cell["metadata"].get("jupyter", {}).get("source_hidden", False)
    return {"folded" if folded else "lines": lines, "labs": len(MAKES_LAB.findall(source)),
            "figures": int("plotly" in outputs)}


def _add(section: dict[str, Any], more: dict[str, int]) -> None:
    for name, number in more.items():
        section[name] = section.get(name, 0) + number
