"""How long a chapter takes: its core, which is read from top to bottom, and the whole, with all that is folded.

A second-language reader takes a minute for 180 words of prose and for 4 lines of code, half a minute for a figure (its
words are counted), three for a lab, six for an exercise.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WORDS, LINES = 180, 4
"""Words and lines of code in a minute."""
FIGURE, LAB, EXERCISE = 0.5, 3, 6
"""Minutes for each."""
DEEPER = "*deeper*"
"""In a heading: what follows, down to the next heading of its rank, is off the core."""

HEADING = re.compile(r"^(#{1,3}) (.+)$", re.MULTILINE)
WORD = re.compile(r"[^\W\d_一-鿿]+(?:['’-][^\W\d_]+)*|[一-鿿]+|\$\$?[^$]+\$\$?|\d[\d.,]*")
MAKES_LAB = re.compile(r"^(?:\w+ = )?(?:\w*Lab|ShapeXRay|head_view)\(", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True)
class Section:
    """What stands under one heading; ``lines`` are of code in sight, ``folded`` of code that is folded away."""

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
        """Minutes for all of it."""
        return self.open + self.folded / LINES

    @property
    def core(self) -> float:
        """Minutes for what belongs to the core: nothing of a deeper section, and nothing that is folded."""
        return 0.0 if self.deeper else self.open

    @property
    def open(self) -> float:
        """Minutes for what is in sight."""
        return (self.words / WORDS + self.lines / LINES + self.figures * FIGURE + self.labs * LAB
                + self.exercises * EXERCISE)


def sections(notebook: Path) -> list[Section]:
    """The sections of a notebook, from the first heading on."""
    found: list[dict[str, Any]] = []
    depth = Depth()
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "markdown":
            if found:
                _add(found[-1], _code(source, cell))
            continue
        for rank, title, text in _by_headings(source):
            if title:
                found.append({"title": title.replace(DEEPER, "").strip(" ·"), "deeper": depth.under(rank, title)})
            if found:
                _add(found[-1], {"words": len(WORD.findall(text))})
    return [Section(**one) for one in found]


def cells_with_depth(cells: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], bool]]:
    """Each cell of a notebook, and whether it stands in a deeper section; prose counts by its last heading."""
    depth, deeper = Depth(), False
    for cell in cells:
        if cell["cell_type"] == "markdown":
            for mark in HEADING.finditer("".join(cell["source"])):
                deeper = depth.under(len(mark[1]), mark[2])
        yield cell, deeper


class Depth:
    """How deep the headings read so far have led."""

    def __init__(self) -> None:
        self.rank = 9

    def under(self, rank: int, title: str) -> bool:
        """Whether what stands under this next heading is deeper: until one of the same rank or a higher comes."""
        if rank <= self.rank:
            self.rank = rank if DEEPER in title else 9
        return self.rank <= rank


def core(told: Sequence[Section]) -> float:
    """Minutes for the core."""
    return sum(section.core for section in told)


def whole(told: Sequence[Section]) -> float:
    """Minutes for the whole."""
    return sum(section.whole for section in told)


def table(told: Sequence[Section]) -> str:
    """The minutes of each section, and of all."""
    rows = [f"{'core':>6}{'whole':>7}  section"]
    rows += [f"{section.core:6.0f}{section.whole:7.0f}  {section.title}{'  (deeper)' * section.deeper}"
             for section in told]
    return "\n".join([*rows, f"{core(told):6.0f}{whole(told):7.0f}  in all"])


def _by_headings(text: str) -> Iterator[tuple[int, str, str]]:
    """(rank, title, text below) of a cell of prose; rank 0 and no title for what stands before its first heading."""
    marks = list(HEADING.finditer(text))
    yield 0, "", text[:marks[0].start()] if marks else text
    ends = [mark.start() for mark in marks[1:]]
    for mark, end in zip(marks, [*ends, len(text)], strict=False):
        yield len(mark[1]), mark[2], text[mark.end():end]


def _code(source: str, cell: dict[str, Any]) -> dict[str, int]:
    """What a cell of code costs, by kind."""
    if re.match(r"\s*(# )?(hint|solution)\(", source):
        return {}
    if re.search(r"^check\(", source, re.MULTILINE):
        return {"exercises": 1}
    lines = sum(1 for line in source.splitlines() if line.strip() and not re.match(r"\s*(from \S+ )?import ", line))
    made = json.dumps([output.get("data", {}) for output in cell["outputs"]])
    folded = cell["metadata"].get("jupyter", {}).get("source_hidden", False)
    return {"folded" if folded else "lines": lines, "labs": len(MAKES_LAB.findall(source)),
            "figures": int("plotly" in made)}


def _add(section: dict[str, Any], more: dict[str, int]) -> None:
    for name, number in more.items():
        section[name] = section.get(name, 0) + number
