"""A text and a model so little that a run takes a second, and what the tests do with runs."""

import json
from pathlib import Path

import pytest
from stopping import stopped_at

from plmlab import cli
from plmlab.pretraining import run

TEXT = "\n\n".join(f"the {a} {b} the {c}." for a in ("cat", "dog", "bird", "fox") for b in ("sees", "hears", "likes")
                   for c in ("house", "river", "garden", "moon", "street"))
SIZE = ["--batch", "8", "--time", "8", "--vocab", "330", "--layers", "1", "--width", "16", "--heads", "2",
        "--lr", "0.02"]
SMALL = ["--steps", "30", *SIZE]


def made_by(*arguments: str) -> bytes:
    """The weights in the checkpoint that a request ends with, its last argument."""
    assert cli.main(["pretrain", *arguments]) == 0
    return weights(arguments[-1])


def weights(folder: str | Path) -> bytes:
    """The file of weights in a checkpoint."""
    return (Path(folder) / "model.safetensors").read_bytes()


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line that a refused request gets."""
    assert cli.main(["pretrain", *arguments]) == 2
    told = capsys.readouterr().err.splitlines()
    assert told[-1].startswith("plmlab: ") and not any("plmlab: " in line for line in told[:-1])
    assert not any("Traceback" in line for line in told)
    return told[-1]


def interrupted_at(step: int, patch: pytest.MonkeyPatch, asked: int = 1) -> None:
    """As if somebody pressed Ctrl-C when the batch of a step is drawn, for the ``asked``-th time."""
    def press() -> None:
        raise KeyboardInterrupt
    patch.setattr(run, "material", stopped_at(step, press, run.material, asked))


def run_of(out: Path) -> Path:
    """The folder that keeps the run to ``out``."""
    found = list(out.parent.glob(f"{out.name}.run-*"))
    assert len(found) == 1
    return found[0]


def planned(folder: Path) -> dict:
    """The plan in the folder of a run."""
    return json.loads((folder / "plan.json").read_text(encoding="utf-8"))
