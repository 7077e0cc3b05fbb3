"""Labs as pictures: a PNG as wide as asked, and stored notebooks that hold pictures and no widgets."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from plmlab.labs import Curve, picture


def test_a_picture_is_a_png_as_wide_as_asked() -> None:
    shot = Curve("x").picture(width=700, scale=1.0)
    assert shot.startswith(b"\x89PNG")
    assert int.from_bytes(shot[16:20], "big") == 700


NOTEBOOK = """
from plmlab.labs import Curve
curve = Curve("a run", steps=3)
curve
"""


def test_a_stored_notebook_has_pictures_and_no_widgets(tmp_path: Path) -> None:
    path = tmp_path / "labs.ipynb"
    cells = [new_code_cell(NOTEBOOK), new_code_cell("for s in (1, 2, 3): curve.add(s, 3.0 / s)\ncurve.finish()"),
             new_code_cell("import ipywidgets\nprint('2 + 2 =', 2 + 2)\nipywidgets.IntSlider(3)")]
    nbformat.write(new_notebook(cells=cells), path)
    run = subprocess.run([sys.executable, "-m", "plmlab.labs.picture", str(path)], capture_output=True, text=True,
                         check=False)
    assert run.returncode == 0, run.stderr
    stored = nbformat.read(path, as_version=4)
    nbformat.validate(stored)
    assert len(stored.cells) == 3
    lab, _, rest = (cell.outputs for cell in stored.cells)
    assert set(lab[0].data) == {"text/plain", "image/png"}
    assert lab[0].data["text/plain"].startswith("<Curve: a run")
    assert rest[0].text == "2 + 2 = 4\n"
    assert picture.WIDGET not in path.read_text(encoding="utf-8")
    assert "widgets" not in stored.metadata


def test_a_notebook_that_would_be_too_heavy_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "heavy.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("print(('x' * 99 + chr(10)) * 16_000)")]), path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="the limit for a stored notebook is 1500 kB"):
        picture.store_pictures(path)
    assert path.read_bytes() == before
