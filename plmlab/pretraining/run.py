"""Running a plan: one process prepares the data and saves, all processes train; an interrupted run can be continued."""

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
"""How long the other processes wait while the first one writes the tokens; torch's default is a few minutes."""
COMPILE: dict[str, bool | Literal["auto"]] = {"auto": "auto", "yes": True, "no": False}


def pretrain(plan: Plan) -> str:
    """Run the plan, or continue its interrupted run, and return a one-sentence summary.

    Raises ValueError if the run has since been continued with more steps or another ``out``.
    """
    if (plan.run / FILE).is_file() and Plan.resumed(plan.run, {}) != plan:
        raise ValueError(f"the options of the run in {plan.run} were changed by --resume; continue it with "
                         f"plmlab pretrain --resume {shlex.quote(str(plan.run))}")
    return carry_out(plan, plan.run, longer=bool(plan.resume))


def resume(folder: str, changes: Mapping[str, Any]) -> str:
    """Continue the interrupted run in ``folder``, optionally with more steps or another ``out``; or train the finished
    checkpoint in ``folder`` further, as described in `Plan.longer`. Returns a one-sentence summary.

    Raises ValueError if the folder contains neither, or if a change is not allowed.
    """
    if (Path(folder) / WEIGHTS).is_file():
        return pretrain(Plan.longer(Path(folder), changes))
    return carry_out(Plan.resumed(Path(folder), changes), Path(folder), longer=True)


def carry_out(plan: Plan, run: Path, *, longer: bool = False) -> str:
    """Run the plan with its run folder ``run`` and return a one-sentence summary.

    ``longer``: whether the run may have been planned for fewer steps. With several processes (``accelerate launch``)
    the first one prepares the data and saves; the others return "".
    """
    from accelerate import Accelerator, InitProcessGroupKwargs

    processes = Accelerator(kwargs_handlers=[InitProcessGroupKwargs(timeout=LAYING_DOWN)])
    with processes.main_process_first():
        data = prepared(plan, run, first=processes.is_main_process)
        if processes.is_main_process:
            plan.save(run)
    torch.manual_seed(plan.seed)
    model = build(plan, len(data.tokenizer))
    pretraining = plan.kind.pretraining
    if pretraining and pretraining.prepare:
        pretraining.prepare(model, data.tokenizer, data.batches)
    if plan.resume and not RunStates(run).states():
        load_tensors(model, weights(load(plan.resume)[0]))
        if processes.is_main_process:
            warnings.warn(f"{plan.resume} contains weights without a training state: the optimizer starts "
                          f"from its initial state, and --steps {plan.steps} counts from here", stacklevel=3)
    history = fit(
        model, data.batches, steps=plan.steps, lr=plan.lr, warmup=min(100, plan.steps // 10),
        accumulate=plan.accumulate, precision=plan.precision,  # type: ignore[arg-type]
        optimizer=pretraining.optimizer if pretraining else "adamw",
        compile=COMPILE[plan.compile], evaluate=data.held_out, evaluate_every=plan.save_every,
        save_to=run, save_every=plan.save_every, resume="longer" if longer else True, show=True,
        floor=data.floor.mean if data.floor else None,
    )
    summary = ending(plan, run, model, data, history) if processes.is_main_process else ""
    processes.wait_for_everyone()
    return summary


def prepared(plan: Plan, run: Path, *, first: bool) -> Material:
    """The plan's tokenizer and data. The ``first`` process also copies the training state of a checkpoint to continue.
    Raises ValueError for a plan that cannot be run; a new run folder is then removed."""
    try:
        if first and plan.resume and not RunStates(run).states():
            begin(plan, run)
        return material(plan, run)
    except (ValueError, OSError) as problem:
        if not (run / FILE).is_file():
            shutil.rmtree(run, ignore_errors=True)
        if isinstance(problem, ValueError):
            raise
        raise ValueError(f"the run could not be written to {run} ({problem.strerror or problem}); give an --out in a "
                         "writable folder, on a disk with free space") from problem


def begin(plan: Plan, run: Path) -> None:
    """Copy a finished checkpoint's tokenizer into a new run, with its corpus hash and training state, if present.
    Raises ValueError if the checkpoint's weights do not fit the planned model."""
    checkpoint = Path(plan.resume)
    model, tokenizer = load(checkpoint)
    load_tensors(build(plan, len(tokenizer)), weights(model))
    tokenizer.save(run)
    if has_state(checkpoint):
        if (checkpoint / HASH).is_file():
            shutil.copy(checkpoint / HASH, run / HASH)
        place(RunStates(run).of(commanded(checkpoint)["steps"]),
              {name: (checkpoint / name).read_bytes() for name in STATE})


def ending(plan: Plan, run: Path, model: nn.Module, data: Material, history: History) -> str:
    """Save the checkpoint if the run is complete. Returns a one-sentence summary."""
    if history.ended != "completed":
        return f"{history.reason}; the same command continues the run, whose state is in {run}"
    pretraining = plan.kind.pretraining
    assert pretraining is not None
    extra = [run / HASH, *(RunStates(run).of(plan.steps) / name for name in STATE)]
    try:
        save(plan.out, model, data.tokenizer, command=plan.command,
             figures=figures(history, data.floor, likelihood=pretraining.likelihood),
             beside={file.name: file.read_bytes() for file in extra if file.is_file()})
    except OSError as problem:
        raise ValueError(f"the checkpoint could not be written to {plan.out} ({problem.strerror or problem}); nothing "
                         f"is lost: the run is in {run}, and the same command tries again") from problem
    shutil.rmtree(run, ignore_errors=True)
    return "; ".join([history.finding(), *gap_to_floor(history, data.floor), f"the checkpoint is in {plan.out}"])


def build(plan: Plan, vocab: int) -> nn.Module:
    """Build a new model of the planned size.

    Feed-forward layers are four times as wide as the model, the cell state of an LSTM with projection twice as wide.
    """
    kind = plan.kind
    size = {"layers": plan.layers, "model": plan.width, "heads": plan.heads, "inner": 4 * plan.width,
            "hidden": 2 * plan.width}
    known = {field.name for field in fields(kind.config)}
    return kind.model(replace(kind.config.tiny(vocab, plan.time),
                              **{name: value for name, value in size.items() if name in known}))


def gap_to_floor(history: History, floor: Floor | None) -> list[str]:
    """The distance of the held-out loss from its floor, as a list of one phrase; empty if the floor is not known."""
    if floor is None:
        return []
    loss = history.validation[-1][1]
    return [f"the held-out loss is {loss:.4f}, its floor {floor}{' (exact)' if floor.exact else ''}: "
            f"{loss / floor.mean - 1:+.1%}"]


def figures(history: History, floor: Floor | None = None, *, likelihood: bool = True) -> dict[str, float | str]:
    """The results for the checkpoint's README, by name. ``likelihood``: whether the loss is a per-token NLL."""
    held_out = history.validation[-1][1]
    results: dict[str, float | str] = {"held-out loss": held_out}
    if likelihood:
        results = {"held-out loss, nats per token": held_out, "held-out perplexity": exp(held_out)}
    if floor:
        results["floor of the held-out text"] = str(floor)
    return results | {
        "steps": str(len(history.losses)), "positions processed, padding included": f"{history.tokens:,}",
        "seconds": f"{history.seconds:.0f}", "device": history.device, "precision": history.precision,
    }
