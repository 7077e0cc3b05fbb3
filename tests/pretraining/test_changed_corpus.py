"""A corpus that changed since a run began: it is noticed, the run stays as it was, and the advice harms nothing."""

from pathlib import Path

import pytest
from little_run import SMALL, TEXT, interrupted_at, made_by, planned, refusal, run_of

from plmlab import cli
from plmlab.pretraining import Plan, material

OTHER = TEXT.replace("garden", "market")


def files(folder: Path) -> dict[str, bytes]:
    """Every file in a folder, by its path."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture(params=["gpt2", "bert"])
def stopped(request, corpus: Path, tmp_path: Path, monkeypatch) -> list[str]:
    """The command of a run that was interrupted after 20 steps, but for its --out, which is tmp_path/made."""
    plain = [request.param, "--corpus", str(corpus), *SMALL, "--save-every", "10"]
    with monkeypatch.context() as patch:
        interrupted_at(20, patch)
        assert cli.main(["pretrain", *plain, "--out", str(tmp_path / "made")]) == 0
    return plain


def test_a_run_does_not_go_on_with_another_text(stopped: list[str], corpus: Path, tmp_path: Path, capsys) -> None:
    run = run_of(tmp_path / "made")
    corpus.write_text(OTHER, encoding="utf-8")
    before = files(run)
    for again in ([*stopped, "--out", str(tmp_path / "made")], ["--resume", str(run)]):
        told = refusal(capsys, *again)
        assert f"the corpus {corpus} has changed since" in told and str(run) in told
        assert "restore the old text" in told and "another --out, without --resume" in told
        assert files(run) == before and not (tmp_path / "made").exists()


def test_what_is_advised_helps(stopped: list[str], corpus: Path, tmp_path: Path) -> None:
    run = run_of(tmp_path / "made")
    corpus.write_text(OTHER, encoding="utf-8")
    other = made_by(*stopped, "--out", str(tmp_path / "other"))
    assert planned(run)["out"] == str(tmp_path / "made"), "the old run is there still"
    corpus.write_text(TEXT, encoding="utf-8")
    made = made_by(*stopped, "--out", str(tmp_path / "made"))
    assert made == made_by(*stopped, "--out", str(tmp_path / "straight")) != other


def test_the_same_texts_set_apart_otherwise_are_no_change(stopped: list[str], corpus: Path, tmp_path: Path) -> None:
    corpus.write_text(TEXT.replace("\n\n", "\n \n\n\n") + "\n", encoding="utf-8")
    made_by(*stopped, "--out", str(tmp_path / "made"))


def test_texts_cut_elsewhere_are_a_change() -> None:
    marks = {material.counted(texts)[1] for texts in (["ab", "c"], ["a", "bc"], ["abc"], ["ab", "", "c"], ["\ud800"])}
    assert len(marks) == 5


def test_of_tokens_that_no_model_has_read_nothing_is_kept(corpus: Path, tmp_path: Path) -> None:
    """Laid down by a process that was killed before the training."""
    plan, run = Plan("gpt2", str(corpus), str(tmp_path / "new"), time=8, vocab=330), tmp_path / "run"
    material.material(plan, run)
    corpus.write_text(OTHER, encoding="utf-8")
    anew = material.material(plan, run)
    straight = material.material(plan, tmp_path / "straight")
    assert files(run) == files(tmp_path / "straight")
    assert anew.batches(3).tokens.equal(straight.batches(3).tokens)
