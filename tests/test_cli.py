"""The command line, from outside and from inside."""

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from plmlab import cli, recipes
from plmlab.doctor import Finding
from plmlab.listing import listing, parameters
from plmlab.models.registry import ModelType

COUNTED: dict[tuple[str, str], str] = {}


@pytest.fixture(autouse=True)
def counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models are listed several times here; their parameters are counted once."""
    def once(kind: ModelType, preset: str) -> str:
        if (kind.name, preset) not in COUNTED:
            COUNTED[kind.name, preset] = parameters(kind, preset)
        return COUNTED[kind.name, preset]
    monkeypatch.setattr("plmlab.listing.parameters", once)


def test_doctor_prints_and_returns_its_status(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    for state, status in (("ok", 0), ("note", 0), ("stop", 1)):
        monkeypatch.setattr("plmlab.doctor.examine", lambda state=state: [Finding("torch", state, "seen", "do this")])
        assert cli.main(["doctor"]) == status
        assert "do this" in capsys.readouterr().out


def test_models_lists_names_sizes_and_papers(capsys) -> None:
    assert cli.main(["models"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line}
    assert "124.4" in lines["gpt2"] and "Radford" in lines["gpt2"]
    assert "109.5" in lines["bert"] and "Devlin" in lines["bert"]
    assert "2019" in lines["gpt2"] and "2018" in lines["gpt"]
    told = [line[42:] for name, line in lines.items() if name.startswith(("bert", "gpt", "transformer"))]
    assert len(told) == len(set(told)), "each says what it is in words of its own"


def test_the_columns_of_the_models_stand_under_their_names(capsys) -> None:
    assert cli.main(["models"]) == 0
    head, *rows = capsys.readouterr().out.split("\n\n")[0].splitlines()
    begins = [head.index(name) for name in ("pretrain as", "checkpoint", "what it is")]
    assert all(row[at - 2:at] == "  " and row[at] != " " for row in rows for at in begins)


def test_bundled_checkpoints_stand_beside_their_type(tmp_path: Path) -> None:
    def lines(*folder: Path) -> dict[str, str]:
        return {line.split()[0]: line for line in listing(*folder).splitlines() if line}
    for name, kind in (("one", "gpt2"), ("two", "gpt2"), ("three", "bert")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps({"model_type": kind}), encoding="utf-8")
    there, here = lines(tmp_path), lines()
    assert "one, two" in there["gpt2"] and "three" in there["bert"] and "–" in there["gpt"]
    assert "bert-world" in here["bert-pretraining"] and "gpt2-world" in here["gpt2"]


def test_an_unknown_recipe_is_one_line_on_stderr(capsys) -> None:
    assert cli.main(["recipe", "77"]) == 2
    told = capsys.readouterr()
    assert told.out == "" and told.err.count("\n") == 1 and "'77'" in told.err


def test_a_missing_package_is_told_without_a_traceback(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    def lacking() -> None:
        raise ModuleNotFoundError("No module named 'gensim'", name="gensim")
    monkeypatch.setattr("plmlab.doctor.examine", lacking)
    assert cli.main(["doctor"]) == 2
    told = capsys.readouterr().err
    assert "gensim" in told and "pip install" in told and "Traceback" not in told


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["pretrain", "gpt2", "--steps", "x"]])
def test_a_request_that_makes_no_sense_ends_with_status_2(arguments: list[str], capsys) -> None:
    with pytest.raises(SystemExit) as ending:
        cli.main(arguments)
    assert ending.value.code == 2
    assert "usage" in capsys.readouterr().err


@pytest.mark.parametrize(("command", "status"), [("recipe", 0), ("nonsense", 2)])
def test_python_can_be_told_to_run_the_package(command: str, status: int) -> None:
    told = subprocess.run([sys.executable, "-m", "plmlab", command], capture_output=True, text=True)
    assert told.returncode == status and "Traceback" not in told.stderr
    assert ("recipes: " in told.stdout) == (status == 0)
    assert ("invalid choice: 'nonsense'" in told.stderr) == (status == 2)


def test_the_installed_command_starts_quickly_without_torch() -> None:
    code = "import sys; from plmlab.cli import parser; parser(); print('torch' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"


@pytest.fixture
def recipe_08(monkeypatch: pytest.MonkeyPatch) -> None:
    """A recipe for chapter 08 that measures one number with three seeds."""
    fake = ModuleType("studies.ch08.recipe")
    fake.main = lambda parts: {"accuracy": recipes.seed_summary({1: 0.5, 2: 0.6, 3: 0.7})}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, fake.__name__, fake)
    monkeypatch.setattr(recipes, "chapters", lambda: ["08"])


@pytest.mark.usefixtures("recipe_08")
def test_a_recipe_records_numbers_with_where_and_when(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(recipes, "DATA", tmp_path)
    assert cli.main(["recipe", "08"]) == 0
    path = tmp_path / "results" / "08.json"
    assert str(path) in capsys.readouterr().out
    told = json.loads(path.read_text())
    accuracy = told["numbers"]["accuracy"]
    assert accuracy["mean"] == pytest.approx(0.6) and accuracy["deviation"] == pytest.approx(0.1)
    assert (accuracy["low"], accuracy["high"], accuracy["seeds"]) == (0.5, 0.7, [1, 2, 3])
    assert {"device", "date", "seconds", "versions"} <= set(told) and "torch" in told["versions"]
    assert recipes.recorded("08") == told


def test_what_was_not_recorded_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="plmlab recipe 08"):
        recipes.recorded("08", tmp_path)


def test_spread_of_one_seed_has_no_deviation_and_of_none_is_refused() -> None:
    assert recipes.seed_summary({5: 1.5})["deviation"] is None
    with pytest.raises(ValueError, match="at least one seed"):
        recipes.seed_summary({})
