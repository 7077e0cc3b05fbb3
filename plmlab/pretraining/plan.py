"""The configuration of a pretraining run (model, corpus, hyperparameters, output), with its command line and run
folder."""

import hashlib
import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from math import inf
from pathlib import Path
from typing import Any, Self

from plmlab.atomic import replace
from plmlab.checkpoints import README
from plmlab.models.registry import ModelType, pretrainable
from plmlab.objectives.registry import OBJECTIVES
from plmlab.train.state import FACTS, TENSORS

FILE = "plan.json"
MAY_CHANGE = ("steps", "out")
"""The options that may change when a run is continued."""
STATE = (FACTS, TENSORS)
"""The files that hold a checkpoint's training state, from which training can be continued."""
PRECISIONS, COMPILES = ("auto", "float32", "bf16"), ("auto", "yes", "no")


@dataclass(frozen=True)
class Plan:
    """The configuration of one pretraining run; ``plmlab pretrain --help`` explains the fields.

    ``resume`` is the finished checkpoint from which training continues, if any. Raises ValueError for invalid
    values.
    """

    model: str
    corpus: str
    out: str
    steps: int = 1000
    batch: int = 32
    accumulate: int = 1
    time: int = 64
    vocab: int = 2000
    layers: int = 4
    width: int = 128
    heads: int = 4
    lr: float = 1e-3
    seed: int = 0
    held_out: float = 0.05
    save_every: int = 250
    precision: str = "auto"
    compile: str = "auto"
    choose: str = ""
    resume: str = ""

    def __post_init__(self) -> None:
        if self.model not in pretrainable():
            raise ValueError(f"{self.model!r} can't be pretrained; choose one of {', '.join(sorted(pretrainable()))}")
        for name in ("steps", "batch", "accumulate", "vocab", "layers", "width", "heads", "save_every"):
            if getattr(self, name) < 1:
                raise ValueError(f"{option(name)} is {getattr(self, name)}; give an integer of at least 1")
        if self.time < 4:
            raise ValueError(f"--time is {self.time}; an example needs at least 4 tokens")
        if self.width % self.heads:
            raise ValueError(f"--width is {self.width}, which is not divisible by {self.heads} heads; give a multiple")
        if not 0 < self.lr < inf:
            raise ValueError(f"--lr is {self.lr:g}; give a finite number above 0, such as 1e-3")
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"--seed is {self.seed}; give an integer from 0 to 2**63 - 1")
        if not 0 < self.held_out < 1:
            raise ValueError(f"--held-out is {self.held_out}; give a fraction of the text, above 0 and below 1")
        for name, known in (("precision", PRECISIONS), ("compile", COMPILES)):
            if getattr(self, name) not in known:
                raise ValueError(f"--{name} is {getattr(self, name)!r}; choose one of {', '.join(known)}")
        self.choices  # noqa: B018
        folder = Path(self.out)
        if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
            raise ValueError(f"{folder} already exists and is not overwritten; give another --out")

    @property
    def kind(self) -> ModelType:
        """The type of the model to pretrain."""
        return pretrainable()[self.model]

    @property
    def choices(self) -> dict[str, float]:
        """The parameters of the training objective that ``choose`` sets, by name.

        Raises ValueError for unknown names and for values out of range.
        """
        pretraining = self.kind.pretraining
        known = {choice.name: choice for objective in OBJECTIVES.values()
                 if pretraining and objective.make is pretraining.registered for choice in objective.choices}
        chosen = {}
        for setting in filter(None, self.choose.split(",")):
            name, _, number = setting.partition("=")
            try:
                if not known[name].low <= float(number) <= known[name].high:
                    raise ValueError
            except (KeyError, ValueError):
                ranges = ", ".join(f"{choice.name}={choice.low:g} … {choice.high:g}" for choice in known.values())
                parameters = f"the parameters {ranges}" if ranges else "no parameters"
                raise ValueError(f"--choose is {self.choose!r}; the objective of {self.model} has "
                                 f"{parameters}") from None
            chosen[name] = float(number)
        return chosen

    @property
    def command(self) -> str:
        """The command line of this plan, with all options."""
        options = [f"{option(name)} {shlex.quote(str(value))}" for name, value in asdict(self).items()
                   if name != "model" and value != ""]
        return " ".join(["plmlab pretrain", self.model, *options])

    @property
    def run(self) -> Path:
        """The folder next to ``out`` that holds the run until it is complete; its name contains a hash of the plan."""
        digest = hashlib.sha256(self.command.encode()).hexdigest()[:8]
        return Path(self.out).with_name(f"{Path(self.out).name}.run-{digest}")

    def save(self, run: Path) -> None:
        """Write the plan to the folder ``run``."""
        run.mkdir(parents=True, exist_ok=True)
        replace(run / FILE, (json.dumps(asdict(self), indent=1) + "\n").encode())

    @classmethod
    def resumed(cls, run: Path, changes: Mapping[str, Any]) -> Self:
        """Load the plan of an interrupted run and apply ``changes``.

        Raises ValueError if the folder contains no run, or if a change is not allowed.
        """
        try:
            stored = json.loads((run / FILE).read_text(encoding="utf-8"))
            if not isinstance(stored, dict) or {*USUAL, *stored} != {field.name for field in fields(cls)}:
                raise TypeError
        except (OSError, ValueError, TypeError):
            raise ValueError(f"{run} contains neither an interrupted run of plmlab pretrain nor a checkpoint. An "
                             "interrupted run prints its folder; the command that started it also continues it, "
                             "without --resume") from None
        return cls.with_changes(run, USUAL | stored, changes)

    @classmethod
    def longer(cls, checkpoint: Path, changes: Mapping[str, Any]) -> Self:
        """The plan for training a finished checkpoint further, by default into a folder next to it.

        If the checkpoint includes its training state, the same run continues to a larger total number of steps. If it
        has only weights, a new run starts from them, and every option may change. Raises ValueError if the checkpoint's
        README contains no command, or if the requested steps are already done.
        """
        stored = commanded(checkpoint)
        more = {"out": f"{checkpoint}-{changes.get('steps', stored['steps'])}", **changes}
        options = stored | {"resume": str(checkpoint)}
        if not has_state(checkpoint):
            return cls(**options | more)
        if more.get("steps", 0) <= stored["steps"]:
            raise ValueError(f"the {stored['steps']} steps of {checkpoint} are done; to train it further, give a "
                             f"larger total, such as --steps {2 * stored['steps']}")
        return cls.with_changes(checkpoint, options, more)

    @classmethod
    def with_changes(cls, run: Path, told: Mapping[str, Any], changes: Mapping[str, Any]) -> Self:
        """The plan of a run with ``changes`` applied.

        Raises ValueError for fewer steps, and for a change of an option that is not in `MAY_CHANGE`.
        """
        forbidden = [f"{option(name)} was {told[name]}, and is now {value}" for name, value in changes.items()
                     if name not in MAY_CHANGE and value != told[name]]
        if forbidden:
            raise ValueError(f"the run in {run} can't be continued with other options: {'; '.join(forbidden)}. Only "
                             f"{', '.join(map(option, MAY_CHANGE))} may change")
        if changes.get("steps", told["steps"]) < told["steps"]:
            raise ValueError(f"--steps is {changes['steps']}, but the run in {run} was planned for {told['steps']}; "
                             f"give at least {told['steps']}")
        return cls(**{**told, **changes})


USUAL = {field.name: field.default for field in fields(Plan) if field.default is not MISSING}
"""The default values of the optional fields of a plan."""


def has_state(checkpoint: Path) -> bool:
    """Whether a checkpoint includes its training state."""
    return all((checkpoint / name).is_file() for name in STATE)


def commanded(checkpoint: Path) -> dict[str, Any]:
    """All options of the command in a checkpoint's README, as arguments of `Plan`.

    Raises ValueError if the README contains no command.
    """
    by_option = {option(field.name): field for field in fields(Plan)}
    try:
        text = (checkpoint / README).read_text(encoding="utf-8")
        _, _, model, *words = shlex.split(re.search(r"^plmlab pretrain .+$", text, re.MULTILINE)[0])  # type: ignore
        given = {by_option[name].name: by_option[name].type(value)  # type: ignore[operator]
                 for name, value in zip(words[::2], words[1::2], strict=True)}
        return USUAL | {"model": model, "corpus": given.pop("corpus"), "out": given.pop("out")} | given
    except (OSError, ValueError, TypeError, KeyError):
        raise ValueError(f"{checkpoint} can't be trained further: its {README} does not contain the plmlab pretrain "
                         "command that created it") from None


def option(name: str) -> str:
    """The command-line option for a field of a plan."""
    return "MODEL" if name == "model" else f"--{name.replace('_', '-')}"
