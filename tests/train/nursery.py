"""Raises training runs in forked processes, which can be killed: one import serves them all.

``python nursery.py FOLDER`` prints a JSON object with what happened. Nothing but this process's children is killed.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import accelerate  # noqa: F401  (here, so that no child has to)
import torch
import torch._dynamo  # the first optimizer step would import it
from safetensors.torch import save_file
from training_toy import batch, toy

import plmlab.atomic as folders
import plmlab.train.loop as loop
from plmlab.train import fit
from plmlab.weights import weights

STEPS, EVERY = 60, 3


def train(folder, out):
    """A run that saves, resumed if there is something to resume; its curve and weights are written to ``out``."""
    torch.set_num_threads(1)
    model = toy()
    history = fit(model, batch, steps=STEPS, lr=0.02, warmup=5, accumulate=2, evaluate=[batch(99)],
                  evaluate_every=7, patience=50, save_to=folder, save_every=EVERY, resume=True, show=False)
    save_file({n: t.contiguous() for n, t in weights(model).items()}, out / "weights.safetensors")
    seen = {"losses": history.losses, "norms": history.norms, "rates": history.rates,
            "validation": history.validation, "tokens": history.tokens, "ended": history.ended}
    (out / "history.json").write_text(json.dumps(seen))


def child(work):
    """Fork; the child does its work and leaves."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return pid


def outcome(pid):
    """0 where the child ended well, minus the signal where it was killed."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def saved_step(folder):
    """The step of the newest complete state."""
    states = sorted(folder.glob("step-*"))
    return int(states[-1].name.removeprefix("step-")) if states else 0


def die_at(operation):
    """From now on, this process kills itself right before the disk operation of that number, halfway a write."""
    count = 0

    def counted(function, halfway=None):
        def call(*args, **kwargs):
            nonlocal count
            count += 1
            if count == operation:
                if halfway:
                    halfway(*args)
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **kwargs)
        return call

    def half(path, data):
        path.write_bytes(data[: len(data) // 2])

    folders.write = counted(folders.write, half)
    folders.settle = counted(folders.settle)
    os.rename = counted(os.rename)
    Path.rename = counted(Path.rename)
    Path.mkdir = counted(Path.mkdir)
    os.rmdir = counted(os.rmdir)
    os.unlink = counted(os.unlink)


def tell_steps(path):
    """From now on, the number of updates made is added to ``path``, for the count of what a kill lost."""
    real = loop.Run.read

    def read(self):
        answer = real(self)
        with path.open("a") as file:
            file.write(f"{self.step}\n")
        return answer
    loop.Run.read = read


def last_step(path):
    """What ``tell_steps`` told last."""
    return int(path.read_text().split("\n")[-2])


def wait_for(reached, step):
    """Until the child has made that step, at most 20 s."""
    start = time.monotonic()
    while last_step(reached) < step and time.monotonic() - start < 20:
        time.sleep(0.002)


def by_stage(folder, out):
    """Killed in the first, second, third … disk operation of a save in mid-run, resumed each time."""
    told, operation = [], 0
    reached = out / "reached"
    while True:
        operation += 1
        before = saved_step(folder)
        reached.write_text(f"{before}\n")

        def work(operation=operation):
            tell_steps(reached)
            die_at(operation)
            train(folder, out)
        result = outcome(child(work))
        told.append({"operation": operation, "result": result, "before": before, "after": saved_step(folder),
                     "reached": last_step(reached)})
        if result == 0:
            return told


def by_time(folder, out, kills, draw):
    """Killed after a random time, and slowed down so that there is time; resumed each time."""
    told, reached = [], out / "reached"
    while len(told) < kills:
        before = saved_step(folder)
        reached.write_text(f"{before}\n")

        def work():
            tell_steps(reached)
            real = folders.write
            folders.write = lambda path, data: (time.sleep(0.02), real(path, data))
            train(folder, out)
        pid = child(work)
        if len(told) % 3:
            wait_for(reached, before + int(1 + 6 * draw.random()))
        time.sleep(0.05 * draw.random())
        os.kill(pid, signal.SIGKILL)
        result = outcome(pid)
        told.append({"result": result, "before": before, "after": saved_step(folder),
                     "reached": last_step(reached)})
        if result == 0:
            return told
    told.append({"result": outcome(child(lambda: train(folder, out))), "before": saved_step(folder)})
    return told


def main(root):
    whole, staged, timed = (root / name for name in ("whole", "staged", "timed"))
    for folder in (whole, staged, timed):
        folder.mkdir()
    answer = {"whole": outcome(child(lambda: train(whole / "run", whole))),
              "staged": by_stage(staged / "run", staged),
              "timed": by_time(timed / "run", timed, 16, random.Random(7))}
    answer["left"] = [sorted(p.name for p in (folder / "run").iterdir()) for folder in (whole, staged, timed)]
    print(json.dumps(answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
