"""What each process of ``accelerate launch`` runs in test_processes.py: train, and write what came out."""

import json
import os
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from training_toy import batch, toy

from plmlab.train import Diverged, fit
from plmlab.weights import weights

torch.set_num_threads(1)
out = Path(sys.argv[1])
rank = os.environ["RANK"]


def poisoned(i):
    """In step 2, the second process alone gets a batch that breaks the loss."""
    b = batch(i)
    return b if i != 5 else type(b)(b.tokens, b.targets.new_full(b.targets.shape, 22))


model = toy(seed=int(rank), dropout=0.0)
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
