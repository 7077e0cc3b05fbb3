"""Checkpoints: a trained model as a folder that anyone can read, check and load.

A folder holds ``config.json`` (the model's type, the format's version, the config's fields, the hashes of the
other files), ``model.safetensors`` (tied weights once), ``tokenizer.json`` and ``README.md`` (the command that made
it and the numbers that it reached). ``data/checkpoints/index.json`` lists the ones that come with the course.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import safetensors.torch
from safetensors import SafetensorError
from torch import Tensor, nn

from plmlab import git_lfs
from plmlab.atomic import place, replace
from plmlab.models.registry import ModelType, find, type_of
from plmlab.paths import DATA
from plmlab.weights import put, weights

if TYPE_CHECKING:
    from plmlab.text import Tokenizer

FORMAT = 2
RENAMED = {"around_attention": "attention_residual", "around_cross_attention": "cross_attention_residual",
           "around_feed_forward": "feed_forward_residual", "finish": "final_norm"}
"""What parts of a weight's name, dot to dot, were called in format 1."""
RENAMED_TYPES = {"bert-tagger": "bert-token"}
MOVED = {"gpt": "", "gpt2": "", "gpt-classifier": "gpt.", "gpt2-classifier": "gpt."}
"""Where a model of format 1 had its token and position embeddings that has them in ``embeddings`` now."""
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
    config = {"model_type": kind.name, "format": FORMAT, **asdict(model.config)}  # type: ignore[call-overload]
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
    if expect is not None and config["model_type"] != expect:
        raise CheckpointError(f"{folder} holds a {config['model_type']!r} model, and a {expect!r} is needed here")
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
    if config["format"] not in (1, FORMAT):
        raise CheckpointError(f"{folder} has format {config['format']}, and this plmlab reads format {FORMAT}: "
                              "use the plmlab that wrote it, or a newer one")
    if config["format"] == 1:
        config["model_type"] = RENAMED_TYPES.get(config["model_type"], config["model_type"])
    return config


def renewed(tensors: Mapping[str, Tensor], model_type: str) -> dict[str, Tensor]:
    """The weights of a checkpoint of format 1 under their names of today."""
    moved = {f"{MOVED[model_type]}{table}.weight": f"{MOVED[model_type]}embeddings.{table}.weight"
             for table in ("token", "position") if model_type in MOVED}
    named = {moved.get(name, name): tensor for name, tensor in tensors.items()}
    return {".".join(RENAMED.get(part, part) for part in name.split(".")): tensor for name, tensor in named.items()}


def build(folder: Path, config: Mapping[str, Any], data: bytes) -> nn.Module:
    """The model that config.json describes, with the weights in ``data``."""
    try:
        kind = find(config["model_type"])
    except ValueError as problem:
        raise CheckpointError(f"{folder}: {problem}") from None
    told = {name: value for name, value in config.items() if name not in OURS}
    known = {field.name for field in fields(kind.config)}
    needed = {field.name for field in fields(kind.config)
              if field.default is MISSING and field.default_factory is MISSING}
    if not needed <= set(told) <= known:
        raise CheckpointError(
            f"{folder / CONFIG} does not describe a {kind.name!r} model: "
            + "; ".join([f"{name!r} is unknown" for name in told if name not in known]
                        + [f"{name!r} is missing" for name in sorted(needed - set(told))]))
    try:
        model = kind.model(kind.config(**told)).eval()
        tensors = safetensors.torch.load(data)
        put(model, renewed(tensors, kind.name) if config["format"] == 1 else tensors)
    except (ValueError, TypeError, SafetensorError) as problem:
        raise CheckpointError(f"{folder} cannot be loaded as a {kind.name!r} model: {problem}") from None
    return model


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
