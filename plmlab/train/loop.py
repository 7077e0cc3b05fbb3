"""The training loop: on a CPU, on a GPU, or on several GPUs under ``accelerate launch``."""

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
from plmlab.train.settings import Decay, Optimizer, Precision, Settings
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
    weight_decay: float = 0.01, betas: tuple[float, float] = (0.9, 0.95), optimizer: Optimizer = "adamw",
    precision: Precision | Literal["auto"] = "auto", compile: bool | Literal["auto"] = "auto",
    evaluate: HeldOut | None = None, score: Score | None = None, evaluate_every: int = 100,
    patience: int | None = None,
    save_to: str | PathLike[str] | None = None, save_every: int | None = None, resume: bool | Literal["longer"] = False,
    show: bool | Literal["auto"] = "auto", floor: float | None = None,
) -> History:
    """Train ``model`` for ``steps`` updates, and return the history of the run.

    ``model.loss(batch)`` is the mean loss over the batch's targets. The model is trained in place, on the GPU if there
    is one, and returned to its original device in evaluation mode, so that later code need not move any tensor.
    ``score``, and ``evaluate`` if it is a function, are also called with the model on its original device, except with
    several processes.

    ``batches``: a function i → batch; a list, which is cycled; or an iterable of batches, consumed once. Update s uses
    the batches s · n … s · n + n − 1, where n = processes · ``accumulate``, and the gradient of the mean loss over all
    their targets. Two processes therefore give the same curve as one process with batches of twice the size.

    ``lr`` is reached after ``warmup`` steps and decays to ``lr_end`` by the schedule ``decay``. Gradients are clipped
    to the norm ``clip`` (None: not clipped). ``optimizer``: "adamw" or "adafactor", which T5 was trained with
    (`plmlab.train.optimizers`); ``betas`` and ``weight_decay`` are AdamW's.

    ``precision``, "auto": bf16 autocast on a GPU, float32 on a CPU. ``compile``, "auto": ``torch.compile`` on a GPU, if
    all batches have the same shape and the run is long enough (`plmlab.train.compiling`); a failed compilation is
    recorded in the history's notes, and training continues in eager mode. On a CPU, the same seed and number of threads
    give a bit-identical curve.

    ``evaluate``: batches, or a function that returns new ones; the validation loss is computed every ``evaluate_every``
    steps and at the end. ``score``: a function from the model to its score on a development set (higher is better),
    evaluated at the same steps. ``patience``: stop after this number of evaluations without a higher score (without
    ``score``: without a lower validation loss), and restore the best weights, however the run ends.

    ``save_to``: a folder for the state of the run, saved every ``save_every`` steps (None: only at the end or when
    interrupted). A failed save is reported in a warning and in the history's notes; training continues. ``resume=True``
    resumes from the saved state, including torch's random state (on a CPU bit-identical to an uninterrupted run), or
    starts a new run if there is none. ``resume="longer"`` also resumes a run that was planned for fewer steps; the
    learning rate then follows the schedule of the longer run.

    ``show``: "auto" shows a live curve in a notebook and a progress bar elsewhere, True a progress bar, False nothing.
    ``floor`` is the entropy lower bound of the loss, drawn in the curve.

    An interrupt (Ctrl-C, or a notebook's stop button) ends the run after the current step; a second interrupt ends it
    without waiting for a batch or an evaluation. In both cases the weights are consistent and the history is returned.
    Raises Diverged, with the step and advice, if a loss or gradient is not finite; the model then has the last weights
    known to be good. Raises ValueError for invalid arguments, StateError for a saved state that does not fit.
    """
    from accelerate import Accelerator, DistributedDataParallelKwargs
    accelerator = Accelerator(kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=True)])
    on_gpu = accelerator.device.type == "cuda"
    chosen: Any = ("bf16" if on_gpu else "float32") if precision == "auto" else precision
    settings = Settings(steps, lr, warmup, decay, lr_end, clip, accumulate, weight_decay,
                        (betas[0], betas[1]), chosen, evaluate_every, patience, accelerator.num_processes, optimizer)
    if patience is not None and evaluate is None and score is None:
        raise ValueError("patience= needs a score or a validation loss: give score= or evaluate= too")
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
    """Context manager that yields the model's device and moves the model back to it on exit."""
    device = device_of(model)
    try:
        yield device
    except BaseException:
        with suppress(RuntimeError):  # an error of the GPU itself is raised again by every later call
            model.to(device)
        raise
    model.to(device)


class Run:
    """A training run, built from the arguments of `fit`; calling it trains. ``step`` is the number of updates made so
    far."""

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
        """Perform the remaining steps and return the history. Raises Diverged if a loss or gradient is not finite."""
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
        """Perform the steps, deferring interrupts until an update is complete. Returns how the run ended and the
        reason."""
        try:
            with self.interrupt:
                return self.steps()
        except KeyboardInterrupt:
            if self.accelerator.num_processes > 1:
                raise
            return self.interrupted()

    def steps(self) -> tuple[Ending, str]:
        """Perform steps until there is a reason to stop. Returns how the run ended and the reason in words."""
        settings = self.settings
        while self.step < settings.steps:
            reason = self.validator.should_stop(self.history) if self.validator else None
            if reason:
                return self.close("stopped early", f"stopped early at step {self.step}: {reason}")
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
        """Move the buffered losses into the history and display them. Returns whether a stop was requested."""
        stop, new_losses = self.losses.read(self.interrupt.asked)
        self.history.seconds = time.monotonic() - self.clock
        if new_losses:
            self.progress.losses(self.step, new_losses, self.history.tokens_per_second)
        return stop

    def outside_training(self, work: Any) -> None:
        """Run ``work``, which is not part of training, and add its time to the history's ``overhead``."""
        start = time.monotonic()
        work()
        self.history.overhead += time.monotonic() - start

    def validate(self) -> None:
        """Compute the validation loss and the score, record them, and display the loss."""
        assert self.validator
        self.validator.evaluate_and_log(self.history, self.step)
        if self.validator.held_out is not None:
            self.progress.validation(self.step, self.history.validation[-1][1])

    def interrupted(self) -> tuple[Ending, str]:
        """Close the run after an interrupt. Returns how the run ended and the reason."""
        return self.close("interrupted", f"interrupted after step {self.step} of {self.settings.steps}")

    def close(self, ending: Ending, reason: str) -> tuple[Ending, str]:
        """Record the last losses and save the state, so that the run can be resumed. Returns its arguments
        unchanged."""
        self.read()
        self.outside_training(self.save)
        return ending, reason

    def end(self, ending: Ending, reason: str) -> None:
        """Record how the run ended; leave the model in evaluation mode, with its best weights if they were kept."""
        if self.validator:
            self.validator.restore_best()
        self.update.optimizer.zero_grad(set_to_none=True)
        self.update.loss.eval()
        self.accelerator.wait_for_everyone()
        self.history.seconds = time.monotonic() - self.clock
        self.history.ended, self.history.reason = ending, reason
        self.progress.finish(reason)

    def save(self) -> None:
        """Save the state after this step, unless already saved. A write error is recorded in the history, not
        raised."""
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
        """Record in the history that saving failed, and warn the first time."""
        assert self.states
        text = (f"step {self.step}: the state could not be saved to {self.states.folder} ({problem}); "
                "training continues, and the previously saved state is kept")
        if not any("could not be saved" in note for note in self.history.notes):
            warnings.warn(text, stacklevel=2)
        self.history.notes.append(text)

    def prepare_saving(self, states: RunStates, every: int | None, resume: bool | Literal["longer"]) -> None:
        """Set the folder for saving; with ``resume``, resume from its newest state.

        Raises StateError if a state exists and ``resume`` is False, or if the state does not fit the model or the
        settings.
        """
        self.states, self.save_every = states, every
        state = states.newest()
        if state is None:
            return
        if not resume:
            raise StateError(f"{states.folder} holds a run saved at step {state.step}: resume it with "
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
