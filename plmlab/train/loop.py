"""The one training loop: on a CPU, on a GPU, or on many under ``accelerate launch``."""

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import nn

from plmlab.train.history import Ending, History
from plmlab.train.interrupt import Interrupt
from plmlab.train.loss_buffer import Diverged, LossBuffer
from plmlab.train.progress import Progress, Silent, progress
from plmlab.train.schedule import rate
from plmlab.train.settings import Decay, Precision, Settings
from plmlab.train.source import Batches, Source
from plmlab.train.state import RunStates, State, StateError, contrast, random_states, set_random_states, versions
from plmlab.train.update import Update
from plmlab.train.validator import HeldOut, Score, Validator
from plmlab.weights import device_of

if TYPE_CHECKING:
    from accelerate import Accelerator


def fit(
    model: nn.Module, batches: Batches, *, steps: int, lr: float,
    warmup: int = 0, decay: Decay = "cosine", lr_end: float = 0.0,
    clip: float | None = 1.0, accumulate: int = 1,
    weight_decay: float = 0.01, betas: tuple[float, float] = (0.9, 0.95),
    precision: Precision | Literal["auto"] = "auto", compile: bool | Literal["auto"] = "auto",
    evaluate: HeldOut | None = None, score: Score | None = None, evaluate_every: int = 100,
    patience: int | None = None,
    save_to: str | PathLike[str] | None = None, save_every: int | None = None, resume: bool | Literal["longer"] = False,
    show: bool | Literal["auto"] = "auto", floor: float | None = None,
) -> History:
    """Train ``model`` for ``steps`` updates with AdamW, and tell what happened.

    ``model.loss(batch)`` is the mean loss over the batch's targets. The model itself is trained, on the GPU if there is
    one, and left in evaluation mode on the device where it was, so that later code need not move any tensor. ``score``
    and a function ``evaluate`` are called with the model there too, except with several processes.

    ``batches``: a function i → batch; a list, gone round and round; or anything that yields batches, read
    once. Update s takes the batches s · n … s · n + n − 1, where n = processes · ``accumulate``, and its
    gradient is that of the mean over all their targets. So two processes give the curve of one with doubled
    batches.

    ``lr`` is reached after ``warmup`` steps and falls to ``lr_end`` by ``decay``. Gradients longer than
    ``clip`` are scaled down to it (None: never). ``weight_decay`` spares biases and norms.

    ``precision``, "auto": bf16 autocast on a GPU, float32 on a CPU. ``compile``, "auto": ``torch.compile`` on a GPU,
    where batches have one shape and the run is long enough (`plmlab.train.compiling`); a compilation that fails is
    recorded in the history's notes, and training continues uncompiled. On a CPU the same seed, with as many threads,
    gives the same curve to the bit.

    ``evaluate``: batches, or a function that makes them anew, for the validation loss every
    ``evaluate_every`` steps and at the end. ``score``: a function model → what it is worth on a development
    set, more being better, measured as often. ``patience``: stop after so many evaluations without a better
    score (without ``score``: a lower validation loss), and keep the best weights, however the run ends.

    ``save_to``: a folder for the state of the run, saved every ``save_every`` steps (None: only at the end or
    when interrupted). A failed save is told in a warning and in the history's notes; training goes on.
    ``resume=True`` goes on from what is there, on a CPU to the bit as if it had never stopped (torch's random state
    included), or starts if nothing is. ``resume="longer"`` also goes on with a run that was planned for fewer steps:
    from there on the learning rate is that of the longer one.

    ``show``: "auto" is a live curve in a notebook and a line elsewhere; True is the line; False is nothing.
    ``floor`` is the loss that nothing honest can beat, drawn beside the curve.

    An interrupt (Ctrl-C, a notebook's stop button) ends the run after the step in hand; a second one waits
    for no batch and no evaluation either. Both leave whole weights and return the history. A loss or gradient
    that is not finite raises Diverged, with the step and what to try; the model has the last weights known to
    be good. ValueError for arguments that make no sense, StateError for a state that does not fit.
    """
    from accelerate import Accelerator, DistributedDataParallelKwargs
    accelerator = Accelerator(kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=True)])
    on_gpu = accelerator.device.type == "cuda"
    chosen: Any = ("bf16" if on_gpu else "float32") if precision == "auto" else precision
    settings = Settings(steps, lr, warmup, decay, lr_end, clip, accumulate, weight_decay,
                        (betas[0], betas[1]), chosen, evaluate_every, patience, accelerator.num_processes)
    if patience is not None and evaluate is None and score is None:
        raise ValueError("patience= waits for a better score or validation loss: give score= or evaluate= too")
    if save_to is None and (save_every is not None or resume):
        raise ValueError("save_every= and resume= need a folder: give save_to= too")
    source = Source(batches, processes=accelerator.num_processes, rank=accelerator.process_index,
                    accumulate=accumulate)
    with returned(model) as device:
        run = Run(model, settings, accelerator, source, compile=compile, floor=floor)
        if evaluate is not None or score is not None:
            run.validator = Validator(evaluate, score, patience, run.update.loss, accelerator, device)
        if save_to is not None:
            run.prepare_saving(RunStates(save_to), save_every, resume)
        if show and accelerator.is_main_process:
            run.progress = progress(f"Training {type(model).__name__}", steps=steps, done=run.step, floor=floor,
                                    line=show is True)
        return run()


@contextmanager
def returned(model: nn.Module) -> Iterator[torch.device]:
    """Gives the device that a model is on; however the block ends, the model is there again afterwards."""
    device = device_of(model)
    try:
        yield device
    except BaseException:
        with suppress(RuntimeError):  # an error of the GPU itself is raised again by every later call
            model.to(device)
        raise
    model.to(device)


class Run:
    """A training run under way, made of what `fit` was given; calling it trains. ``step`` counts the updates made."""

    def __init__(self, model: nn.Module, settings: Settings, accelerator: "Accelerator", source: Source, *,
                 compile: bool | Literal["auto"], floor: float | None) -> None:
        self.model, self.settings, self.accelerator, self.source = model, settings, accelerator, source
        self.update = Update(model, settings, accelerator, compile, lambda note: self.history.notes.append(note))
        self.history = History(settings.steps, accelerator.device.type, settings.precision,
                               accelerator.num_processes, floor)
        self.losses = LossBuffer(self.history, settings, self.update)
        self.step = 0
        self.validator: Validator | None = None
        self.states: RunStates | None = None
        self.save_every: int | None = None
        self.saved: int | None = None
        self.interrupt = Interrupt()
        self.progress: Progress = Silent()
        if accelerator.process_index:
            torch.manual_seed((torch.initial_seed() + accelerator.process_index) % 2**63)

    def __call__(self) -> History:
        """Make the steps that are left, and give the history. Diverged where a loss or gradient is not finite."""
        self.clock = time.monotonic() - self.history.seconds
        self.update.loss.train()
        try:
            self.end(*self.guarded())
        except Diverged as problem:
            self.end("diverged", str(problem))
            raise
        except BaseException as problem:
            self.progress.finish(f"stopped by {type(problem).__name__}")
            raise
        return self.history

    def guarded(self) -> tuple[Ending, str]:
        """Make the steps, with interrupts held back until the weights are whole; returns how the run ended, and why."""
        try:
            with self.interrupt:
                return self.steps()
        except KeyboardInterrupt:
            if self.accelerator.num_processes > 1:
                raise
            return self.interrupted()

    def steps(self) -> tuple[Ending, str]:
        """Make step after step, until there is a reason to end: returns how the run ended, and the reason in words."""
        settings = self.settings
        while self.step < settings.steps:
            why = self.validator.should_stop(self.history) if self.validator else None
            if why:
                return self.close("stopped early", f"stopped early at step {self.step}: {why}")
            batches = self.source.draw(self.step)
            if not batches:
                return self.close("out of batches",
                                  f"the batches ran out after {self.step} of {settings.steps} steps")
            with self.interrupt.whole():
                start = time.monotonic()
                self.losses.record(self.update(batches, rate(settings, self.step)), rate(settings, self.step))
                self.step += 1
            self.update.compiled.updated(settings.steps - self.step, start)
            saving = self.save_every is not None and self.step % self.save_every == 0
            validating = self.step % settings.evaluate_every == 0 or self.step == settings.steps
            stop = self.interrupt.asked and self.accelerator.num_processes == 1
            if self.losses.full or saving or validating or stop:
                stop = self.read()
            if self.validator and validating:
                self.outside_training(self.validate)
            if stop:
                return self.interrupted()
            if saving and self.step < settings.steps:
                self.outside_training(self.save)
        return self.close("completed", f"all {settings.steps} steps done")

    def read(self) -> bool:
        """Take the waiting losses into the history and show them; returns whether somebody asked to stop."""
        stop, fresh = self.losses.read(self.interrupt.asked)
        self.history.seconds = time.monotonic() - self.clock
        if fresh:
            self.progress.losses(self.step, fresh, self.history.tokens_per_second)
        return stop

    def outside_training(self, work: Any) -> None:
        """Do some work that is not training; its seconds count as the history's ``overhead``."""
        start = time.monotonic()
        work()
        self.history.overhead += time.monotonic() - start

    def validate(self) -> None:
        """Measure the validation loss and the score; add them to the history, and the loss to what is shown."""
        assert self.validator
        self.validator.evaluate_and_log(self.history, self.step)
        if self.validator.held_out is not None:
            self.progress.validation(self.step, self.history.validation[-1][1])

    def interrupted(self) -> tuple[Ending, str]:
        """End the run because a person asked for it: close it, and give the ending and its reason."""
        return self.close("interrupted", f"interrupted after step {self.step} of {self.settings.steps}")

    def close(self, ending: Ending, reason: str) -> tuple[Ending, str]:
        """Take in the last losses and save the state, so that the run may still go on; returns what it was given."""
        self.read()
        self.outside_training(self.save)
        return ending, reason

    def end(self, ending: Ending, reason: str) -> None:
        """Note how the run ended, and leave the model in evaluation mode, with its best
        weights where they were kept."""
        if self.validator:
            self.validator.restore_best()
        self.update.optimizer.zero_grad(set_to_none=True)
        self.update.loss.eval()
        self.accelerator.wait_for_everyone()
        self.history.seconds = time.monotonic() - self.clock
        self.history.ended, self.history.reason = ending, reason
        self.progress.finish(reason)

    def save(self) -> None:
        """Save the state of this step, unless it has been; a disk that refuses is noted in the history, not raised."""
        if not self.states or self.saved == self.step:
            return
        device = self.accelerator.device
        random = {name: self.accelerator.gather(state[None].to(device)).cpu()
                  for name, state in random_states(device).items()}
        self.saved = self.step
        if not self.accelerator.is_main_process:
            return
        best = self.validator.best if self.validator else {}
        self.history.seconds = time.monotonic() - self.clock
        try:
            self.states.save(State.of(self.step, self.model, self.update.optimizer, best, random, self.history,
                                     self.settings))
        except OSError as problem:
            self.warn_save_failed(problem)

    def warn_save_failed(self, problem: OSError) -> None:
        """Note in the history that a save failed, and warn the first time."""
        assert self.states
        text = (f"step {self.step}: the state could not be saved to {self.states.folder} ({problem}); "
                "training goes on, and what was saved before is still there")
        if not any("could not be saved" in note for note in self.history.notes):
            warnings.warn(text, stacklevel=2)
        self.history.notes.append(text)

    def prepare_saving(self, states: RunStates, every: int | None, resume: bool | Literal["longer"]) -> None:
        """Take a folder into use for saving; with ``resume``, go on from the newest state in it.

        StateError where there is a state and ``resume`` is False, or where it does not fit the model or the settings.
        """
        self.states, self.save_every = states, every
        state = states.newest()
        if state is None:
            return
        if not resume:
            raise StateError(f"{states.folder} holds a run saved at step {state.step}: go on with it by "
                             "resume=True, or save to another folder")
        state.fit_for(self.model, self.settings, longer=resume == "longer")
        state.restore(self.model, self.update.optimizer)
        if self.validator:
            self.validator.best = {name: t.to(self.accelerator.device) for name, t in state.part("best").items()}
        state.history.steps, state.history.floor = self.settings.steps, self.history.floor
        self.history = self.losses.history = state.history
        self.step = self.saved = state.step
        self.history.notes += [f"resumed at step {state.step} elsewhere: {difference}"
                               for difference in contrast(state.versions, versions())]
        self.source.skip(self.step)
        rows = {name: rows[self.accelerator.process_index] for name, rows in state.part("random").items()}
        set_random_states(rows, self.accelerator.device)
