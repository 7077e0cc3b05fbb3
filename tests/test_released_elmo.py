"""The released ELMo's files: one written here in their layout, and read out again by loops over its own numbers."""

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch

from plmlab.models.elmo import BiLMState
from plmlab.released_elmo import ElmoFileError, read_elmo
from plmlab.text.characters import batch_codes

FILTERS = [[1, 3], [2, 4], [3, 2]]
OPTIONS: dict[str, Any] = {
    "lstm": {"dim": 6, "projection_dim": 4, "n_layers": 2, "cell_clip": 1, "proj_clip": 1,
             "use_skip_connections": True},
    "char_cnn": {"n_characters": 262, "max_characters_per_token": 50, "filters": FILTERS, "activation": "relu",
                 "embedding": {"dim": 5}, "n_highway": 2}}
SENTENCES = [["the", "naïve", "cat"], ["猫", "sat", "down", "."]]


def numbers() -> dict[str, np.ndarray]:
    """What stands in such a file, by name."""
    rng, total = np.random.default_rng(0), sum(count for _, count in FILTERS)
    shapes: dict[str, tuple[int, ...]] = {
        "char_embed": (261, 5), "CNN_proj/W_proj": (total, 4), "CNN_proj/b_proj": (4,)}
    for number, (width, count) in enumerate(FILTERS):
        shapes |= {f"CNN/W_cnn_{number}": (1, width, 5, count), f"CNN/b_cnn_{number}": (count,)}
    for number in range(2):
        for name in ("carry", "transform"):
            shapes |= {f"CNN_high_{number}/W_{name}": (total, total), f"CNN_high_{number}/b_{name}": (total,)}
        for side in range(2):
            cell = f"RNN_{side}/RNN/MultiRNNCell/Cell{number}/LSTMCell/"
            shapes |= {f"{cell}W_0": (8, 24), f"{cell}B": (24,), f"{cell}W_P_0": (6, 4)}
    return {name: rng.normal(0, 1, shape).astype(np.float32) for name, shape in shapes.items()}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    options, weights = tmp_path / "options.json", tmp_path / "weights.hdf5"
    options.write_text(json.dumps(OPTIONS), encoding="utf-8")
    with h5py.File(weights, "w") as file:
        for name, array in numbers().items():
            file[name] = array
    return options, weights


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def word_by_hand(stored: dict[str, np.ndarray], codes: list[int]) -> np.ndarray:
    letters = np.stack([stored["char_embed"][code - 1] for code in codes])
    found = []
    for number, (width, count) in enumerate(FILTERS):
        for one in range(count):
            sums = [float((letters[start:start + width] * stored[f"CNN/W_cnn_{number}"][0, :, :, one]).sum())
                    for start in range(len(codes) - width + 1)]
            found.append(max(0.0, max(sums) + float(stored[f"CNN/b_cnn_{number}"][one])))
    x = np.array(found)
    for number in range(2):
        name = f"CNN_high_{number}/"
        gate = sigmoid(x @ stored[f"{name}W_carry"] + stored[f"{name}b_carry"])
        x = gate * np.maximum(0, x @ stored[f"{name}W_transform"] + stored[f"{name}b_transform"]) + (1 - gate) * x
    return x @ stored["CNN_proj/W_proj"] + stored["CNN_proj/b_proj"]


def layers_by_hand(stored: dict[str, np.ndarray], words: np.ndarray, side: int,
                   states: list[tuple[np.ndarray, np.ndarray]]) -> list[np.ndarray]:
    """What each layer shows in the order in which it reads; ``states`` go on."""
    x, told = words[::-1] if side else words, []
    for layer in range(2):
        cell, shown = f"RNN_{side}/RNN/MultiRNNCell/Cell{layer}/LSTMCell/", []
        c, m = states[layer]
        for word in x:
            i, j, f, o = np.split(np.concatenate([word, m]) @ stored[f"{cell}W_0"] + stored[f"{cell}B"], 4)
            c = np.clip(sigmoid(f + 1) * c + sigmoid(i) * np.tanh(j), -1, 1)
            m = np.clip((sigmoid(o) * np.tanh(c)) @ stored[f"{cell}W_P_0"], -1, 1)
            shown.append(m + word if layer else m)
        states[layer] = c, m
        x = np.stack(shown)
        told.append(x[::-1] if side else x)
    return told


@torch.no_grad()
def test_what_is_read_computes_as_the_file_s_own_numbers_say(files: tuple[Path, Path]) -> None:
    model, stored, carried = read_elmo(*files), numbers(), BiLMState()
    states = [[(np.zeros(6), np.zeros(4)) for _ in range(2)] for _ in range(2)]
    for sentence in (*SENTENCES, SENTENCES[0]):
        codes = batch_codes([sentence])
        told = model(codes, carried)
        words = np.stack([word_by_hand(stored, word) for word in codes[0].tolist()])
        np.testing.assert_allclose(told[0][0].numpy(), np.concatenate([words, words], -1), rtol=1e-4, atol=1e-4)
        sides = [layers_by_hand(stored, words, side, states[side]) for side in range(2)]
        for ours, pair in zip(told[1:], zip(*sides, strict=True), strict=True):
            np.testing.assert_allclose(ours[0].numpy(), np.concatenate(pair, -1), rtol=1e-4, atol=1e-4)
    assert not model.training


@pytest.mark.parametrize(("change", "said"), [
    ({"n_characters": 261}, "n_characters is 261; a model for inference has 262"),
    ({"max_characters_per_token": 20}, "max_characters_per_token is 20; only 50 character codes"),
    ({"activation": "gelu"}, "the activation 'gelu' is not supported"),
    ({"activation": [*range(9999)]}, "not an options file|the activation .{,60};"),
    ({"embedding": {}}, "not an options file of a released ELMo"),
    ({"embedding": {"dim": 7}}, r"'char_embed' has the shape \[261, 5\], which cannot be converted to \[262, 7\]"),
    ({"filters": [[1, 3]]}, "which cannot be converted to"),
    ({"n_highway": 3}, "has no 'CNN_high_2/W_carry'"),
])
def test_options_that_do_not_fit(files: tuple[Path, Path], change: dict[str, Any], said: str) -> None:
    files[0].write_text(json.dumps(OPTIONS | {"char_cnn": OPTIONS["char_cnn"] | change}), encoding="utf-8")
    with pytest.raises(ElmoFileError, match=said):
        read_elmo(*files)


def test_files_that_are_none(files: tuple[Path, Path], tmp_path: Path) -> None:
    options, weights = files
    with pytest.raises(ElmoFileError, match=r"gone.json cannot be read"):
        read_elmo(tmp_path / "gone.json", weights)
    with pytest.raises(ElmoFileError, match="not an options file"):
        read_elmo(weights, weights)
    weights.with_name("large").write_bytes(weights.read_bytes() + bytes(100_000))
    with pytest.raises(ElmoFileError, match="not an options file") as told:
        read_elmo(weights.with_name("large"), options)
    assert len(str(told.value)) < 500
    with pytest.raises(ElmoFileError, match="cannot be read as HDF5"):
        read_elmo(options, options)
    with pytest.raises(ElmoFileError, match=r"gone.hdf5"):
        read_elmo(options, tmp_path / "gone.hdf5")
    different = OPTIONS | {"lstm": OPTIONS["lstm"] | {"proj_clip": 3}}
    options.write_text(json.dumps(different), encoding="utf-8")
    with pytest.raises(ElmoFileError, match="differ"):
        read_elmo(options, weights)


@pytest.mark.parametrize("place", [0, 1])
def test_a_file_that_was_not_fetched_by_git_lfs(files: tuple[Path, Path], place: int) -> None:
    files[place].write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 374434792\n")
    with pytest.raises(ElmoFileError, match=f"^{files[place].name} is a git LFS pointer.*git lfs pull"):
        read_elmo(*files)


@pytest.mark.parametrize("share", [0.05, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut_short(files: tuple[Path, Path], share: float) -> None:
    options, weights = files
    whole = weights.read_bytes()
    weights.write_bytes(whole[:int(len(whole) * share)])
    with pytest.raises(ElmoFileError, match="truncated"):
        read_elmo(options, weights)
