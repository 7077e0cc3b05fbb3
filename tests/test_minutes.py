"""How long a chapter takes: what is counted, what is folded or deeper, and that chapters state what is true."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from plmlab import cli
from plmlab.course import notebooks
from plmlab.minutes import EXERCISE, FIGURE, LAB, core, sections, whole

STATED = re.compile(r"\*\*Core: (\d+) minutes\. Whole: (\d+)\.\*\*")


def prose(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": text, "metadata": {}}


def code(text: str, *outputs: str, folded: bool = False) -> dict[str, Any]:
    return {"cell_type": "code", "source": text, "metadata": {"jupyter": {"source_hidden": True}} if folded else {},
            "outputs": [{"data": {kind: "x"}} for kind in outputs]}


def told(tmp_path: Path, *cells: dict[str, Any]):
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    return sections(path)


def test_words_lines_figures_labs_and_exercises_are_counted(tmp_path: Path) -> None:
    one, = told(tmp_path, prose("# A title (题目)\n\n" + "word " * 359 + "$x_1 + y$"),
                code("import torch\n\na = 1\nb = 2\nc = 3\nd = 4\n"),
                code("figure.show()", "application/vnd.plotly.v1+json"),
                code("MaskLab(words)", "image/png"), code("def f():\n    raise\n\n\ncheck('06.1', f)"),
                code("# hint('06.1')"), code("solution('06.1')"))
    assert one.title == "A title (题目)"
    assert (one.words, one.lines, one.figures, one.labs, one.exercises) == (360, 6, 1, 1, 1)
    assert one.core == one.whole == 2 + 1.5 + FIGURE + LAB + EXERCISE


def test_what_is_folded_or_deeper_is_off_the_core(tmp_path: Path) -> None:
    some = told(tmp_path, prose("# T\n" + "word " * 180), code("a\nb\nc\nd", folded=True),
                prose("## Deep *deeper*\n" + "word " * 180 + "\n### Below\n" + "word " * 180),
                prose("## Next\n" + "word " * 180))
    assert [section.title for section in some] == ["T", "Deep", "Below", "Next"]
    assert [section.deeper for section in some] == [False, True, True, False]
    assert (core(some), whole(some)) == (2, 5)


def test_a_deeper_subsection_ends_with_the_next_heading_of_its_rank(tmp_path: Path) -> None:
    some = told(tmp_path, prose("## A\n### B *deeper*\n### C\n## D *deeper*\n### E\n## F"))
    assert [section.title for section in some if section.deeper] == ["B", "D", "E"]


@pytest.mark.parametrize("number", notebooks())
def test_a_chapter_states_its_minutes_truly(number: str) -> None:
    path = notebooks()[number]
    stated = STATED.search("".join(json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"]))
    if stated is None:
        pytest.skip("its minutes are not stated yet")
    assert core(sections(path)) == pytest.approx(int(stated[1]), abs=3)
    assert whole(sections(path)) == pytest.approx(int(stated[2]), abs=10)
    assert int(stated[1]) <= (20 if number == "00" else 45)


def test_the_command_tells_the_minutes(capsys) -> None:
    assert cli.main(["minutes"]) == 0
    assert capsys.readouterr().out.count("minutes") == len(notebooks())
    assert cli.main(["minutes", "06"]) == 0
    assert "total" in capsys.readouterr().out
    assert cli.main(["minutes", "99"]) == 2
    assert "there is no chapter '99' yet; choose one of 00" in capsys.readouterr().err
