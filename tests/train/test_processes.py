"""Two processes under ``accelerate launch``: the curve of one process with the doubled batch."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.torch import load_file
from torch import equal
from torch.testing import assert_close
from training_toy import batch, joined, toy

from plmlab.train import fit
from plmlab.weights import weights

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """What two processes made.

    ``accelerate launch --cpu`` starts one process only, whatever the number asked for (accelerate 1.15); so
    it is told of several devices, and the processes to be on the CPU.
    """
    out = tmp_path_factory.mktemp("two")
    launch = [sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2",
              "--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port", "0"]
    done = subprocess.run([*launch, str(HERE / "distributed.py"), str(out)], capture_output=True, text=True,
                          timeout=300, env=os.environ | {"OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"})
    assert done.returncode == 0, done.stderr[-4000:]
    return out, [json.loads((out / f"told-{rank}.json").read_text()) for rank in (0, 1)]


HOW = {"steps": 10, "lr": 0.01, "show": False, "evaluate": [batch(50), batch(51), batch(52)], "evaluate_every": 4}


def test_two_processes_give_the_curve_of_one_with_the_doubled_batch(two):
    out, told = two
    model = toy(dropout=0.0)
    one = fit(model, joined, **HOW)
    for process in told:
        assert process["processes"] == 2 and process["tokens"] == one.tokens
        assert process["plain"] == pytest.approx(one.losses, rel=1e-5)
        assert process["norms"] == pytest.approx(one.norms, rel=1e-4)
        assert [tuple(point) for point in process["validation"]] == [
            (step, pytest.approx(loss, rel=1e-5)) for step, loss in one.validation]
    for name, tensor in load_file(out / "weights-0.safetensors").items():
        assert_close(tensor, weights(model)[name], rtol=1e-3, atol=1e-5)


def test_the_processes_agree_to_the_bit(two):
    out, told = two
    assert told[0] == told[1]
    mine, other = (load_file(out / f"weights-{rank}.safetensors") for rank in (0, 1))
    assert all(equal(mine[name], other[name]) for name in mine)


def test_accumulation_and_processes_together_make_one_batch_of_four(two):
    one = fit(toy(dropout=0.0), lambda i: joined(i, 4), **HOW)
    assert two[1][0]["accumulated"] == pytest.approx(one.losses, rel=1e-5)


def test_two_processes_resume_to_the_bit_dropout_of_both_included(two):
    assert two[1][0]["resumed"] == two[1][0]["whole"] and len(two[1][0]["whole"]) == 10


def test_a_loss_that_breaks_in_one_process_ends_both_in_the_same_step(two):
    assert [process["diverged"] for process in two[1]] == [3, 3] and all(process["finite"] for process in two[1])
