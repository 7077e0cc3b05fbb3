"""The ways to install the course say the same: pyproject.toml, environment.yml, constraints.txt, README."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from plmlab import doctor
from plmlab.course import CHAPTERS
from plmlab.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAMED_BY_CONDA = {"pytorch": "torch"}


def ranges(requirements: list[str]) -> dict[str, str]:
    """Package, as the index names it → range."""
    parsed = [Requirement(r) for r in requirements]
    return {NAMED_BY_CONDA.get(r.name, canonicalize_name(r.name)): str(r.specifier) for r in parsed}


def readme() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8")


def test_conda_installs_the_same_packages_in_the_same_ranges() -> None:
    listed = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    by_conda = [entry for entry in listed if isinstance(entry, str)]
    by_pip = next(entry["pip"] for entry in listed if isinstance(entry, dict))
    assert "-e ." in by_pip
    found = ranges([*by_conda, *(entry for entry in by_pip if entry != "-e .")])
    assert found.pop("python") == PROJECT["requires-python"]
    assert found.pop("pip") == ""
    assert found == ranges(PROJECT["dependencies"])


def test_the_tested_versions_lie_in_the_ranges() -> None:
    tested = doctor.tested_versions(ROOT / "constraints.txt")
    asked = [*PROJECT["dependencies"], *(r for extra in PROJECT["optional-dependencies"].values() for r in extra)]
    for requirement in map(Requirement, asked):
        assert requirement.specifier.contains(tested[canonicalize_name(requirement.name)]), requirement


def test_constraints_pin_versions_that_any_index_has() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    for line in lines:
        assert line.startswith("#") or re.fullmatch(r"[\w.-]+==[\w.]+", line), line
    assert "torch==2.13.0" in lines


def test_everyone_asks_for_the_same_python() -> None:
    oldest = ".".join(map(str, doctor.OLDEST_PYTHON))
    assert PROJECT["requires-python"] == f">={oldest}"
    assert f"sys.version_info < ({oldest.replace('.', ', ')})" in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"Python {oldest}" in readme()


def dry(*words: str, folder: Path = ROOT) -> str:
    """What make would do."""
    command = ["make", "--no-print-directory", "-n", "-B", *words]
    told = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return told.stdout


def test_the_lab_listens_on_this_machine_only_and_keeps_its_token() -> None:
    command = next(line for line in dry("lab").splitlines() if "jupyter lab" in line)
    assert "--ServerApp.ip=127.0.0.1" in command
    for word in ("token", "password", "0.0.0.0", "disable_check_xsrf", "no-browser"):
        assert word not in command


def test_all_but_the_oldest_jupyterlab_is_installed_under_the_constraints() -> None:
    installs = [line for line in dry("test").splitlines() if "pip install" in line]
    assert len(installs) == 2
    assert "-c constraints.txt -e" in installs[0]
    assert re.search(r" --no-deps --target \.venv/jupyterlab-4\.3 jupyterlab==4\.3\.\d+$", installs[1])


def test_make_works_where_no_notebook_is_yet(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    assert dry("lab", folder=tmp_path).splitlines()[-1].endswith(" .")
    (tmp_path / "notebooks").mkdir()
    assert dry("lab", folder=tmp_path).splitlines()[-1].endswith(" notebooks")
    (tmp_path / "notebooks" / "00_start_here.ipynb").touch()
    assert dry("lab", folder=tmp_path).splitlines()[-1].endswith(" notebooks/00_start_here.ipynb")


@pytest.mark.parametrize(("says", "exits", "told"), [
    ("Python 3.10.1", "exit 1", "needs Python 3.11 or newer; '{}' is: Python 3.10.1"),
    ("Python 3.12.1", '[ "$1" = -c ]', "sudo apt install python3-venv"),
])
def test_make_says_what_is_wrong_with_a_python(tmp_path: Path, says: str, exits: str, told: str) -> None:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    fake = tmp_path / "somepython"
    fake.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "{says}" && exit 0\n{exits}\n')
    fake.chmod(0o755)
    run = subprocess.run(["make", "lab", f"PYTHON={fake}"], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode != 0 and told.format(fake) in run.stdout
    assert not (tmp_path / ".venv").exists()


def test_the_readme_gives_the_commands_of_the_files() -> None:
    for command in ("make lab", "make test", "conda env create -f environment.yml", "conda activate plmlab",
                    r".venv\Scripts\python -m pip install -c constraints.txt -e .",
                    r".venv\Scripts\jupyter lab --ServerApp.ip=127.0.0.1 notebooks\00_start_here.ipynb",
                    "plmlab doctor"):
        assert command in readme(), command


def test_the_readme_tells_of_each_chapter_what_stands() -> None:
    rows = re.findall(r"^\| (\d\d[a-z]?) \| (.+?) \| (.+?) \| (.+?) \|$", readme(), flags=re.MULTILINE)
    assert [key for key, *_ in rows] == [chapter.key for chapter in CHAPTERS]
    for chapter, (_, title, question, status) in zip(CHAPTERS, rows, strict=True):
        assert title.startswith((chapter.title, f"[{chapter.title}](notebooks/{chapter.file})"))
        assert question.startswith(chapter.question), chapter.file
        assert (status == "here") == chapter.written(), chapter.file


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "data/README.md", "benchmarks/README.md"])
def test_links_between_files_lead_somewhere(name: str) -> None:
    file = ROOT / name
    for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", file.read_text(encoding="utf-8")):
        assert (file.parent / target).exists(), f"{name} links to {target}"


def test_ci_runs_what_a_person_runs() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text(encoding="utf-8")
