"""Two processes, told what ``accelerate launch`` tells: the curve of one process with the doubled batch."""

import json

import distributed
import forked
import pytest
from safetensors.torch import load_file
from torch import equal
from torch.testing import assert_close
from training_toy import batch, joined, toy

from plmlab.train import fit
from plmlab.weights import weights


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """What two processes made."""
    out = tmp_path_factory.mktemp("two")
    for done in forked.two(out / "meeting", distributed.trained, out):
        assert done.code == 0, done.err[-4000:]
    return out, [json.loads((out / f"told-{rank}.json").read_text()) for rank in (0, 1)]


def test_what_they_are_told_is_what_a_launch_tells(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import json, os, pathlib\n"
                      "pathlib.Path(__file__).with_name(os.environ['RANK']).write_text(json.dumps(dict(os.environ)))\n")
    done = forked.Forked(distributed.launched, script).end()
    assert done.code == 0, done.err[-4000:]
    for rank in (0, 1):
        assert json.loads((tmp_path / str(rank)).read_text()).items() >= forked.told(rank).items()


HOW = {"steps": 10, "lr": 0.01, "show": False, "evaluate": [batch(50), batch(51), batch(52)], "evaluate_every": 4}


def test_two_processes_give_the_curve_of_one_with_the_doubled_batch(two):
    out, told = two
    model = toy(dropout=0.0)
    one = fit(model, joined, **HOW)
    for process in told:
        assert process["processes"] == 2 and process["tokens"] == one.tokens
        assert process["plain"] == pytest.approx(one.losses, rel=1e-4)
        assert process["norms"] == pytest.approx(one.norms, rel=1e-3)
        assert [tuple(point) for point in process["validation"]] == [
            (step, pytest.approx(loss, rel=1e-4)) for step, loss in one.validation]
    for name, tensor in load_file(out / "weights-0.safetensors").items():
        assert_close(tensor, weights(model)[name], rtol=1e-3, atol=1e-4)


def test_the_processes_agree_to_the_bit(two):
    out, told = two
    assert told[0] == told[1]
    mine, other = (load_file(out / f"weights-{rank}.safetensors") for rank in (0, 1))
    assert all(equal(mine[name], other[name]) for name in mine)


def test_accumulation_and_processes_together_make_one_batch_of_four(two):
    one = fit(toy(dropout=0.0), lambda i: joined(i, 4), **HOW)
    assert two[1][0]["accumulated"] == pytest.approx(one.losses, rel=1e-4)


def test_two_processes_resume_to_the_bit_dropout_of_both_included(two):
    assert two[1][0]["resumed"] == two[1][0]["whole"] and len(two[1][0]["whole"]) == 10


def test_a_loss_that_breaks_in_one_process_ends_both_in_the_same_step(two):
    assert [process["diverged"] for process in two[1]] == [3, 3] and all(process["finite"] for process in two[1])
