"""Checkpoints: a trained model as a folder that anyone can read, check and load.

A folder holds ``config.json`` (the model's type, the format's version, the config's fields, the hashes of the
other files), ``model.safetensors`` (tied weights once), ``tokenizer.json`` and ``README.md`` (the command that made
it and the numbers that it reached). ``data/checkpoints/index.json`` lists the ones that come with the course.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, get_type_hints

import safetensors.torch
from safetensors import SafetensorError
from torch import nn

from plmlab import git_lfs
from plmlab.atomic import place, replace
from plmlab.checkpoint_formats import FORMAT, renewed_config, renewed_weights
from plmlab.models.registry import ModelSpec, ModelType, model_type, registered, type_of
from plmlab.paths import DATA
from plmlab.weights import load_tensors, weights

if TYPE_CHECKING:
    from plmlab.text import Tokenizer

CONFIG, WEIGHTS, TOKENIZER, README = "config.json", "model.safetensors", "tokenizer.json", "README.md"
OURS = ("model_type", "format", "sha256")
Folder = str | PathLike[str]


class CheckpointError(ValueError):
    """A folder that cannot be loaded, and why."""


def home() -> Path:
    """Where the course's own checkpoints lie."""
    return DATA / "checkpoints"


def digest(data: bytes) -> str:
    """The sha256 of some bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def save(folder: Folder, model: nn.Module, tokenizer: "Tokenizer", *, command: str,
         figures: Mapping[str, float | str], beside: Mapping[str, bytes] | None = None) -> None:
    """Write a checkpoint, in the place of one that may be there.

    ``command`` made it; ``figures`` are the numbers it reached, by name; ``beside`` are further files, such as
    the state of its training. The folder appears whole or not at all.
    ValueError for a model of no registered type, OSError where the disk refuses.
    """
    folder, kind = Path(folder), type_of(model)
    tensors = {name: tensor.cpu().contiguous() for name, tensor in weights(model).items()}
    with TemporaryDirectory() as room:
        tokenizer.save(room)
        words = (Path(room) / TOKENIZER).read_bytes()
    files = {WEIGHTS: safetensors.torch.save(tensors), TOKENIZER: words}
    config = {"model_type": kind.name, "format": FORMAT, **config_told(model.config)}
    config["sha256"] = {name: digest(data) for name, data in files.items()}
    files[CONFIG] = (json.dumps(config, indent=2) + "\n").encode()
    files[README] = readme(folder.name, kind, model, command, figures).encode()
    place(folder, files | dict(beside or {}))


def readme(name: str, kind: ModelType, model: nn.Module, command: str, figures: Mapping[str, float | str]) -> str:
    """What a person wants to know of a checkpoint."""
    size = sum(parameter.numel() for parameter in model.parameters())
    rows = [f"| {label} | {value:.4g} |" if isinstance(value, float) else f"| {label} | {value} |"
            for label, value in figures.items()]
    return "\n".join([
        f"# {name}", "", f"A `{kind.name}` of {size:,} parameters. Made by", "", "```", command, "```", "",
        "| figure | value |", "|---|---|", *rows, "",
        f'Load it with `plmlab.checkpoints.load("{name}")`, given this folder\'s path if it is not one of the '
        "course's own.", "",
    ])


def load(folder: Folder, *, expect: str | None = None) -> tuple[Any, "Tokenizer"]:
    """The model, in evaluation mode, and the tokenizer of a checkpoint.

    ``folder`` is a path, or the name of one of the course's own (``names``), which are also checked against the
    index. ``expect`` is the model type that the caller can use. A CheckpointError says what is wrong, and nothing
    is half loaded.
    """
    folder = locate(folder)
    files = read_files(folder)
    config = parse(folder, files)
    if expect is not None and (kind := renewed_config(config)["model_type"]) != expect:
        raise CheckpointError(f"{folder} holds a {kind!r} model, and a {expect!r} is needed here")
    for name, expected in config["sha256"].items():
        if name in files and digest(files[name]) != expected:
            raise CheckpointError(f"{folder / name} was changed or cut short since it was saved (its hash is another): "
                                  "get the folder again, or train it again by the command in its README.md")
    problems = compare(folder)
    if problems:
        raise CheckpointError(f"{folder} is not the checkpoint of that name that the course came with: "
                              + "; ".join(problems))
    return build(folder, config, files[WEIGHTS]), tokenizer_of(folder)


def locate(folder: Folder) -> Path:
    """The path that is meant: a folder, or a name from the index."""
    path = Path(folder)
    if not path.exists() and str(folder) in names():
        return home() / str(folder)
    return path


def read_files(folder: Path) -> dict[str, bytes]:
    """The files that a checkpoint must have."""
    if not folder.is_dir():
        known = ", ".join(names()) or "none yet"
        raise CheckpointError(f"there is no folder {folder}; the course's own checkpoints are: {known}")
    missing = [name for name in (CONFIG, WEIGHTS, TOKENIZER) if not (folder / name).is_file()]
    if missing:
        raise CheckpointError(f"{folder} is not a checkpoint: it lacks {', '.join(missing)}. A checkpoint is a folder "
                              f"with {CONFIG}, {WEIGHTS} and {TOKENIZER}, as plmlab.checkpoints.save writes it")
    files = [folder / name for name in (CONFIG, WEIGHTS, TOKENIZER)]
    if told := git_lfs.pointers(*files):
        raise CheckpointError(f"{folder} is not whole: {told}")
    return {file.name: file.read_bytes() for file in files}


def parse(folder: Path, files: Mapping[str, bytes]) -> dict[str, Any]:
    """The table in config.json, of a format that this version knows."""
    try:
        config = json.loads(files[CONFIG])
    except (json.JSONDecodeError, UnicodeDecodeError) as problem:
        raise CheckpointError(f"{folder / CONFIG} is not JSON: {problem}") from None
    if not isinstance(config, dict) or not set(OURS) <= set(config):
        raise CheckpointError(f"{folder / CONFIG} was not written by plmlab: it lacks one of {', '.join(OURS)}. "
                              "A model of Hugging Face's is loaded with plmlab.hf.from_hf")
    if config["format"] not in range(1, FORMAT + 1):
        raise CheckpointError(f"{folder} has format {config['format']}, and this plmlab reads formats 1 to {FORMAT}: "
                              "use the plmlab that wrote it, or a newer one")
    return config


def build(folder: Path, config: Mapping[str, Any], data: bytes) -> nn.Module:
    """The model that config.json describes, with the weights in ``data``."""
    today = renewed_config(config)
    try:
        kind = model_type(today["model_type"])
    except ValueError as problem:
        raise CheckpointError(f"{folder}: {problem}") from None
    told = {name: value for name, value in today.items() if name not in OURS}
    try:
        model = kind.model(config_from(kind.config, told, kind.name)).eval()
        load_tensors(model, renewed_weights(safetensors.torch.load(data), config))
    except (ValueError, TypeError, SafetensorError) as problem:
        raise CheckpointError(f"{folder} cannot be loaded as a {kind.name!r} model: {problem}") from None
    return model


def config_told(config: Any) -> dict[str, Any]:
    """A model's config as config.json holds it; a model inside it is told by its type and its own config. A ValueError
    where that one's class is not registered."""
    def told(value: Any) -> Any:
        if isinstance(value, ModelSpec):
            return {"model_type": registered(value.model).name, **config_told(value.config)}
        return config_told(value) if is_dataclass(value) else value
    return {field.name: told(getattr(config, field.name)) for field in fields(config)}


def config_from(cls: Any, told: Mapping[str, Any], name: str) -> Any:
    """The config, of this class, that a table tells; a ValueError where it tells other fields."""
    hints = get_type_hints(cls)
    known = {field.name for field in fields(cls)}
    needed = {field.name for field in fields(cls) if field.default is MISSING and field.default_factory is MISSING}
    if not needed <= set(told) <= known:
        raise ValueError(f"{CONFIG} does not describe a {name!r} model: " + "; ".join(
            [f"{field!r} is unknown" for field in told if field not in known]
            + [f"{field!r} is missing" for field in sorted(needed - set(told))]))

    def made(field: str, value: Any) -> Any:
        if hints[field] is ModelSpec:
            kind = model_type(value["model_type"])
            inner = {name: one for name, one in value.items() if name != "model_type"}
            return ModelSpec(kind.model, config_from(kind.config, inner, kind.name))
        return config_from(hints[field], value, field) if is_dataclass(hints[field]) else tuples(value)
    return cls(**{field: made(field, value) for field, value in told.items()})


def tuples(value: Any) -> Any:
    """What JSON made a list of, as the tuple that it was."""
    return tuple(map(tuples, value)) if isinstance(value, list) else value


def tokenizer_of(folder: Path) -> "Tokenizer":
    """The checkpoint's tokenizer."""
    from plmlab.text import Tokenizer
    try:
        return Tokenizer.load(folder)
    except Exception as problem:
        raise CheckpointError(f"{folder / TOKENIZER} cannot be loaded: {problem}") from problem


def index() -> dict[str, dict[str, str]]:
    """The course's own checkpoints: name → file → sha256."""
    path = home() / "index.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def names() -> list[str]:
    """The names of the course's own checkpoints."""
    return sorted(index())


def enter(name: str) -> None:
    """Put a folder of ``data/checkpoints`` into the index, or renew its hashes."""
    files = read_files(home() / name)
    table = index() | {name: {file: digest(data) for file, data in sorted(files.items())}}
    text = json.dumps(dict(sorted(table.items())), indent=2) + "\n"
    replace(home() / "index.json", text.encode())


def compare(folder: Path) -> list[str]:
    """How one of the course's own checkpoints differs from the index; nothing for any other folder."""
    if folder.resolve().parent != home().resolve():
        return []
    listed = index().get(folder.name, {})
    lost = [f"{file} is missing" for file in listed if not (folder / file).is_file()]
    other = [f"{file} has another hash" for file, expected in listed.items()
             if (folder / file).is_file() and digest((folder / file).read_bytes()) != expected]
    return lost + other


def verify() -> dict[str, list[str]]:
    """Every checkpoint of the index, with what is wrong with it: an empty list is a good sign."""
    return {name: compare(home() / name) for name in names()}
