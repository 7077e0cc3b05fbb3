"""Checkpoints: save a trained model and its tokenizer to a folder, verify the folder, and load them again.

A checkpoint folder contains ``config.json`` (model type, format version, fields of the config, hashes of the other
files), ``model.safetensors`` (tied weights once), ``tokenizer.json`` and ``README.md`` (the command that created it and
the results). ``data/checkpoints/index.json`` lists the checkpoints that are bundled with the course.
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
    """Raised for a folder that cannot be loaded as a checkpoint."""


def home() -> Path:
    """The folder of the bundled checkpoints."""
    return DATA / "checkpoints"


def digest(data: bytes) -> str:
    """The SHA-256 of the data, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def save(folder: Folder, model: nn.Module, tokenizer: "Tokenizer", *, command: str,
         figures: Mapping[str, float | str], beside: Mapping[str, bytes] | None = None) -> None:
    """Write a checkpoint atomically, replacing an existing one.

    ``command`` is the command that created the checkpoint, ``figures`` are the results by name, and ``beside`` holds
    additional files by name, such as the training state. Raises ValueError if the model's type is not registered,
    OSError if writing fails.
    """
    folder, kind = Path(folder), type_of(model)
    tensors = {name: tensor.cpu().contiguous() for name, tensor in weights(model).items()}
    with TemporaryDirectory() as temporary:
        tokenizer.save(temporary)
        tokenizer_bytes = (Path(temporary) / TOKENIZER).read_bytes()
    files = {WEIGHTS: safetensors.torch.save(tensors), TOKENIZER: tokenizer_bytes}
    config = {"model_type": kind.name, "format": FORMAT, **config_dict(model.config)}
    config["sha256"] = {name: digest(data) for name, data in files.items()}
    files[CONFIG] = (json.dumps(config, indent=2) + "\n").encode()
    files[README] = readme(folder.name, kind, model, command, figures).encode()
    place(folder, files | dict(beside or {}))


def readme(name: str, kind: ModelType, model: nn.Module, command: str, figures: Mapping[str, float | str]) -> str:
    """The text of a checkpoint's README: model type, number of parameters, command and results."""
    size = sum(parameter.numel() for parameter in model.parameters())
    rows = [f"| {label} | {value:.4g} |" if isinstance(value, float) else f"| {label} | {value} |"
            for label, value in figures.items()]
    return "\n".join([
        f"# {name}", "", f"A `{kind.name}` model with {size:,} parameters, created by", "", "```", command, "```", "",
        "| figure | value |", "|---|---|", *rows, "",
        f'Load it with `plmlab.checkpoints.load("{name}")`; if it is not a bundled checkpoint, pass the path of this '
        "folder.", "",
    ])


def load(folder: Folder, *, expect: str | None = None) -> tuple[Any, "Tokenizer"]:
    """Load the model, in evaluation mode, and the tokenizer of a checkpoint.

    ``folder`` is a path or the name of a bundled checkpoint (see `names`), which is also verified against the index.
    ``expect`` is the model type that the caller requires. Raises CheckpointError if the folder is not a valid
    checkpoint of that type.
    """
    folder = locate(folder)
    files = read_files(folder)
    config = parse(folder, files)
    if expect is not None and (kind := renewed_config(config)["model_type"]) != expect:
        raise CheckpointError(f"{folder} contains a {kind!r} model, but a {expect!r} model is needed here")
    for name, expected in config["sha256"].items():
        if name in files and digest(files[name]) != expected:
            raise CheckpointError(f"{folder / name} was changed or truncated after it was saved (its hash differs): "
                                  "download the folder again, or retrain it with the command in its README.md")
    problems = compare(folder)
    if problems:
        raise CheckpointError(f"{folder} differs from the bundled checkpoint of that name: "
                              + "; ".join(problems))
    return build(folder, config, files[WEIGHTS]), tokenizer_of(folder)


def locate(folder: Folder) -> Path:
    """The path of a checkpoint, given as a path or by its name in the index."""
    path = Path(folder)
    if not path.exists() and str(folder) in names():
        return home() / str(folder)
    return path


def read_files(folder: Path) -> dict[str, bytes]:
    """The contents of a checkpoint's required files, by name. Raises CheckpointError if a file is missing."""
    if not folder.is_dir():
        known = ", ".join(names()) or "none"
        raise CheckpointError(f"there is no folder {folder}; the bundled checkpoints are: {known}")
    missing = [name for name in (CONFIG, WEIGHTS, TOKENIZER) if not (folder / name).is_file()]
    if missing:
        raise CheckpointError(f"{folder} is not a checkpoint: it lacks {', '.join(missing)}. A checkpoint is a folder "
                              f"with {CONFIG}, {WEIGHTS} and {TOKENIZER}, as written by plmlab.checkpoints.save")
    files = [folder / name for name in (CONFIG, WEIGHTS, TOKENIZER)]
    if problem := git_lfs.pointers(*files):
        raise CheckpointError(f"{folder} is incomplete: {problem}")
    return {file.name: file.read_bytes() for file in files}


def parse(folder: Path, files: Mapping[str, bytes]) -> dict[str, Any]:
    """Parse config.json. Raises CheckpointError if it is invalid or has a format that this version does not support."""
    try:
        config = json.loads(files[CONFIG])
    except (json.JSONDecodeError, UnicodeDecodeError) as problem:
        raise CheckpointError(f"{folder / CONFIG} is not JSON: {problem}") from None
    if not isinstance(config, dict) or not set(OURS) <= set(config):
        raise CheckpointError(f"{folder / CONFIG} was not written by plmlab: it lacks one of {', '.join(OURS)}. "
                              "Load a Hugging Face model with plmlab.hf.from_hf")
    if config["format"] not in range(1, FORMAT + 1):
        raise CheckpointError(f"{folder} has format {config['format']}, but this version of plmlab supports formats 1 "
                              f"to {FORMAT}: use the version that wrote it, or a newer one")
    return config


def build(folder: Path, config: Mapping[str, Any], data: bytes) -> nn.Module:
    """Build the model described in config.json and load its weights from ``data``, the bytes of a safetensors file."""
    current = renewed_config(config)
    try:
        kind = model_type(current["model_type"])
    except ValueError as problem:
        raise CheckpointError(f"{folder}: {problem}") from None
    options = {name: value for name, value in current.items() if name not in OURS}
    try:
        model = kind.model(config_from(kind.config, options, kind.name)).eval()
        load_tensors(model, renewed_weights(safetensors.torch.load(data), config))
    except (ValueError, TypeError, SafetensorError) as problem:
        raise CheckpointError(f"{folder} cannot be loaded as a {kind.name!r} model: {problem}") from None
    return model


def config_dict(config: Any) -> dict[str, Any]:
    """Convert a model's config to a dictionary for config.json, including the type and config of a submodel. Raises
    ValueError if the class of a submodel is not registered."""
    def converted(value: Any) -> Any:
        if isinstance(value, ModelSpec):
            return {"model_type": registered(value.model).name, **config_dict(value.config)}
        return config_dict(value) if is_dataclass(value) else value
    return {field.name: converted(getattr(config, field.name)) for field in fields(config)}


def config_from(cls: Any, given: Mapping[str, Any], name: str) -> Any:
    """Build a config of class ``cls`` from a dictionary. Raises ValueError for unknown or missing fields."""
    hints = get_type_hints(cls)
    known = {field.name for field in fields(cls)}
    needed = {field.name for field in fields(cls) if field.default is MISSING and field.default_factory is MISSING}
    if not needed <= set(given) <= known:
        raise ValueError(f"{CONFIG} does not describe a {name!r} model: " + "; ".join(
            [f"{field!r} is unknown" for field in given if field not in known]
            + [f"{field!r} is missing" for field in sorted(needed - set(given))]))

    def converted(field: str, value: Any) -> Any:
        if hints[field] is ModelSpec:
            kind = model_type(value["model_type"])
            inner = {name: option for name, option in value.items() if name != "model_type"}
            return ModelSpec(kind.model, config_from(kind.config, inner, kind.name))
        return config_from(hints[field], value, field) if is_dataclass(hints[field]) else tuples(value)
    return cls(**{field: converted(field, value) for field, value in given.items()})


def tuples(value: Any) -> Any:
    """Convert lists from JSON back to tuples, recursively."""
    return tuple(map(tuples, value)) if isinstance(value, list) else value


def tokenizer_of(folder: Path) -> "Tokenizer":
    """Load the tokenizer of a checkpoint. Raises CheckpointError if loading fails."""
    from plmlab.text import Tokenizer
    try:
        return Tokenizer.load(folder)
    except Exception as problem:
        raise CheckpointError(f"{folder / TOKENIZER} cannot be loaded: {problem}") from problem


def index() -> dict[str, dict[str, str]]:
    """The index of the bundled checkpoints: name → file → SHA-256."""
    path = home() / "index.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def names() -> list[str]:
    """The names of the bundled checkpoints, sorted."""
    return sorted(index())


def enter(name: str) -> None:
    """Add a folder of ``data/checkpoints`` to the index, or update its hashes there."""
    files = read_files(home() / name)
    table = index() | {name: {file: digest(data) for file, data in sorted(files.items())}}
    text = json.dumps(dict(sorted(table.items())), indent=2) + "\n"
    replace(home() / "index.json", text.encode())


def compare(folder: Path) -> list[str]:
    """Differences between a bundled checkpoint and the index, one message each; empty for a folder that is not
    bundled."""
    if folder.resolve().parent != home().resolve():
        return []
    listed = index().get(folder.name, {})
    missing = [f"{file} is missing" for file in listed if not (folder / file).is_file()]
    changed = [f"{file} has another hash" for file, expected in listed.items()
               if (folder / file).is_file() and digest((folder / file).read_bytes()) != expected]
    return missing + changed


def verify() -> dict[str, list[str]]:
    """Compare every bundled checkpoint with the index. Returns name → differences, an empty list if there are none."""
    return {name: compare(home() / name) for name in names()}
