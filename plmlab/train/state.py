"""The state of a run on disk, from which it goes on as if it had never stopped: safetensors and JSON."""

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
    """A saved state that no run can go on from; the message says why."""


def versions() -> dict[str, str]:
    """What a curve's last digits depend on besides the settings: Python, torch, the machine's type, the threads."""
    return {"python": platform.python_version(), "torch": torch.__version__, "machine": platform.machine(),
            "threads": str(torch.get_num_threads())}


def description(model: nn.Module) -> dict[str, Any]:
    """What a model is, as a dict for JSON: ``type``, the name of its class, and ``config``, empty if it has none."""
    config = getattr(model, "config", None)
    told = asdict(config) if is_dataclass(config) and not isinstance(config, type) else {}
    return json.loads(json.dumps({"type": type(model).__name__, "config": told}, default=str))


def contrast(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Where two tables differ, a phrase for each name: what it was, and what it is now."""
    return [f"{name} was {then.get(name, 'not there')}, and is now {now.get(name, 'not there')}"
            for name in sorted({*then, *now}) if then.get(name) != now.get(name)]


def random_states(device: torch.device) -> dict[str, Tensor]:
    """The states of torch's generators on this process, which dropout draws from: "cpu", and "cuda" on a GPU."""
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states


def set_random_states(states: Mapping[str, Tensor], device: torch.device) -> None:
    """Set torch's generators to saved states; that of a device which the state was not saved on stays as it is.

    Clones, because torch reads the wrong bytes from a tensor that begins in the middle of its storage.
    """
    torch.set_rng_state(states["cpu"].clone())
    if device.type == "cuda" and "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"].clone(), device)


@dataclass(frozen=True)
class State:
    """A run after ``step`` updates, as it is saved.

    The names of its ``tensors`` begin with model, optimizer, best or random. ``settings`` are those of
    `Settings.shaping`, ``model`` is the model's `description`, ``versions`` are what `versions` gave.
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
        """The state to be saved now. ``best`` are the best weights so far, ``random`` has a row for each process."""
        names: dict[Tensor, str] = {parameter: name for name, parameter in model.named_parameters()}
        moments = {f"optimizer.{kind}.{names[parameter]}": tensor
                   for parameter, kinds in optimizer.state.items() for kind, tensor in kinds.items()}
        tensors = (under("model", weights(model)) | moments | under("best", best) | under("random", random))
        return cls(step, tensors, history, settings.shaping(), description(model), versions())

    def part(self, name: str) -> dict[str, Tensor]:
        """The saved tensors whose names begin with ``name`` and a dot, under what follows in their names."""
        return {key.removeprefix(f"{name}."): tensor for key, tensor in self.tensors.items()
                if key.startswith(f"{name}.")}

    def fit_for(self, model: nn.Module, settings: Settings, *, longer: bool = False) -> None:
        """Check that this model can go on from here, under these settings; a StateError names what keeps it from it."""
        then, now = self.model, description(model)
        problems = contrast({"the model": then["type"]}, {"the model": now["type"]})
        problems += contrast(then["config"], now["config"])
        free = {"steps", "warmup"} if longer and settings.steps >= self.settings.get("steps", 0) else set()
        problems += contrast(*({name: value for name, value in told.items() if name not in free}
                               for told in (self.settings, settings.shaping())))
        problems = problems or differences(model, self.part("model"))
        if not problems and self.step > settings.steps:
            problems = [f"it has made {self.step} steps already, more than steps={settings.steps}"]
        if problems:
            raise StateError("the saved run was another one: " + "; ".join(problems) +
                             ". Call fit as then to go on with it, or save to another folder to start anew")

    def restore(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Copy the saved weights into the model, and the moments into the optimizer."""
        load_tensors(model, self.part("model"))
        parameters = dict(model.named_parameters())
        for name, tensor in self.part("optimizer").items():
            kind, parameter = name.split(".", 1)
            owner = parameters[parameter]
            optimizer.state[owner][kind] = tensor.to(owner.device)


def under(heading: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors with ``heading`` and a dot before their names."""
    return {f"{heading}.{name}": tensor for name, tensor in tensors.items()}


class RunStates:
    """The folder in which a run keeps its newest state, in a folder of its own named by the step: ``step-00000120``."""

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)

    def states(self) -> list[Path]:
        """The folders of the complete states, oldest first."""
        return sorted(self.folder.glob("step-*"))

    def of(self, step: int) -> Path:
        """The folder of the state after so many updates, whether or not it is there."""
        return self.folder / f"step-{step:08d}"

    def save(self, state: State) -> None:
        """Write the state; the one before goes when this one is complete. OSError where the disk refuses."""
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
        """Remove a state without ever leaving half of it under its name."""
        clear(draft_of(state))
        state.rename(draft_of(state))
        shutil.rmtree(draft_of(state), ignore_errors=True)

    def newest(self) -> State | None:
        """The newest complete state, or None where there is none; a StateError says why one cannot be read."""
        if not self.states():
            return None
        folder = self.states()[-1]
        try:
            facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
            if facts["format"] != FORMAT:
                age, way = ("a newer", "update plmlab to go on with it") if facts["format"] > FORMAT else \
                    ("an older", "go on with that one, or give another folder for a new run")
                raise StateError(f"{folder} was saved by {age} plmlab (format {facts['format']}; this one "
                                 f"reads {FORMAT}): {way}")
            tensors = load((folder / TENSORS).read_bytes())
            history = History.from_dict(facts["history"], str(folder))
            return State(facts["step"], tensors, history, facts["settings"], facts["model"],
                         facts["versions"])
        except (OSError, json.JSONDecodeError, KeyError, TypeError, SafetensorError) as problem:
            raise StateError(f"{folder} is damaged ({problem}): move it elsewhere, and the run starts again "
                             "or from an older state beside it") from None
