"""Training runs that are killed, or cut short, and resumed: work for `forked.Forked`, never for the tests' own process.

Each run is a fork that kills itself, at a place that is counted in operations or in lines: no clock has a say.
"""

import json
import os
import random
import resource
import signal
import sys
import warnings
from pathlib import Path

from forked import die
from moments import Lines
from safetensors.torch import save_file
from training_toy import batch, toy

import plmlab.atomic as folders
import plmlab.train.loop as loop
from plmlab.train import fit
from plmlab.weights import weights

STEPS, EVERY, KILLS = 36, 3, 12


def train(folder, out):
    """A run that saves, resumed if there is something to resume; its curve and weights are written to ``out``."""
    model = toy()
    history = fit(model, batch, steps=STEPS, lr=0.02, warmup=5, accumulate=2, evaluate=[batch(99)],
                  evaluate_every=7, patience=50, save_to=folder, save_every=EVERY, resume=True, show=False)
    save_file({n: t.contiguous() for n, t in weights(model).items()}, out / "weights.safetensors")
    seen = {"losses": history.losses, "norms": history.norms, "rates": history.rates,
            "validation": history.validation, "tokens": history.tokens, "ended": history.ended}
    (out / "history.json").write_text(json.dumps(seen))


def outcome(work):
    """Fork; the child does its work and leaves: 0 where it ended well, minus the signal where it was killed."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
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
                die()
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


def tell_steps(path, at=0, then=lambda: None):
    """From now on, the number of updates made is added to ``path``, for the count of what a kill lost; once there are
    ``at``, something is done."""
    real = loop.Run.read

    def read(self):
        answer = real(self)
        with path.open("a") as file:
            file.write(f"{self.step}\n")
        if self.step == at:
            then()
        return answer
    loop.Run.read = read


def killed(folder, out, work):
    """What became of a run under ``work``, a function of the file that it tells its steps in."""
    before, reached = saved_step(folder), out / "reached"
    reached.write_text(f"{before}\n")
    result = outcome(lambda: (work(reached), train(folder, out)))
    return {"result": result, "before": before, "after": saved_step(folder),
            "reached": int(reached.read_text().split("\n")[-2])}


def by_stage(folder, out):
    """Killed in the first, second, third … disk operation, resumed each time, until a run comes to its end."""
    told = []
    while not told or told[-1]["result"]:
        operation = len(told) + 1
        told.append(killed(folder, out, lambda reached, at=operation: (tell_steps(reached), die_at(at))))
    return told


def by_line(folder, out, draw):
    """Killed in a random line: of three times once at the beginning, once up to six steps later and once in what writes
    a state; resumed each time, and at last not killed."""
    told = []
    for kill in range(KILLS):
        line, more = 1 + int(400 * draw.random()), 1 + int(6 * draw.random())

        def work(reached, kill=kill, line=line, more=more):
            if kill % 3 == 1:
                tell_steps(reached, int(reached.read_text()) + more, Lines(line, die).begin)
            else:
                tell_steps(reached)
                Lines(*(line, die) if kill % 3 == 0 else (1 + line % 100, die, "atomic.py")).begin()
        told.append(killed(folder, out, work))
    return [*told, killed(folder, out, tell_steps)]


def raised(root):
    """All the runs; a JSON object of what happened is printed."""
    whole, staged, lined = (root / name for name in ("whole", "staged", "lined"))
    for folder in (whole, staged, lined):
        folder.mkdir()
    answer = {"whole": outcome(lambda: train(whole / "run", whole)), "staged": by_stage(staged / "run", staged),
              "lined": by_line(lined / "run", lined, random.Random(1))}
    answer["left"] = [sorted(p.name for p in (folder / "run").iterdir()) for folder in (whole, staged, lined)]
    print(json.dumps(answer))


def cut_short(folder):
    """A run for which the kernel lets no file grow beyond a limit from step 5 on; what its history tells is printed."""
    sys.dont_write_bytecode = True
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    warnings.simplefilter("ignore")

    def batches(i):
        if i == 5:
            resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
        return batch(i)
    history = fit(toy(), batches, steps=12, lr=0.01, warmup=2, save_to=folder, save_every=2, show=False)
    print(history.ended, len(history.losses), len(history.notes))
