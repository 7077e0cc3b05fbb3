"""A plan: what it refuses, its command line, and what a run that goes on may be told anew."""

import shlex
from pathlib import Path

import pytest
from little_run import SMALL, TEXT, interrupted_at, made_by, planned, refusal, run_of, weights

from plmlab import cli
from plmlab.pretraining import Plan


def test_requests_that_cannot_be_met(corpus: Path, tmp_path: Path, capsys) -> None:
    to = ["--out", str(tmp_path / "new")]
    text = ["--corpus", str(corpus)]
    assert "word2bert" in refusal(capsys, "word2bert", *text, *to)
    assert "nowhere.txt" in refusal(capsys, "gpt", "--corpus", str(tmp_path / "nowhere.txt"), *to)
    for option, value, told in (
            ("steps", "0", "--steps is 0"), ("save-every", "0", "--save-every is 0"), ("heads", "3", "3 heads"),
            ("vocab", "10", "at least"), ("time", "100000", "window"), ("time", "3", "at least 4 tokens"),
            ("lr", "0", "--lr is 0"), ("lr", "nan", "--lr is nan"), ("lr", "inf", "--lr is inf"),
            ("seed", "-1", "--seed is -1"), ("seed", str(2**64), "--seed"), ("held-out", "1", "--held-out is 1"),
            ("precision", "half", "auto, float32, bf16"), ("compile", "maybe", "auto, yes, no")):
        assert told in refusal(capsys, "gpt", *text, *to, f"--{option}", value)
    for name, choose in (("bert", "rate=0.9"), ("bert", "rate"), ("bert", "rate=many"), ("bert", "span=3")):
        told = refusal(capsys, name, *text, *to, "--choose", choose)
        assert f"--choose is '{choose}'; the objective of {name} has the parameters rate=0.05 … 0.6" in told
    assert "the objective of gpt has no parameters" in refusal(capsys, "gpt", *text, *to, "--choose", "rate=0.2")
    assert not list(tmp_path.glob("new*")), "what is refused leaves nothing behind"
    assert "needs --corpus, --out" in refusal(capsys, "gpt2")


def test_a_folder_with_something_in_it_is_never_replaced(corpus: Path, tmp_path: Path, capsys) -> None:
    assert "is not overwritten; give another" in refusal(capsys, "gpt", "--corpus", str(corpus), "--out", str(tmp_path))
    assert "remove" not in refusal(capsys, "gpt", "--corpus", str(corpus), "--out", str(tmp_path))
    assert corpus.read_text(encoding="utf-8") == TEXT


def test_the_command_of_a_plan_is_that_plan() -> None:
    plan = Plan("bert", "my file.txt", "out/bert small", steps=7, lr=3e-4, save_every=9, held_out=0.2,
                choose="rate=0.3")
    assert plan.choices == {"rate": 0.3}
    asked = cli.parser().parse_args(shlex.split(plan.command)[1:])
    assert Plan(**{name: value for name, value in vars(asked).items() if name != "run"}) == plan


def test_the_help_tells_the_defaults_of_a_plan() -> None:
    plan = Plan("gpt", "a.txt", "out")
    for name, kind, told in cli.PRETRAIN:
        default = getattr(plan, name.replace("-", "_"))
        assert type(default) is kind
        assert str(default) in told if kind is str else f"({default})" in told or f"({default:g})" in told


@pytest.fixture
def stopped(corpus: Path, tmp_path: Path, monkeypatch) -> Path:
    """The folder of a run of 30 steps, interrupted after 20."""
    with monkeypatch.context() as patch:
        interrupted_at(20, patch)
        assert cli.main(["pretrain", "gpt2", "--corpus", str(corpus), *SMALL, "--save-every", "10", "--out",
                         str(tmp_path / "planned")]) == 0
    return run_of(tmp_path / "planned")


def straight(corpus: Path, out: Path) -> bytes:
    """The weights that the run of 30 steps has when nobody interrupts it."""
    return made_by("gpt2", "--corpus", str(corpus), *SMALL, "--save-every", "10", "--out", str(out))


def test_a_resumed_run_ends_as_if_it_had_not_been_interrupted(stopped: Path, corpus: Path, tmp_path: Path) -> None:
    assert cli.main(["pretrain", "--resume", str(stopped)]) == 0
    assert weights(tmp_path / "planned") == straight(corpus, tmp_path / "straight")
    assert not stopped.exists()


def test_it_may_be_told_what_it_was_told_before(stopped: Path, corpus: Path, tmp_path: Path) -> None:
    assert cli.main(["pretrain", "gpt2", "--resume", str(stopped), "--corpus", str(corpus), *SMALL]) == 0
    assert weights(tmp_path / "planned") == straight(corpus, tmp_path / "straight")


def test_it_goes_to_another_folder_where_the_planned_one_is_taken(stopped: Path, corpus: Path, tmp_path: Path,
                                                                  capsys) -> None:
    (tmp_path / "planned").mkdir()
    (tmp_path / "planned" / "letter.txt").write_text("mine", encoding="utf-8")
    assert "already exists" in refusal(capsys, "--resume", str(stopped))
    made = made_by("--resume", str(stopped), "--out", str(tmp_path / "elsewhere"))
    assert made == straight(corpus, tmp_path / "straight")
    assert [file.name for file in (tmp_path / "planned").iterdir()] == ["letter.txt"]
    assert "--out " + str(tmp_path / "elsewhere") in (tmp_path / "elsewhere" / "README.md").read_text(encoding="utf-8")


def test_it_goes_on_for_more_steps_and_its_folder_holds_the_new_plan(stopped: Path, tmp_path: Path, monkeypatch,
                                                                     capsys) -> None:
    longer = ["pretrain", "--resume", str(stopped), "--steps", "50", "--out", str(tmp_path / "longer")]
    with monkeypatch.context() as patch:
        interrupted_at(40, patch)
        assert cli.main(longer) == 0
    assert "after step 40 of 50" in capsys.readouterr().out
    assert planned(stopped) == planned(stopped) | {"steps": 50, "out": str(tmp_path / "longer"), "save_every": 10}
    assert cli.main(["pretrain", "--resume", str(stopped)]) == 0
    readme = (tmp_path / "longer" / "README.md").read_text(encoding="utf-8")
    assert "| steps | 50 |" in readme and "--steps 50" in readme
    assert not stopped.exists() and not (tmp_path / "planned").exists()


def test_the_first_command_no_longer_goes_on_with_a_run_that_was_told_anew(stopped: Path, corpus: Path, tmp_path: Path,
                                                                           monkeypatch, capsys) -> None:
    with monkeypatch.context() as patch:
        interrupted_at(25, patch)
        assert cli.main(["pretrain", "--resume", str(stopped), "--steps", "50"]) == 0
    capsys.readouterr()
    told = refusal(capsys, "gpt2", "--corpus", str(corpus), *SMALL, "--save-every", "10", "--out",
                   str(tmp_path / "planned"))
    assert f"plmlab pretrain --resume {stopped}" in told
    assert planned(stopped)["steps"] == 50


def test_what_would_make_it_another_run_is_refused(stopped: Path, capsys) -> None:
    before = planned(stopped)
    told = refusal(capsys, "--resume", str(stopped), "--lr", "0.5", "--width", "32", "--save-every", "3")
    for phrase in ("--lr was 0.02, and is now 0.5", "--width was 16, and is now 32",
                   "--save-every was 10, and is now 3", "Only --steps, --out may change"):
        assert phrase in told
    assert "MODEL was gpt2, and is now bert" in refusal(capsys, "bert", "--resume", str(stopped))
    told = refusal(capsys, "--resume", str(stopped), "--steps", "29")
    assert "--steps is 29" in told and "planned for 30" in told
    assert planned(stopped) == before and list(stopped.glob("step-*")), "a refusal changes nothing"


def test_a_folder_without_a_run_is_refused(tmp_path: Path, capsys) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        assert f"{folder} contains neither an interrupted run" in refusal(capsys, "--resume", str(folder))
    unknown = '{"model": "gpt", "corpus": "a.txt", "out": "b", "sleep": 1}'
    for wrong in ("", "[]", "{}", '{"steps": 3}', unknown, "\xff"):
        (tmp_path / "plan.json").write_text(wrong, encoding="latin-1")
        assert "contains neither an interrupted run" in refusal(capsys, "--resume", str(tmp_path))
    assert [file.name for file in tmp_path.iterdir()] == ["plan.json"]
