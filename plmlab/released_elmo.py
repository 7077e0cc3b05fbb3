"""The released ELMo's own files (Peters et al. 2018): ``options.json`` and ``weights.hdf5``, read into our `BiLM`.

The layout is that of the authors' bilm-tf. A weight matrix stands with its inputs as rows; a cell's gates follow one
another as input, candidate, forget and output; 1 is added to a forget gate's bias when it is used; a filter is
[1, width, embedding, count]. The file has no softmax.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from torch import Tensor

from plmlab import git_lfs
from plmlab.models.elmo import ACTIVATIONS, BiLM, BiLMConfig
from plmlab.text.characters import CODES, LONGEST

Change = Callable[[Tensor], Tensor]
CELL = "RNN_{}/RNN/MultiRNNCell/Cell{}/LSTMCell/"


class ElmoFileError(ValueError):
    """Files that are not a released ELMo, or not whole; the message says what is wrong with which."""


def read_elmo(options: str | Path, weights: str | Path) -> BiLM:
    """The bidirectional language model of an options file and a weights file, ready to read: in evaluation mode.

    `ElmoFileError` for a file that is missing, cut short, not of this layout, or of other sizes than the options say.
    ImportError with what to install where h5py is missing.
    """
    if told := git_lfs.pointers(Path(options), Path(weights)):
        raise ElmoFileError(told)
    config = _config(Path(options))
    model = BiLM(config)
    shapes = {name: numbers.shape for name, numbers in model.state_dict().items()}
    model.load_state_dict(_weights(Path(weights), config, shapes))
    return model.eval()


def _config(path: Path) -> BiLMConfig:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        lstm, cnn = told["lstm"], told["char_cnn"]
        if cnn["activation"] not in ACTIVATIONS:
            raise ElmoFileError(f"{path}: an activation {cnn['activation']!r:.40}; there are {', '.join(ACTIVATIONS)}")
        if cnn["n_characters"] != CODES:
            raise ElmoFileError(f"{path}: n_characters is {cnn['n_characters']!r:.40}; a model that is ready to read "
                                f"has {CODES} (261 is the number in training)")
        if (longest := cnn.get("max_characters_per_token", LONGEST)) != LONGEST:
            raise ElmoFileError(f"{path}: max_characters_per_token is {longest!r:.40}; words are read here as "
                                f"{LONGEST} codes each, as the released models read them")
        clip = lstm.get("cell_clip")
        if clip != lstm.get("proj_clip"):
            raise ElmoFileError(f"{path}: cell_clip and proj_clip differ, which is not read here")
        return BiLMConfig(
            model=lstm["projection_dim"], hidden=lstm["dim"], layers=lstm.get("n_layers", 1),
            clip=None if clip is None else float(clip),
            skip=lstm["use_skip_connections"], embedding=cnn["embedding"]["dim"],
            filters=tuple((width, count) for width, count in cnn["filters"]), highways=cnn.get("n_highway") or 0,
            activation=cnn["activation"])
    except OSError as error:
        raise ElmoFileError(f"{path} can't be read: {error.strerror or error}") from None
    except ElmoFileError:
        raise
    except KeyError as error:
        raise ElmoFileError(f"{path} is no options file of a released ELMo: it has no {error}") from None
    except (ValueError, TypeError) as error:
        raise ElmoFileError(f"{path} is no options file of a released ELMo: {error!s:.200}") from None


def _weights(path: Path, config: BiLMConfig, shapes: Mapping[str, torch.Size]) -> dict[str, Tensor]:
    """Name of a weight of `BiLM` → its numbers."""
    try:
        import h5py
    except ImportError:
        raise ImportError("ELMo's weights come as HDF5: install h5py, or plmlab[elmo]") from None
    try:
        with h5py.File(path) as file:
            found = {}
            for name, (theirs, ours) in _layout(config).items():
                if not isinstance(file.get(theirs), h5py.Dataset):
                    raise ElmoFileError(f"{path} has no {theirs!r}: is it the weights file of this options file?")
                found[name] = _fitted(path, theirs, torch.from_numpy(file[theirs][...]).float(), ours, shapes[name])
            return found
    except OSError as error:
        raise ElmoFileError(f"{path} can't be read as HDF5, or is cut short: {error}") from None


def _fitted(path: Path, theirs: str, numbers: Tensor, ours: Change, shape: torch.Size) -> Tensor:
    try:
        changed = ours(numbers)
    except (RuntimeError, IndexError):
        changed = numbers
    if changed.shape != shape:
        raise ElmoFileError(f"{path}: {theirs!r} is {list(numbers.shape)}, which does not become {list(shape)}, as the "
                            "options want it")
    return changed.contiguous()


def _layout(config: BiLMConfig) -> dict[str, tuple[str, Change]]:
    """Name of a weight of `BiLM` → the name of the numbers that it is made of, and how."""
    told: dict[str, tuple[str, Change]] = {"token.characters.weight": ("char_embed", _with_a_row_for_nothing)}
    for number in range(len(config.filters)):
        told |= {f"token.convolutions.{number}.weight": (f"CNN/W_cnn_{number}", lambda w: w[0].permute(2, 1, 0)),
                 f"token.convolutions.{number}.bias": (f"CNN/b_cnn_{number}", _as_it_is)}
    linear = {"token.projection": "CNN_proj/{}_proj"} | {
        f"token.highways.{number}.{ours}": f"CNN_high_{number}/{{}}_{theirs}" for number in range(config.highways)
        for ours, theirs in (("gate", "carry"), ("transform", "transform"))}
    for ours, theirs in linear.items():
        told |= {f"{ours}.weight": (theirs.format("W"), torch.t), f"{ours}.bias": (theirs.format("b"), _as_it_is)}
    for side, direction in enumerate(("forwards", "backwards")):
        for layer in range(config.layers):
            ours, theirs = f"{direction}.layers.{layer}.layers.0.cells.0.", CELL.format(side, layer)
            told |= {f"{ours}weight_ih": (f"{theirs}W_0", lambda w: _gates(w[:config.model].T)),
                     f"{ours}weight_hh": (f"{theirs}W_0", lambda w: _gates(w[config.model:].T)),
                     f"{ours}bias_ih": (f"{theirs}B", _biases), f"{ours}bias_hh": (f"{theirs}B", torch.zeros_like)}
            if config.model != config.hidden:
                told[f"{ours}weight_hr"] = f"{theirs}W_P_0", torch.t
    return told


def _as_it_is(numbers: Tensor) -> Tensor:
    return numbers


def _with_a_row_for_nothing(numbers: Tensor) -> Tensor:
    """Their codes, shifted by one: code 0 has the vector 0."""
    return torch.cat([torch.zeros_like(numbers[:1]), numbers])


def _gates(rows: Tensor) -> Tensor:
    """Input, candidate, forget, output → input, forget, candidate, output."""
    i, g, f, o = rows.chunk(4)
    return torch.cat([i, f, g, o])


def _biases(rows: Tensor) -> Tensor:
    """The same, and the 1 that they add to a forget gate."""
    i, g, f, o = rows.chunk(4)
    return torch.cat([i, f + 1, g, o])
