"""A plan carried out: prepared and saved by one process, trained by all; interrupted, it goes on where it stopped."""

import shlex
import shutil
import warnings
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import timedelta
from math import exp
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from plmlab.atomic import place
from plmlab.checkpoints import WEIGHTS, load, save
from plmlab.pretraining.material import HASH, Material, material
from plmlab.pretraining.plan import FILE, STATE, Plan, commanded, has_state
from plmlab.train import History, fit
from plmlab.train.state import RunStates
from plmlab.weights import load_tensors, weights
from plmlab.world.probability.floors import Floor

LAYING_DOWN = timedelta(days=2)
"""So long the other processes wait while the first lays down the tokens; torch's own patience is some minutes."""
COMPILE: dict[str, bool | Literal["auto"]] = {"auto": "auto", "yes": True, "no": False}


def pretrain(plan: Plan) -> str:
    """Carry the plan out, or go on with it where it was interrupted; what came of it, in a sentence.

    ValueError where its run goes on as another one since, for more steps or to another ``out``.
    """
    if (plan.run / FILE).is_file() and Plan.resumed(plan.run, {}) != plan:
        raise ValueError(f"the run in {plan.run} was told anew since, by --resume; go on with it by "
                         f"plmlab pretrain --resume {shlex.quote(str(plan.run))}")
    return carry_out(plan, plan.run, longer=bool(plan.resume))


def resume(folder: str, changes: Mapping[str, Any]) -> str:
    """Go on with the interrupted run in ``folder``, for more steps or to another ``out``; or train the finished
    checkpoint there longer, as `Plan.longer` says. What came of it.

    ValueError where the folder holds neither, or where what is told anew would make it another run.
    """
    if (Path(folder) / WEIGHTS).is_file():
        return pretrain(Plan.longer(Path(folder), changes))
    return carry_out(Plan.resumed(Path(folder), changes), Path(folder), longer=True)


def carry_out(plan: Plan, run: Path, *, longer: bool = False) -> str:
    """Carry the plan out with its run kept in ``run``; what came of it, in a sentence.

    ``longer``: the run may have been planned for fewer steps. Of several processes (``accelerate launch``) the first
    prepares and saves, and all others say "".
    """
    from accelerate import Accelerator, InitProcessGroupKwargs

    processes = Accelerator(kwargs_handlers=[InitProcessGroupKwargs(timeout=LAYING_DOWN)])
    with processes.main_process_first():
        read = prepared(plan, run, first=processes.is_main_process)
        if processes.is_main_process:
            plan.save(run)
    torch.manual_seed(plan.seed)
    model = build(plan, len(read.tokenizer))
    how = plan.kind.pretraining
    if how and how.prepare:
        how.prepare(model, read.tokenizer, read.batches)
    if plan.resume and not RunStates(run).states():
        load_tensors(model, weights(load(plan.resume)[0]))
        if processes.is_main_process:
            warnings.warn(f"{plan.resume} holds weights without the state of their training: the optimiser starts "
                          f"anew, and --steps {plan.steps} counts from here", stacklevel=3)
    history = fit(
        model, read.batches, steps=plan.steps, lr=plan.lr, warmup=min(100, plan.steps // 10),
        accumulate=plan.accumulate, precision=plan.precision,  # type: ignore[arg-type]
        compile=COMPILE[plan.compile], evaluate=read.held_out, evaluate_every=plan.save_every,
        save_to=run, save_every=plan.save_every, resume="longer" if longer else True, show=True,
        floor=read.floor.mean if read.floor else None,
    )
    told = ending(plan, run, model, read, history) if processes.is_main_process else ""
    processes.wait_for_everyone()
    return told


def prepared(plan: Plan, run: Path, *, first: bool) -> Material:
    """The plan's material. The ``first`` process copies what a checkpoint keeps of its training. A ValueError for a
    plan that can't be carried out leaves no run."""
    try:
        if first and plan.resume and not RunStates(run).states():
            begin(plan, run)
        return material(plan, run)
    except (ValueError, OSError) as problem:
        if not (run / FILE).is_file():
            shutil.rmtree(run, ignore_errors=True)
        if isinstance(problem, ValueError):
            raise
        raise ValueError(f"the run could not be written to {run} ({problem.strerror or problem}); give --out a folder "
                         "that you may write to, on a disk with room") from problem


def begin(plan: Plan, run: Path) -> None:
    """Copy into a run what it goes on with of a finished checkpoint: the tokenizer; the hash of the corpus and the
    state, where that is kept. ValueError where the planned model can't have its weights."""
    checkpoint = Path(plan.resume)
    model, tokenizer = load(checkpoint)
    load_tensors(build(plan, len(tokenizer)), weights(model))
    tokenizer.save(run)
    if has_state(checkpoint):
        if (checkpoint / HASH).is_file():
            shutil.copy(checkpoint / HASH, run / HASH)
        place(RunStates(run).of(commanded(checkpoint)["steps"]),
              {name: (checkpoint / name).read_bytes() for name in STATE})


def ending(plan: Plan, run: Path, model: nn.Module, read: Material, history: History) -> str:
    """Save the model of a run that is complete, and say how the run ended."""
    if history.ended != "completed":
        return f"{history.reason}; the same command goes on from there, its state is in {run}"
    how = plan.kind.pretraining
    assert how is not None
    kept = [run / HASH, *(RunStates(run).of(plan.steps) / name for name in STATE)]
    try:
        save(plan.out, model, read.tokenizer, command=plan.command,
             figures=figures(history, read.floor, likelihood=how.likelihood),
             beside={file.name: file.read_bytes() for file in kept if file.is_file()})
    except OSError as problem:
        raise ValueError(f"the checkpoint could not be written to {plan.out} ({problem.strerror or problem}); nothing "
                         f"is lost: the run is in {run}, and the same command writes it again") from problem
    shutil.rmtree(run, ignore_errors=True)
    return "; ".join([history.finding(), *beside_floor(history, read.floor), f"the checkpoint is in {plan.out}"])


def build(plan: Plan, vocab: int) -> nn.Module:
    """A new model of the planned size; a feed-forward is four times as wide as the model, a memory that is projected
    twice."""
    kind = plan.kind
    size = {"layers": plan.layers, "model": plan.width, "heads": plan.heads, "inner": 4 * plan.width,
            "hidden": 2 * plan.width}
    known = {field.name for field in fields(kind.config)}
    return kind.model(replace(kind.config.tiny(vocab, plan.time),
                              **{name: value for name, value in size.items() if name in known}))


def beside_floor(history: History, floor: Floor | None) -> list[str]:
    """The held-out loss beside its floor, in a phrase; nothing where no floor is known."""
    if floor is None:
        return []
    loss = history.validation[-1][1]
    return [f"the held-out loss is {loss:.4f}, and its floor {floor}{' (exact)' if floor.exact else ''}: "
            f"{loss / floor.mean - 1:+.1%}"]


def figures(history: History, floor: Floor | None = None, *, likelihood: bool = True) -> dict[str, float | str]:
    """The numbers that go into the checkpoint's README, by name; ``likelihood``: the loss is −log p of tokens."""
    held_out = history.validation[-1][1]
    reached: dict[str, float | str] = {"held-out loss": held_out}
    if likelihood:
        reached = {"held-out loss, nats a token": held_out, "held-out perplexity": exp(held_out)}
    if floor:
        reached["floor of the held-out text"] = str(floor)
    return reached | {
        "steps": str(len(history.losses)), "positions read, padding included": f"{history.tokens:,}",
        "seconds": f"{history.seconds:.0f}", "device": history.device, "precision": history.precision,
    }
