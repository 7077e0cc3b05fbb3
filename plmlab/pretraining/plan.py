"""What to train, on what, how long, and where to: a plan, its command line, and the folder of its run."""

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
"""What a run that goes on may be told anew."""
STATE = (FACTS, TENSORS)
"""The files of a checkpoint that hold the state of its training, to go on from."""
PRECISIONS, COMPILES = ("auto", "float32", "bf16"), ("auto", "yes", "no")


@dataclass(frozen=True)
class Plan:
    """One pretraining; ``plmlab pretrain --help`` explains the names. ``resume`` is the finished checkpoint that it
    goes on from, if any. ValueError for what makes no sense."""

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
                raise ValueError(f"{option(name)} is {getattr(self, name)}; give a whole number, 1 or more")
        if self.time < 4:
            raise ValueError(f"--time is {self.time}; an example needs at least 4 tokens")
        if self.width % self.heads:
            raise ValueError(f"--width {self.width} can't be shared out among {self.heads} heads; give a multiple")
        if not 0 < self.lr < inf:
            raise ValueError(f"--lr is {self.lr:g}; give a number above 0, such as 1e-3")
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"--seed is {self.seed}; give a whole number from 0 up to 2**63 - 1")
        if not 0 < self.held_out < 1:
            raise ValueError(f"--held-out is {self.held_out}; give a share of the text, above 0 and below 1")
        for name, known in (("precision", PRECISIONS), ("compile", COMPILES)):
            if getattr(self, name) not in known:
                raise ValueError(f"--{name} is {getattr(self, name)!r}; choose one of {', '.join(known)}")
        self.choices  # noqa: B018
        folder = Path(self.out)
        if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
            raise ValueError(f"{folder} is there already, and what is in it stays: give another --out")

    @property
    def kind(self) -> ModelType:
        """The model type that is pretrained."""
        return pretrainable()[self.model]

    @property
    def choices(self) -> dict[str, float]:
        """What is chosen of the training's objective, by name; ValueError for what it does not let one choose."""
        how = self.kind.pretraining
        known = {choice.name: choice for one in OBJECTIVES.values() if how and one.make is how.objective
                 for choice in one.choices}
        chosen = {}
        for told in filter(None, self.choose.split(",")):
            name, _, number = told.partition("=")
            try:
                if not known[name].low <= float(number) <= known[name].high:
                    raise ValueError
            except (KeyError, ValueError):
                ranges = ", ".join(f"{one.name}={one.low:g} … {one.high:g}" for one in known.values()) or "nothing"
                raise ValueError(f"--choose is {self.choose!r}; {self.model} lets one choose {ranges}") from None
            chosen[name] = float(number)
        return chosen

    @property
    def command(self) -> str:
        """The command line of this plan, every option told."""
        told = [f"{option(name)} {shlex.quote(str(value))}" for name, value in asdict(self).items()
                if name != "model" and value != ""]
        return " ".join(["plmlab pretrain", self.model, *told])

    @property
    def run(self) -> Path:
        """The folder beside ``out`` that keeps the run until it is done; another plan has another one."""
        mark = hashlib.sha256(self.command.encode()).hexdigest()[:8]
        return Path(self.out).with_name(f"{Path(self.out).name}.run-{mark}")

    def save(self, run: Path) -> None:
        """Write the plan into the folder of its run."""
        run.mkdir(parents=True, exist_ok=True)
        replace(run / FILE, (json.dumps(asdict(self), indent=1) + "\n").encode())

    @classmethod
    def resumed(cls, run: Path, changes: Mapping[str, Any]) -> Self:
        """The plan of a run that was interrupted, with what is told anew; ValueError where there is no such run, or
        where it is told what would make it another one."""
        try:
            told = json.loads((run / FILE).read_text(encoding="utf-8"))
            if not isinstance(told, dict) or {*USUAL, *told} != {field.name for field in fields(cls)}:
                raise TypeError
        except (OSError, ValueError, TypeError):
            raise ValueError(f"{run} holds no run of plmlab pretrain; one that is interrupted tells its folder, and "
                             "the command that began it goes on without --resume. Nor is it a checkpoint") from None
        return cls.told_anew(run, USUAL | told, changes)

    @classmethod
    def longer(cls, checkpoint: Path, changes: Mapping[str, Any]) -> Self:
        """The plan of training a finished checkpoint on, into a folder beside it unless it is told another ``out``.

        Where the state of its training is kept, it is the same training for more steps in all. Where only weights are,
        a new one begins with them, and anything may be told anew. ValueError where nothing tells how it was trained.
        """
        told = commanded(checkpoint)
        more = {"out": f"{checkpoint}-{changes.get('steps', told['steps'])}", **changes}
        whole = told | {"resume": str(checkpoint)}
        if not has_state(checkpoint):
            return cls(**whole | more)
        if more.get("steps", 0) <= told["steps"]:
            raise ValueError(f"the {told['steps']} steps of {checkpoint} are done; to train it longer, give more in "
                             f"all, such as --steps {2 * told['steps']}")
        return cls.told_anew(checkpoint, whole, more)

    @classmethod
    def told_anew(cls, run: Path, told: Mapping[str, Any], changes: Mapping[str, Any]) -> Self:
        """The plan of a run with what is told anew; ValueError where that would make it another run."""
        other = [f"{option(name)} was {told[name]}, and is now {value}" for name, value in changes.items()
                 if name not in MAY_CHANGE and value != told[name]]
        if other:
            raise ValueError(f"the run in {run} can't go on as another one: {'; '.join(other)}. Only "
                             f"{', '.join(map(option, MAY_CHANGE))} may be told anew")
        if changes.get("steps", told["steps"]) < told["steps"]:
            raise ValueError(f"--steps is {changes['steps']}, and the run in {run} was planned for {told['steps']}; "
                             "give as many or more")
        return cls(**{**told, **changes})


USUAL = {field.name: field.default for field in fields(Plan) if field.default is not MISSING}
"""Of a plan, what need not be told."""


def has_state(checkpoint: Path) -> bool:
    """Whether a checkpoint keeps the state of its training."""
    return all((checkpoint / name).is_file() for name in STATE)


def commanded(checkpoint: Path) -> dict[str, Any]:
    """What the command that a checkpoint's README names told `Plan`, whole; ValueError where it names none."""
    kinds = {option(field.name): field for field in fields(Plan)}
    try:
        text = (checkpoint / README).read_text(encoding="utf-8")
        _, _, model, *words = shlex.split(re.search(r"^plmlab pretrain .+$", text, re.MULTILINE)[0])  # type: ignore
        told = {kinds[name].name: kinds[name].type(value)  # type: ignore[operator]
                for name, value in zip(words[::2], words[1::2], strict=True)}
        return USUAL | {"model": model, "corpus": told.pop("corpus"), "out": told.pop("out")} | told
    except (OSError, ValueError, TypeError, KeyError):
        raise ValueError(f"{checkpoint} can't be trained longer: its {README} names no command of plmlab pretrain that "
                         "made it") from None


def option(name: str) -> str:
    """What a field of a plan is called on the command line."""
    return "MODEL" if name == "model" else f"--{name.replace('_', '-')}"
