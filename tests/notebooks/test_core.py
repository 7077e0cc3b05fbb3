"""The core of a chapter stands alone: no cell of it takes a name from a section that is marked deeper."""

import builtins
import json

import pytest
from names import made, taken

from plmlab.course import notebooks
from plmlab.minutes import cells_with_depth

KNOWN = {*dir(builtins), "display", "get_ipython"}


def test_names_are_told_apart() -> None:
    code = "import a.b\nfrom c import d as e\ndef f(x, y=g):\n    z = x + h\n    return [i for i in z]\nk = f(l)\nfor m in k: n = m\n"
    assert made(code) == {"a", "e", "f", "k", "m", "n"}
    assert taken(code) == {"g", "h", "l"}


def lacking(cells: list[tuple[str, bool]]) -> list[str]:
    """The names that cells of the core take from deeper ones; cells are (code, whether it is deeper)."""
    known, found = set(KNOWN), []
    for code, deeper in cells:
        if not deeper:
            found += sorted(taken(code) - known)
            known |= made(code)
    return found


def test_a_name_from_a_deeper_cell_is_found() -> None:
    assert lacking([("a = 1", False), ("b = a", True), ("c = a", False)]) == []
    assert lacking([("a = 1", False), ("b = a", True), ("def f():\n    return b", False)]) == ["b"]


@pytest.mark.parametrize("number", notebooks())
def test_the_core_of_a_chapter_needs_nothing_deeper(number: str) -> None:
    told = json.loads(notebooks()[number].read_text(encoding="utf-8"))["cells"]
    assert lacking([("".join(cell["source"]), deeper) for cell, deeper in cells_with_depth(told)
                    if cell["cell_type"] == "code"]) == []
