"""A run that is killed at any moment, and resumed, is the run that was never killed, to the bit."""

import json

import nursery
import pytest
from forked import Forked
from safetensors.torch import load_file
from torch import equal


@pytest.fixture(scope="module")
def raised(tmp_path_factory):
    """One process that raised, killed and resumed all the runs; see nursery.py."""
    root = tmp_path_factory.mktemp("nursery")
    done = Forked(nursery.raised, root).end()
    assert done.code == 0, done.err[-3000:]
    return root, json.loads(done.out)


def same(root, name):
    ours, theirs = (json.loads((root / run / "history.json").read_text()) for run in ("whole", name))
    weights = [load_file(root / run / "weights.safetensors") for run in ("whole", name)]
    return ours == theirs and all(equal(weights[0][key], weights[1][key]) for key in weights[0])


def test_killed_in_every_disk_operation_of_a_save(raised):
    root, told = raised
    kills = [row for row in told["staged"] if row["result"] == -9]
    assert len(kills) >= 12 and told["staged"][-1]["result"] == 0 and len(kills) == len(told["staged"]) - 1
    for row in kills:
        assert row["after"] >= row["before"], row
        assert row["reached"] - row["after"] <= nursery.EVERY, row
    assert same(root, "staged")


def test_killed_at_random_moments(raised):
    root, told = raised
    *kills, last = told["lined"]
    assert len(kills) == nursery.KILLS and all(row["result"] == -9 for row in kills) and last["result"] == 0
    assert sum(row["after"] > row["before"] for row in kills) >= 2, "no run came far enough to save"
    for row in kills:
        assert row["after"] >= row["before"] and row["reached"] - row["after"] <= nursery.EVERY, row
    assert same(root, "lined")


def test_the_run_was_worth_comparing(raised):
    root, told = raised
    assert told["whole"] == 0
    curve = json.loads((root / "whole" / "history.json").read_text())
    assert len(curve["losses"]) == 36 and curve["ended"] == "completed" and len(curve["validation"]) == 6
    assert curve["losses"][-1] < curve["losses"][0] - 0.3


def test_only_the_newest_state_is_left(raised):
    assert raised[1]["left"] == [["step-00000036"]] * 3
