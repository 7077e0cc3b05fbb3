"""The saved state of a run (safetensors and JSON), from which training resumes exactly."""

import json
import platform
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, is_dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Self

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from plmlab.atomic import clear, draft_of, place
from plmlab.train.history import History
from plmlab.train.settings import Settings
from plmlab.weights import differences, load_tensors, weights

FORMAT = 2
TENSORS, FACTS = "state.safetensors", "state.json"


class StateError(ValueError):
    """Raised when a saved state cannot be resumed; the message gives the reason."""


def versions() -> dict[str, str]:
    """What exact numerical results depend on besides the settings: Python, torch, machine type, threads."""
    return {"python": platform.python_version(), "torch": torch.__version__, "machine": platform.machine(),
            "threads": str(torch.get_num_threads())}


def description(model: nn.Module) -> dict[str, Any]:
    """Describe a model as a JSON-compatible dict: ``type``, the class name, and ``config``, empty for a model without
    one."""
    config = getattr(model, "config", None)
    values = asdict(config) if is_dataclass(config) and not isinstance(config, type) else {}
    return json.loads(json.dumps({"type": type(model).__name__, "config": values}, default=str))


def contrast(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """List the differences between two dicts, one phrase per key with its old and new value."""
    return [f"{name} was {then.get(name, 'missing')}, and is now {now.get(name, 'missing')}"
            for name in sorted({*then, *now}) if then.get(name) != now.get(name)]


def random_states(device: torch.device) -> dict[str, Tensor]:
    """The states of torch's random number generators in this process: "cpu", and "cuda" on a GPU."""
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states


def set_random_states(states: Mapping[str, Tensor], device: torch.device) -> None:
    """Restore torch's random number generators; a device without a saved state is left unchanged.

    The states are cloned, because torch reads the wrong bytes from a tensor with a storage offset.
    """
    torch.set_rng_state(states["cpu"].clone())
    if device.type == "cuda" and "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"].clone(), device)


@dataclass(frozen=True)
class State:
    """The saved state of a run after ``step`` updates.

    The names of the ``tensors`` start with model, optimizer, best or random. ``settings`` is the result of
    `Settings.shaping`, ``model`` that of `description`, and ``versions`` that of the function `versions`.
    """

    step: int
    tensors: dict[str, Tensor]
    history: History
    settings: dict[str, Any]
    model: dict[str, Any]
    versions: dict[str, str]

    @classmethod
    def of(cls, step: int, model: nn.Module, optimizer: torch.optim.Optimizer, best: Mapping[str, Tensor],
           random: Mapping[str, Tensor], history: History, settings: Settings) -> Self:
        """Collect the current state. ``best`` holds the best weights so far; ``random`` has one row per process."""
        names: dict[Tensor, str] = {parameter: name for name, parameter in model.named_parameters()}
        moments = {f"optimizer.{kind}.{names[parameter]}": tensor
                   for parameter, kinds in optimizer.state.items() for kind, tensor in kinds.items()}
        tensors = (under("model", weights(model)) | moments | under("best", best) | under("random", random))
        return cls(step, tensors, history, settings.shaping(), description(model), versions())

    def part(self, name: str) -> dict[str, Tensor]:
        """The saved tensors whose names start with ``name.``, without this prefix."""
        return {key.removeprefix(f"{name}."): tensor for key, tensor in self.tensors.items()
                if key.startswith(f"{name}.")}

    def fit_for(self, model: nn.Module, settings: Settings, *, longer: bool = False) -> None:
        """Check that the run can be resumed with this model and these settings. Raises a StateError that lists the
        differences."""
        then, now = self.model, description(model)
        problems = contrast({"the model": then["type"]}, {"the model": now["type"]})
        problems += contrast(then["config"], now["config"])
        free = {"steps", "warmup"} if longer and settings.steps >= self.settings.get("steps", 0) else set()
        problems += contrast(*({name: value for name, value in values.items() if name not in free}
                               for values in (self.settings, settings.shaping())))
        problems = problems or differences(model, self.part("model"))
        if not problems and self.step > settings.steps:
            problems = [f"it already has {self.step} steps, more than steps={settings.steps}"]
        if problems:
            raise StateError("the saved run differs: " + "; ".join(problems) +
                             ". To resume it, call fit with the same arguments; to start again, save to another folder")

    def restore(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Load the saved weights into the model and the saved moments into the optimizer."""
        load_tensors(model, self.part("model"))
        parameters = dict(model.named_parameters())
        for name, tensor in self.part("optimizer").items():
            kind, parameter = name.split(".", 1)
            owner = parameters[parameter]
            optimizer.state[owner][kind] = tensor.to(owner.device)


def under(heading: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Prepend ``heading.`` to the names of the tensors."""
    return {f"{heading}.{name}": tensor for name, tensor in tensors.items()}


class RunStates:
    """The folder that holds a run's saved state, in a subfolder named after the step: ``step-00000120``."""

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)

    def states(self) -> list[Path]:
        """Folders of the complete states, oldest first."""
        return sorted(self.folder.glob("step-*"))

    def of(self, step: int) -> Path:
        """Path of the state after ``step`` updates, whether or not it exists."""
        return self.folder / f"step-{step:08d}"

    def save(self, state: State) -> None:
        """Save the state, then delete the previous one. Raises OSError if writing fails."""
        target = self.of(state.step)
        facts = {"format": FORMAT, "step": state.step, "settings": state.settings, "model": state.model,
                 "versions": state.versions, "history": asdict(state.history)}
        tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in state.tensors.items()}
        place(target, {TENSORS: save(tensors), FACTS: json.dumps(facts).encode()})
        for leftover in self.folder.glob(".step-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        for older in self.states():
            if older != target:
                self.discard(older)

    def discard(self, state: Path) -> None:
        """Delete a state atomically, by renaming it first, so that no partial state keeps the name of a complete
        one."""
        clear(draft_of(state))
        state.rename(draft_of(state))
        shutil.rmtree(draft_of(state), ignore_errors=True)

    def newest(self) -> State | None:
        """Load the newest complete state, or return None if there is no state. Raises StateError if it cannot be
        read."""
        if not self.states():
            return None
        folder = self.states()[-1]
        try:
            facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
            if facts["format"] != FORMAT:
                age, advice = ("a newer", "update plmlab to resume it") if facts["format"] > FORMAT else \
                    ("an older", "resume it with that version, or give another folder for a new run")
                raise StateError(f"{folder} was saved by {age} plmlab (format {facts['format']}; this version "
                                 f"reads format {FORMAT}): {advice}")
            tensors = load((folder / TENSORS).read_bytes())
            history = History.from_dict(facts["history"], str(folder))
            return State(facts["step"], tensors, history, facts["settings"], facts["model"],
                         facts["versions"])
        except (OSError, json.JSONDecodeError, KeyError, TypeError, SafetensorError) as problem:
            raise StateError(f"{folder} is damaged ({problem}): move it elsewhere to restart the run, or to resume "
                             "from an older state in the same folder") from None
