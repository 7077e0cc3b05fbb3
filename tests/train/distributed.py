"""What each process of test_processes.py does: train, and write what came out; and a launch of two."""

import json
import os

from safetensors.torch import save_file
from training_toy import batch, toy

from plmlab.train import Diverged, fit
from plmlab.weights import weights


def launched(script):
    """``accelerate launch`` of a script in two processes.

    ``accelerate launch --cpu`` starts one process only, whatever the number asked for (accelerate 1.15); so it is told
    of several devices, and the processes to be on the CPU.
    """
    from accelerate.commands.launch import launch_command, launch_command_parser
    os.environ["ACCELERATE_USE_CPU"] = "true"
    launch_command(launch_command_parser().parse_args([
        "--multi_gpu", "--num_processes", "2", "--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend",
        "no", "--main_process_port", "0", str(script)]))


def trained(out):
    rank = int(os.environ["RANK"])
    model = toy(seed=rank, dropout=0.0)
    how = {"steps": 10, "lr": 0.01, "show": False, "evaluate": [batch(50), batch(51), batch(52)], "evaluate_every": 4}
    history = fit(model, batch, accumulate=2, **how)
    model = toy(seed=0, dropout=0.0)
    plain = fit(model, batch, **how)
    save_file({n: t.contiguous() for n, t in weights(model).items()}, out / f"weights-{rank}.safetensors")

    curves = []
    for stop, resume in ((None, False), (10, False), (None, True)):
        folder = out / ("whole" if stop is None and not resume else "stopped")
        steps = 5 if stop else 10
        curves.append(fit(toy(seed=0), batch, steps=steps, lr=0.01, decay="none", save_to=folder, resume=resume,
                          show=False).losses)

    breaks = toy(seed=0, dropout=0.0)
    real = breaks.loss
    breaks.loss = lambda b: real(b) * (float("nan") if bool((b.targets == 22).all()) else 1.0)
    try:
        fit(breaks, poisoned, steps=10, lr=0.01, show=False)
        diverged = 0
    except Diverged as problem:
        diverged = problem.step
    (out / f"told-{rank}.json").write_text(json.dumps({
        "accumulated": history.losses, "plain": plain.losses, "norms": plain.norms, "validation": plain.validation,
        "processes": plain.processes, "tokens": plain.tokens, "whole": curves[0], "resumed": curves[2],
        "diverged": diverged, "finite": all(bool(p.isfinite().all()) for p in breaks.parameters()),
    }))


def poisoned(i):
    """In step 2, the second process alone gets a batch that breaks the loss."""
    b = batch(i)
    return b if i != 5 else type(b)(b.tokens, b.targets.new_full(b.targets.shape, 22))
