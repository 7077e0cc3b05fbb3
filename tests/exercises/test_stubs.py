"""What a notebook asks is what is checked: its stubs are those of plmlab.exercises."""

import ast
import json

import pytest

from plmlab.course import CHAPTERS
from plmlab.exercises import stub
from plmlab.exercises.exercise import chapters, of_chapter
from plmlab.paths import ROOT


def asked(cells: list[str]) -> dict[str, tuple]:
    """The number of each exercise that some cells check → name, parameters, result and docstring of what is checked."""
    functions, told = {}, {}
    for node in (node for cell in cells for node in ast.walk(ast.parse(cell))):
        if isinstance(node, ast.FunctionDef):
            functions[node.name] = header(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "check":
            number, answer = node.args
            assert isinstance(number, ast.Constant) and isinstance(answer, ast.Name)
            told[number.value] = functions.get(answer.id, ())
    return told


def header(node: ast.stmt) -> tuple:
    assert isinstance(node, ast.FunctionDef)
    result = ast.unparse(node.returns) if node.returns else ""
    return node.name, ast.unparse(node.args), result, ast.get_docstring(node)


def stubs(chapter: str) -> dict[str, tuple]:
    return {e.number: header(ast.parse(stub(e.number)).body[0]) for e in of_chapter(chapter)}


WRITTEN = sorted({chapter.number for chapter in CHAPTERS if chapter.written()} & {*chapters()})


@pytest.mark.parametrize("number", WRITTEN)
def test_the_notebooks_of_a_chapter_ask_what_is_checked(number: str) -> None:
    parts = [chapter for chapter in CHAPTERS if chapter.number == number]
    told = [asked(code_cells(chapter.file)) for chapter in parts if chapter.written()]
    found = dict(item for part in told for item in part.items())
    assert found.items() <= stubs(number).items()
    assert found == stubs(number) or not all(chapter.written() for chapter in parts)
    assert sum(map(len, told)) == len(found), "an exercise is in two notebooks"


def code_cells(file: str) -> list[str]:
    notebook = json.loads((ROOT / "notebooks" / file).read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_a_notebook_that_asks_something_else_would_be_caught() -> None:
    cells = [f"{stub(e.number)}\n\ncheck({e.number!r}, {e.solution.__name__})" for e in of_chapter("06")]
    assert asked(cells) == stubs("06")
    assert asked([cells[0].replace("k:", "key:"), *cells[1:]]) != stubs("06")
    assert asked([cells[0].replace("Attention of", "The attention of"), *cells[1:]]) != stubs("06")
    assert asked(cells[1:]) != stubs("06")
