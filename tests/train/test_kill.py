"""A run that is killed at any moment, and resumed, is the run that was never killed, to the bit."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.torch import load_file
from torch import equal

EVERY = 3


@pytest.fixture(scope="module")
def nursery(tmp_path_factory):
    """One process that raised, killed and resumed all the runs; see nursery.py."""
    root = tmp_path_factory.mktemp("nursery")
    script = Path(__file__).with_name("nursery.py")
    done = subprocess.run([sys.executable, str(script), str(root)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return root, json.loads(done.stdout)


def same(root, name):
    ours, theirs = (json.loads((root / run / "history.json").read_text()) for run in ("whole", name))
    weights = [load_file(root / run / "weights.safetensors") for run in ("whole", name)]
    return ours == theirs and all(equal(weights[0][key], weights[1][key]) for key in weights[0])


def test_killed_in_every_disk_operation_of_a_save(nursery):
    root, told = nursery
    kills = [row for row in told["staged"] if row["result"] == -9]
    assert len(kills) >= 12 and told["staged"][-1]["result"] == 0 and len(kills) == len(told["staged"]) - 1
    for row in kills:
        assert row["after"] >= row["before"], row
        assert row["reached"] - row["after"] <= EVERY, row
    assert same(root, "staged")


def test_killed_at_random_moments(nursery):
    root, told = nursery
    kills = [row for row in told["timed"] if row["result"] == -9]
    assert len(kills) >= 12 and told["timed"][-1]["result"] == 0
    assert sum(row["after"] > row["before"] for row in kills) >= 2, "no run came far enough to save"
    for row in kills:
        assert row["after"] >= row["before"] and row["reached"] - row["after"] <= EVERY, row
    assert same(root, "timed")


def test_the_run_was_worth_comparing(nursery):
    root, told = nursery
    assert told["whole"] == 0
    curve = json.loads((root / "whole" / "history.json").read_text())
    assert len(curve["losses"]) == 60 and curve["ended"] == "completed" and len(curve["validation"]) == 9
    assert curve["losses"][-1] < curve["losses"][0] - 0.3


def test_only_the_newest_state_is_left(nursery):
    assert nursery[1]["left"] == [["step-00000060"]] * 3
