"""Loading of the released ELMo files (Peters et al. 2018), ``options.json`` and ``weights.hdf5``, into our `BiLM`.

The format is that of the authors' bilm-tf. Weight matrices are [input output]; the gates of a cell are in the order
input, candidate, forget, output; 1 has to be added to the stored bias of the forget gate; a filter is
[1 width embedding count]. The file contains no softmax.
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
    """Raised for a file that is incomplete or not part of a released ELMo; the message names the file and the
    problem."""


def read_elmo(options: str | Path, weights: str | Path) -> BiLM:
    """Load a bidirectional language model from an options file and a weights file, in evaluation mode.

    Raises `ElmoFileError` if a file is missing, truncated or in another format, or if its shapes do not match the
    options; ImportError if h5py is not installed.
    """
    if problem := git_lfs.pointers(Path(options), Path(weights)):
        raise ElmoFileError(problem)
    config = _config(Path(options))
    model = BiLM(config)
    shapes = {name: tensor.shape for name, tensor in model.state_dict().items()}
    model.load_state_dict(_weights(Path(weights), config, shapes))
    return model.eval()


def _config(path: Path) -> BiLMConfig:
    try:
        options = json.loads(path.read_text(encoding="utf-8"))
        lstm, cnn = options["lstm"], options["char_cnn"]
        if cnn["activation"] not in ACTIVATIONS:
            raise ElmoFileError(f"{path}: the activation {cnn['activation']!r:.40} is not supported; supported are "
                                f"{', '.join(ACTIVATIONS)}")
        if cnn["n_characters"] != CODES:
            raise ElmoFileError(f"{path}: n_characters is {cnn['n_characters']!r:.40}; a model for inference has "
                                f"{CODES} (261 is the number in training)")
        if (longest := cnn.get("max_characters_per_token", LONGEST)) != LONGEST:
            raise ElmoFileError(f"{path}: max_characters_per_token is {longest!r:.40}; only {LONGEST} character codes "
                                "per word are supported, as in the released models")
        clip = lstm.get("cell_clip")
        if clip != lstm.get("proj_clip"):
            raise ElmoFileError(f"{path}: cell_clip and proj_clip differ, which is not supported")
        return BiLMConfig(
            model=lstm["projection_dim"], hidden=lstm["dim"], layers=lstm.get("n_layers", 1),
            clip=None if clip is None else float(clip),
            skip=lstm["use_skip_connections"], embedding=cnn["embedding"]["dim"],
            filters=tuple((width, count) for width, count in cnn["filters"]), highways=cnn.get("n_highway") or 0,
            activation=cnn["activation"])
    except OSError as error:
        raise ElmoFileError(f"{path} cannot be read: {error.strerror or error}") from None
    except ElmoFileError:
        raise
    except KeyError as error:
        raise ElmoFileError(f"{path} is not an options file of a released ELMo: it has no {error}") from None
    except (ValueError, TypeError) as error:
        raise ElmoFileError(f"{path} is not an options file of a released ELMo: {error!s:.200}") from None


def _weights(path: Path, config: BiLMConfig, shapes: Mapping[str, torch.Size]) -> dict[str, Tensor]:
    """State dict for `BiLM`: weight name → tensor."""
    try:
        import h5py
    except ImportError:
        raise ImportError("ELMo's weights are an HDF5 file; install h5py, or plmlab[elmo]") from None
    try:
        with h5py.File(path) as file:
            tensors = {}
            for name, (theirs, convert) in _layout(config).items():
                if not isinstance(file.get(theirs), h5py.Dataset):
                    raise ElmoFileError(f"{path} has no {theirs!r}; check that it is the weights file of this options "
                                        "file")
                tensor = torch.from_numpy(file[theirs][...]).float()
                tensors[name] = _converted(path, theirs, tensor, convert, shapes[name])
            return tensors
    except OSError as error:
        raise ElmoFileError(f"{path} cannot be read as HDF5, or is truncated: {error}") from None


def _converted(path: Path, theirs: str, tensor: Tensor, convert: Change, shape: torch.Size) -> Tensor:
    try:
        converted = convert(tensor)
    except (RuntimeError, IndexError):
        converted = tensor
    if converted.shape != shape:
        raise ElmoFileError(f"{path}: {theirs!r} has the shape {list(tensor.shape)}, which cannot be converted to "
                            f"{list(shape)}, the shape that follows from the options")
    return converted.contiguous()


def _layout(config: BiLMConfig) -> dict[str, tuple[str, Change]]:
    """`BiLM` weight name → the name of the data set in the file, and the conversion."""
    layout: dict[str, tuple[str, Change]] = {"token.characters.weight": ("char_embed", _with_padding_row)}
    for i in range(len(config.filters)):
        layout |= {f"token.convolutions.{i}.weight": (f"CNN/W_cnn_{i}", lambda w: w[0].permute(2, 1, 0)),
                   f"token.convolutions.{i}.bias": (f"CNN/b_cnn_{i}", _unchanged)}
    linear = {"token.projection": "CNN_proj/{}_proj"} | {
        f"token.highways.{i}.{ours}": f"CNN_high_{i}/{{}}_{theirs}" for i in range(config.highways)
        for ours, theirs in (("gate", "carry"), ("transform", "transform"))}
    for ours, theirs in linear.items():
        layout |= {f"{ours}.weight": (theirs.format("W"), torch.t), f"{ours}.bias": (theirs.format("b"), _unchanged)}
    for side, direction in enumerate(("forwards", "backwards")):
        for layer in range(config.layers):
            ours, theirs = f"{direction}.layers.{layer}.layers.0.cells.0.", CELL.format(side, layer)
            layout |= {f"{ours}weight_ih": (f"{theirs}W_0", lambda w: _gates(w[:config.model].T)),
                       f"{ours}weight_hh": (f"{theirs}W_0", lambda w: _gates(w[config.model:].T)),
                       f"{ours}bias_ih": (f"{theirs}B", _biases), f"{ours}bias_hh": (f"{theirs}B", torch.zeros_like)}
            if config.model != config.hidden:
                layout[f"{ours}weight_hr"] = f"{theirs}W_P_0", torch.t
    return layout


def _unchanged(tensor: Tensor) -> Tensor:
    return tensor


def _with_padding_row(table: Tensor) -> Tensor:
    """Shift the released character codes by one: row 0, for the padding code, is zero."""
    return torch.cat([torch.zeros_like(table[:1]), table])


def _gates(rows: Tensor) -> Tensor:
    """Reorder gates from input, candidate, forget, output to input, forget, candidate, output."""
    i, g, f, o = rows.chunk(4)
    return torch.cat([i, f, g, o])


def _biases(rows: Tensor) -> Tensor:
    """Reorder the biases of the gates, and add the constant 1 to the bias of the forget gate."""
    i, g, f, o = rows.chunk(4)
    return torch.cat([i, f + 1, g, o])
