"""The doctor, shown healthy machines and sick ones."""

import hashlib
import json
import shlex
import subprocess
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from plmlab import doctor
from plmlab.doctor import GIB, Finding, Gpu

NEEDS = ["torch>=2.6,<2.14", "rouge-score>=0.1.2", "pytest>=8; extra == 'test'", "winpty>=2; sys_platform == 'nowhere'"]


def test_python_at_the_limit() -> None:
    assert doctor.python((3, 11, 0)).state == "ok"
    assert doctor.python((4, 0, 0)).state == "ok"
    old = doctor.python((3, 10, 14))
    assert old.state == "stop" and "3.10.14" in old.message and "3.11" in old.message and "make lab" in old.advice


@pytest.mark.parametrize(("installed", "tested", "state", "said"), [
    ("2.13.0", "2.13.0", "ok", "as tested"),
    ("2.13.0+cpu", "2.13.0", "ok", "as tested"),
    ("2.12.1", "2.13.0", "note", "tested with 2.13.0"),
    ("2.7.0rc1", "2.13.0", "note", "2.7.0rc1"),
    ("2.14.0", "2.13.0", "stop", "the course needs"),
    ("2.5.1", None, "stop", "the course needs"),
    ("2.13.0", None, "note", "no tested version"),
    (None, "2.13.0", "stop", "not installed"),
])
def test_package(installed: str | None, tested: str | None, state: str, said: str) -> None:
    found = doctor.package(Requirement("torch>=2.6,<2.14"), tested, installed)
    assert found.state == state and said in found.message
    assert bool(found.advice) == (state == "stop" or "tested with" in found.message)


def test_packages_leaves_out_extras_and_other_platforms() -> None:
    here = {"torch": "2.13.0", "rouge-score": "0.1.2"}
    found = doctor.packages(NEEDS, {"torch": "2.13.0", "rouge-score": "0.1.2"}, here.get)
    assert [(f.subject, f.state) for f in found] == [("torch", "ok"), ("rouge-score", "ok")]


def test_a_missing_package_stops_the_course() -> None:
    text, status = doctor.report(doctor.packages(NEEDS, {}, {"rouge-score": "0.1.2"}.get))
    assert status == 1
    assert "torch" in text and "not installed" in text and "pip install" in text and "can't run" in text


def test_constraints_are_read_whatever_way_names_are_written(tmp_path: Path) -> None:
    file = tmp_path / "constraints.txt"
    file.write_text("# tested\nrouge_score==0.1.2  # a note\n\nJinja2==3.1.6\n")
    assert doctor.tested_versions(file) == {"rouge-score": "0.1.2", "jinja2": "3.1.6"}
    assert doctor.tested_versions(tmp_path / "none.txt") == {}


def test_device() -> None:
    assert doctor.device(None).state == "ok" and "CPU" in doctor.device(None).message
    good = doctor.device(Gpu("H200", 140 * GIB, True))
    assert good.state == "ok" and "H200" in good.message and "140 GiB" in good.message and "bf16" in good.message
    old = doctor.device(Gpu("GTX 1080", 8 * GIB, False))
    assert old.state == "note" and "float32" in old.message


def test_a_torch_that_does_not_load_stops_the_course(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise OSError("libgomp.so.1: cannot open shared object file")
    monkeypatch.setattr(doctor, "find_gpu", broken)
    found = doctor.find_device()
    assert found.state == "stop" and "libgomp" in found.message and found.advice


def test_threads_memory_and_disk() -> None:
    assert doctor.threads(1).state == "note" and doctor.threads(2).state == "ok"
    assert doctor.memory(16 * GIB, 8 * GIB).state == "ok"
    assert doctor.memory(16 * GIB, GIB).state == "note"
    assert doctor.memory(GIB, GIB // 2).state == "stop"
    assert doctor.disk(10 * GIB, writable=True).state == "ok"
    assert doctor.disk(GIB // 8, writable=True).state == "note"
    assert "read-only" in doctor.disk(10 * GIB, writable=False).message


def test_shipped_files_are_known_by_their_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = hashlib.sha256(b"a text").hexdigest()
    monkeypatch.setattr(doctor, "SHIPPED", (("sample", "corpus", "inside.txt", good),))
    assert doctor.shipped(lambda name: None)[0].state == "stop"
    assert doctor.shipped(lambda name: tmp_path)[0].state == "stop"
    (tmp_path / "inside.txt").write_bytes(b"a text")
    assert doctor.shipped(lambda name: tmp_path)[0].state == "ok"
    (tmp_path / "inside.txt").write_bytes(b"A text")
    changed = doctor.shipped(lambda name: tmp_path)[0]
    assert changed.state == "note" and changed.advice


def test_the_files_that_packages_bring_are_those_that_were_tested() -> None:
    assert [f.state for f in doctor.shipped(doctor.find_package)] == ["ok", "ok"]


def test_checkpoints() -> None:
    none, = doctor.checkpoints({})
    assert none.state == "note"
    good, bad = doctor.checkpoints({"gpt": [], "bert": ["model.safetensors has another hash"]})
    assert (good.state, bad.state) == ("ok", "note")
    assert "bert" in bad.subject and "another hash" in bad.message and bad.advice == doctor.RESTORE


def test_the_advice_for_a_changed_checkpoint_keeps_what_is_replaced(tmp_path: Path) -> None:
    def run(command: str) -> str:
        return subprocess.run(shlex.split(command), cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    changed, other = (tmp_path / name for name in ("data/checkpoints/index.json", "notes.txt"))
    changed.parent.mkdir(parents=True)
    changed.write_text("ours")
    other.write_text("ours")
    run("git init -q")
    run("git add .")
    run("git -c user.name=a -c user.email=a@b commit -qm a")
    changed.write_text("mine")
    other.write_text("mine")
    run(doctor.RESTORE.partition(" restores")[0])
    assert (changed.read_text(), other.read_text()) == ("ours", "mine")
    assert run("git show stash@{0}:data/checkpoints/index.json") == "mine"


def test_a_changed_checkpoint_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plmlab.checkpoints.DATA", tmp_path)
    folder = tmp_path / "checkpoints" / "gpt"
    folder.mkdir(parents=True)
    (folder / "config.json").write_bytes(b"{}")
    index = folder.parent / "index.json"
    index.write_text(json.dumps({"gpt": {"config.json": hashlib.sha256(b"{}").hexdigest()}}))
    assert [f.state for f in doctor.find_checkpoints()] == ["ok"]
    (folder / "config.json").write_bytes(b"{ }")
    assert [f.state for f in doctor.find_checkpoints()] == ["note"]
    index.write_text("{")
    broken, = doctor.find_checkpoints()
    assert broken.state == "note" and "index" in broken.message


def test_widgets_need_their_front_ends(tmp_path: Path) -> None:
    lost = doctor.widgets(tmp_path)
    assert lost.state == "stop" and "anywidget" in lost.message and "manager" in lost.message
    for name in ("anywidget", "@jupyter-widgets/jupyterlab-manager"):
        (tmp_path / "share" / "jupyter" / "labextensions" / name).mkdir(parents=True)
    assert doctor.widgets(tmp_path).state == "ok"


def test_browser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert doctor.browser(None).state == "note" and doctor.browser("/usr/bin/chromium").state == "ok"
    monkeypatch.setattr(doctor, "BROWSER_FILES", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    assert doctor.find_browser() is None
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert doctor.find_browser() == str(program)


def test_the_report_has_a_line_for_each_finding_and_a_verdict() -> None:
    text, status = doctor.report([Finding("Python", "ok", "3.11.7"), Finding("browser", "note", "none", "install it")])
    assert status == 0
    assert text.splitlines()[:2] == ["ok    Python                 3.11.7",
                                     "note  browser                none  -> install it"]
    assert text.splitlines()[-1] == "The course can run. Notes: 1."


def test_this_machine_can_run_the_course() -> None:
    findings = doctor.examine()
    assert not [str(f) for f in findings if f.state == "stop"]
    subjects = {f.subject for f in findings}
    assert {"Python", "torch", "device", "threads", "memory", "disk", "browser", "jupyterlab"} <= subjects
