"""Every bundled checkpoint is verified, and its stamp changes with all that its figures depend on, and only with it."""

from pathlib import Path

import pytest
import stamps
from stamps import code, needed, paths, stamp

from plmlab.chapters.ch04.bundled import BUNDLED
from plmlab.checkpoints import names
from plmlab.paths import ROOT

HERE = Path(__file__).parent
CHEAP = {*BUNDLED, "skipgram-wikipedia"}
"""Whose every figure is computed in each run."""


def test_each_checkpoint_is_verified(pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("--bundled", False):
        pytest.skip("this run verifies them")
    assert {*names()} == {*stamps.verified()} | CHEAP, stamps.HOW


def test_a_figure_depends_on_the_model_its_layers_and_the_world() -> None:
    found = {path.relative_to(ROOT).as_posix() for path in needed([HERE / "test_bundled_language_models.py",
                                                                   *paths(["plmlab.models.bert"])])}
    assert {"tests/bundled/test_bundled_language_models.py", "plmlab/models/bert.py", "plmlab/layers/attention.py",
            "plmlab/objectives/masked.py", "plmlab/world/__init__.py", "plmlab/models/__init__.py"} <= found
    assert not [name for name in found if "labs" in name or "chapters" in name]


def test_comments_and_docstrings_count_for_nothing(tmp_path: Path) -> None:
    def written(text: str) -> Path:
        path = tmp_path / f"{len([*tmp_path.iterdir()])}.py"
        path.write_text(text)
        return path

    plain = "SIZE = 3\ndef f(x):\n    return x + '''\n# text'''\n"
    told = ('"""A file."""\n\nSIZE = 3\n"""A number."""\n# a comment\ndef f(x):\n    """It\n    adds."""\n'
            "    return x + '''\n# text'''\n")
    assert code(written(told)) == code(written(plain))
    for old, new in (("3", "4"), ("# text", "# word"), ("x +", "x -")):
        assert code(written(plain.replace(old, new))) != code(written(plain))


def test_other_weights_tables_or_code_give_another_stamp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, test = "bert-world", tmp_path / "test_figures.py"
    test.write_text("from plmlab.objectives import masked\nLIMIT = 3\n")
    before = stamp(name, test)
    assert stamp(name, test) == before
    assert stamp("gpt2-world", test) != before
    other = tmp_path / "test_other.py"
    other.write_text(test.read_text().replace("3", "4"))
    assert stamp(name, other) != before
    monkeypatch.setattr(stamps, "DATA", tmp_path)
    assert stamp(name, test) != before
