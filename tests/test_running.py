"""How the tests are run: parts and counts, slow tests by name, other kernels, and the workflow on other systems."""

import os
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import kernels
import pytest
import run
import yaml
from durations import too_slow

from plmlab.paths import ROOT

WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))


class Done(NamedTuple):
    returncode: int


def report(test: str, when: str, seconds: float) -> pytest.TestReport:
    return pytest.TestReport(test, (test.partition(":")[0], 0, test), {}, "passed", None, when, duration=seconds)


def test_a_slow_test_is_named_with_what_was_made_for_it() -> None:
    reports = [report("tests/test_a.py::test_one", "setup", 3.5), report("tests/test_a.py::test_two", "call", 4.5),
               report("tests/test_a.py::test_one", "call", 2), report("tests/test_a.py::test_three", "call", 9),
               report("notebooks/00_start_here.ipynb::Cell 0", "call", 60)]
    assert too_slow(reports) == [("tests/test_a.py::test_three", 9), ("tests/test_a.py::test_one", 5.5)]


def test_failures_errors_and_skips_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "report.xml"
    file.write_text('<testsuites><testsuite tests="9" failures="2" errors="1" skipped="3"/></testsuites>')
    assert run.tally(file, 1) == Counter(failed=2, passed=3, skipped=3, errors=1)
    file.write_text('<testsuites><testsuite tests="4"/></testsuites>')
    assert run.tally(file, 3)["errors"] == 1, "pytest itself broke down"
    assert run.tally(tmp_path / "none.xml", run.NO_TESTS) == Counter()


def test_a_part_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main(["unit"]) == 2
    assert "units" in capsys.readouterr().err


def test_the_other_kernels_are_asked_for_in_words_that_the_libraries_know(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(subprocess, "run", lambda command, env, **_: seen.append((command, env)) or Done(len(seen) - 1))
    assert kernels.main(["units"]) == 1, "the second round fails"
    assert [command[1:] for command, _ in seen] == [["tests/run.py", "units"]] * 2
    assert [env["OMP_NUM_THREADS"] for _, env in seen] == ["1", "2"]
    assert seen[0][1]["ATEN_CPU_CAPABILITY"] == "default" and "MKL_CBWR" not in {*seen[1][1]} - {*os.environ}


def test_the_workflow_runs_what_a_person_runs() -> None:
    jobs = WORKFLOW["jobs"]
    whole, core = ([step["run"] for step in jobs[name]["steps"] if "run" in step] for name in ("whole", "core"))
    assert whole == ["bash .ci/run"] and jobs["whole"]["runs-on"] == "ubuntu-latest"
    assert jobs["core"]["strategy"]["matrix"]["os"] == ["macos-latest", "windows-latest"]
    assert core[:2] == ['python -m pip install -c constraints.txt -e ".[test]"', "plmlab doctor"]
    parts = re.fullmatch(r"python tests/run.py (.+)", core[2])
    assert parts and {*parts[1].split()} <= {*run.COMMANDS}
    folders = [word for word in run.COMMANDS["core"] if word.startswith("tests/")]
    assert folders and all((ROOT / folder).is_dir() for folder in folders)
