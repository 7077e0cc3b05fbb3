"""A finished checkpoint trained longer: from the state that it keeps, or from its weights alone."""

from pathlib import Path

import pytest
import torch
from little_run import SMALL, TEXT, interrupted_at, made_by, refusal, run_of, weights
from torch.testing import assert_close

from plmlab import cli
from plmlab.checkpoints import load
from plmlab.models.gpt import GPT2
from plmlab.pretraining import Plan
from plmlab.pretraining.material import material
from plmlab.pretraining.plan import STATE, commanded
from plmlab.pretraining.run import build
from plmlab.train import fit

PLAIN = [*SMALL, "--save-every", "10"]


@pytest.fixture
def made(corpus: Path, tmp_path: Path) -> Path:
    """A finished checkpoint of 30 steps."""
    made_by("gpt2", "--corpus", str(corpus), *PLAIN, "--out", str(tmp_path / "made"))
    return tmp_path / "made"


def readme(folder: Path) -> str:
    return (folder / "README.md").read_text(encoding="utf-8")


def without_state(checkpoint: Path) -> Path:
    """As a checkpoint was saved before its state was kept."""
    for name in (*STATE, "corpus.sha256"):
        (checkpoint / name).unlink()
    return checkpoint


def trained(model: GPT2, read, steps: int, **more) -> GPT2:
    fit(model, read.batches, steps=steps, lr=0.02, warmup=steps // 10, show=False, **more)
    return model


def test_it_goes_on_from_the_state_that_it_keeps(made: Path, corpus: Path, tmp_path: Path, capsys) -> None:
    before = {file.name: file.read_bytes() for file in made.iterdir()}
    assert cli.main(["pretrain", "--resume", str(made), "--steps", "50"]) == 0
    longer, tokenizer = load(tmp_path / "made-50", expect="gpt2")
    assert "the checkpoint is in " + str(tmp_path / "made-50") in capsys.readouterr().out
    assert "| steps | 50 |" in readme(tmp_path / "made-50") and f"--resume {made}" in readme(tmp_path / "made-50")
    assert {file.name: file.read_bytes() for file in made.iterdir()} == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["little.txt", "made", "made-50"]

    plan = Plan("gpt2", str(corpus), "nowhere", batch=8, time=8, vocab=330, layers=1, width=16, heads=2)
    read = material(plan, tmp_path / "by hand")
    torch.manual_seed(0)
    by_hand = trained(build(plan, len(read.tokenizer)), read, 30, save_to=tmp_path / "states", evaluate_every=10,
                      evaluate=read.held_out)
    trained(by_hand, read, 50, save_to=tmp_path / "states", evaluate_every=10, resume="longer", evaluate=read.held_out)
    for name, weight in by_hand.state_dict().items():
        assert_close(longer.state_dict()[name], weight, rtol=0, atol=1e-6)
    assert tokenizer.fingerprint == read.tokenizer.fingerprint


def test_longer_twice_and_interrupted(made: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    again = ["--resume", str(made), "--steps", "50", "--out", str(tmp_path / "b")]
    with monkeypatch.context() as patch:
        interrupted_at(40, patch)
        assert cli.main(["pretrain", *again]) == 0
    assert "after step 40 of 50" in capsys.readouterr().out and run_of(tmp_path / "b").exists()
    assert made_by(*again) == made_by("--resume", str(made), "--steps", "50", "--out", str(tmp_path / "straight"))
    assert made_by(*commanded_again(tmp_path / "b"), "--out", str(tmp_path / "c")) == weights(tmp_path / "b")
    made_by("--resume", str(tmp_path / "b"), "--steps", "55", "--out", str(tmp_path / "last"))
    assert "| steps | 55 |" in readme(tmp_path / "last") and f"--resume {tmp_path / 'b'}" in readme(tmp_path / "last")


def commanded_again(checkpoint: Path) -> list[str]:
    """The words of the command in a README, but for its --out."""
    words = next(line for line in readme(checkpoint).splitlines() if line.startswith("plmlab pretrain")).split()[2:]
    at = words.index("--out")
    return words[:at] + words[at + 2:]


def test_what_would_not_be_the_same_training_is_refused(made: Path, corpus: Path, tmp_path: Path, capsys) -> None:
    for steps in ([], ["--steps", "30"], ["--steps", "12"]):
        told = refusal(capsys, "--resume", str(made), *steps)
        assert f"the 30 steps of {made} are done" in told and "--steps 60" in told
    told = refusal(capsys, "--resume", str(made), "--steps", "50", "--lr", "0.5")
    assert "--lr was 0.02, and is now 0.5" in told
    corpus.write_text(TEXT.replace("moon", "sun"), encoding="utf-8")
    told = refusal(capsys, "--resume", str(made), "--steps", "50")
    assert f"the corpus {corpus} has changed since {made} was trained on it" in told
    (tmp_path / "made-50").mkdir()
    (tmp_path / "made-50" / "letter.txt").write_text("mine", encoding="utf-8")
    assert "already exists" in refusal(capsys, "--resume", str(made), "--steps", "50")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["little.txt", "made", "made-50"]


@pytest.mark.parametrize("name", ["gpt2", "bert", "skip-gram"])
def test_from_weights_alone_the_optimiser_starts_anew(name: str, corpus: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    made_by(name, "--corpus", str(corpus), *PLAIN, "--out", str(made))
    old, tokenizer = load(without_state(made))
    with pytest.warns(UserWarning, match=f"{made} contains weights without .*: the optimizer .* --steps 1 "):
        assert cli.main(["pretrain", "--resume", str(made), "--steps", "1", "--lr", "1e-6", "--precision",
                         "float32"]) == 0
    new, again = load(tmp_path / "made-1")
    for weight, before in zip(new.parameters(), old.parameters(), strict=True):
        assert_close(weight, before, rtol=0, atol=3e-6)
    assert any(not torch.equal(*pair) for pair in zip(new.parameters(), old.parameters(), strict=True))
    assert again.fingerprint == tokenizer.fingerprint and "| steps | 1 |" in readme(tmp_path / "made-1")


def test_from_weights_alone_another_text_may_be_read(made: Path, tmp_path: Path, monkeypatch, recwarn) -> None:
    other = tmp_path / "other.txt"
    other.write_text(TEXT.replace("moon", "sun"), encoding="utf-8")
    again = ["--resume", str(without_state(made)), "--corpus", str(other), "--steps", "20", "--save-every", "5"]
    with monkeypatch.context() as patch:
        interrupted_at(10, patch)
        assert cli.main(["pretrain", *again]) == 0
    broken = made_by(*again, "--out", str(tmp_path / "made-20"))
    assert broken == made_by(*again, "--out", str(tmp_path / "straight"))
    for word in ("moon", "sun"):
        assert load(made)[1].encode(word) == load(tmp_path / "straight")[1].encode(word)


def test_weights_of_another_size_are_refused(made: Path, tmp_path: Path, capsys) -> None:
    told = refusal(capsys, "--resume", str(without_state(made)), "--steps", "5", "--width", "32")
    assert "these weights do not match the model" in told
    assert sorted(file.name for file in tmp_path.iterdir()) == ["little.txt", "made"]


def test_a_checkpoint_that_names_no_command_is_refused(made: Path, capsys) -> None:
    for command in ("python -m plmlab.chapters.ch04.bundled", "plmlab pretrain gpt2 --corpus a", "plmlab pretrain",
                    "plmlab pretrain gpt2 --corpus a --out b --sleep 3", "plmlab pretrain gpt2 --corpus 'a"):
        (made / "README.md").write_text(f"# made\n\n```\n{command}\n```\n", encoding="utf-8")
        assert "does not contain the plmlab pretrain command" in refusal(capsys, "--resume", str(made), "--steps", "50")
    (made / "README.md").unlink()
    assert "does not contain the plmlab pretrain command" in refusal(capsys, "--resume", str(made), "--steps", "50")


def test_the_command_in_a_readme_is_read_as_it_was_told(made: Path, corpus: Path) -> None:
    plan = Plan("gpt2", "my file.txt", "out/gpt 2", steps=7, lr=3e-4, compile="no")
    text = readme(made).splitlines()
    told = [f"{plan.command}" if line.startswith("plmlab pretrain") else line for line in text]
    (made / "README.md").write_text("\n".join(told), encoding="utf-8")
    assert Plan(**commanded(made)) == plan
