"""What a stored notebook may hold: everything run, no widget states, no magics, and not much weight."""

import ast
import json
import re
from pathlib import Path

import pytest
from nbval.plugin import get_sanitize_patterns

from plmlab.course import CHAPTERS
from plmlab.paths import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
HEAVIEST = 1_500_000
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code_cells(path: Path) -> list[dict]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code" and "".join(cell["source"]).strip()]


@each
def test_it_is_a_chapter(path: Path) -> None:
    assert path.name in {chapter.file for chapter in CHAPTERS}


@each
def test_it_is_light(path: Path) -> None:
    assert path.stat().st_size < HEAVIEST


@each
def test_it_stores_no_widget_state(path: Path) -> None:
    assert "widgets" not in json.loads(path.read_text(encoding="utf-8"))["metadata"]
    for cell in code_cells(path):
        for output in cell["outputs"]:
            assert WIDGET_VIEW not in output.get("data", {}), "".join(cell["source"])


@each
def test_it_was_run_from_top_to_bottom(path: Path) -> None:
    counts = [cell["execution_count"] for cell in code_cells(path)]
    assert counts == list(range(1, len(counts) + 1))


@each
def test_no_cell_ended_in_an_error(path: Path) -> None:
    for cell in code_cells(path):
        if "raises-exception" not in cell["metadata"].get("tags", []):
            assert not any(output["output_type"] == "error" for output in cell["outputs"]), "".join(cell["source"])


@each
def test_it_has_no_magics(path: Path) -> None:
    """nbval passes a cell with a bad magic in it, whatever comes after."""
    for cell in code_cells(path):
        compile("".join(cell["source"]), path.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.parametrize(("one", "other"), [
    ("trained in 12.3 s", "trained in 45 s"),
    ("at 14:03:22 on 2026-01-02", "at 09:00:01 on 2025-12-31"),
    ("12,345 tokens/s on cuda:0", "999.5 tokens/s on cpu"),
    ("<Lab at 0x7f01aa23bc10>", "<Lab at 0x7f99ffffbc10>"),
    ("IPY_MODEL_" + "0123456789abcdef" * 2, "IPY_MODEL_" + "fedcba9876543210" * 2),
    ("2026-01-02T03:04:05.678Z", "2025-01-02"),
])
def test_what_means_nothing_is_not_compared(one: str, other: str) -> None:
    assert sanitised(one) == sanitised(other) != ""


@pytest.mark.parametrize(("one", "other"), [
    ("loss 2.31", "loss 2.32"),
    ("accuracy 97.1 %", "accuracy 97.2 %"),
    ("3 sentences", "4 sentences"),
    ("perplexity 12", "perplexity 13"),
])
def test_what_means_something_is_compared(one: str, other: str) -> None:
    assert sanitised(one) != sanitised(other)


def sanitised(text: str) -> str:
    """The text as nbval compares it."""
    rules = (Path(__file__).parent / "sanitize.cfg").read_text(encoding="utf-8")
    for pattern, replacement in get_sanitize_patterns(rules):
        text = re.sub(pattern, replacement, text)
    return text
