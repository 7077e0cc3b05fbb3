"""A verdict is seen wherever ``check`` is called, and once: a script prints it, a prompt and a notebook show it."""

import io
import subprocess
import sys
from functools import partial

import nbformat
import pytest
from nbclient import NotebookClient

from plmlab.exercises import check, hint, solution
from plmlab.exercises.feedback import shown

CODE = 'from plmlab.exercises import check\ncheck("06.1", 3)\n'
VERDICT = "06.1 attention by hand: not correct yet"


@pytest.mark.parametrize("how", [["-"], ["-i", "-q"], ["-m", "IPython", "--no-banner", "-c", CODE]])
def test_a_script_and_a_prompt_tell_it_once(how: list[str]) -> None:
    given = "" if CODE in how else CODE
    told = subprocess.run([sys.executable, *how], input=given, capture_output=True, text=True, check=True).stdout
    assert told.count(VERDICT) == 1 and 'check("06.1", attention_by_hand); this is 3' in told


def test_a_notebook_shows_it_and_prints_nothing() -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CODE)])
    NotebookClient(notebook).execute()
    (output,) = notebook.cells[0].outputs
    assert output.output_type == "execute_result" and VERDICT in output.data["text/html"]


def test_hints_and_solutions_are_printed_too(capsys: pytest.CaptureFixture[str]) -> None:
    for ask in (partial(check, "99.1", print), *(partial(f, n) for f in (hint, solution) for n in ("06.1", "99.1"))):
        told = ask()
        assert capsys.readouterr().out == f"{told!r}\n"


def test_a_prompt_is_left_to_show_it(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    check("06.1", 3)
    assert capsys.readouterr().out == ""


def test_a_terminal_that_does_not_know_a_sign_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.TextIOWrapper(raw := io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", terminal)
    shown("√d_k")
    terminal.flush()
    assert raw.getvalue().strip() == b"'?d_k'"
    monkeypatch.setattr(sys, "stdout", None)
    assert shown(3) == 3
