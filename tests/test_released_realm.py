"""The released embedder's layout: a folder written here from models of ``transformers``, and read out again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from realm_small import BLOCKS, VOCAB, ids, two
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from plmlab.example import Batch
from plmlab.hf import NotLoadable, embedder_from_folder, from_hf
from plmlab.objectives.reader_inputs import pair_input

SIZE = {"vocab_size": VOCAB.size, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3,
        "intermediate_size": 20, "max_position_embeddings": 30, "type_vocab_size": 2, "hidden_act": "gelu_new",
        "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1, "layer_norm_eps": 1e-12}
TOLD: dict[str, Any] = {"model_type": "realm", "architectures": ["RealmEmbedder"], "retriever_proj_size": 7,
                        "num_candidates": 8, "span_hidden_size": 256, "pad_token_id": 0, **SIZE}


@pytest.fixture
def theirs() -> nn.ModuleDict:
    torch.manual_seed(0)
    made = nn.ModuleDict({"realm": BertModel(BertConfig(**SIZE)), "cls": nn.ModuleDict({
        "dense": nn.Linear(12, 7), "LayerNorm": nn.LayerNorm(7, eps=1e-12),
        "predictions": nn.ModuleDict({"decoder": nn.Linear(12, VOCAB.size)})})})
    for weight in made.parameters():
        nn.init.normal_(weight, std=0.5)
    return made.eval()


def written(folder: Path, weights: dict[str, Tensor], told: object = TOLD) -> Path:
    (folder / "config.json").write_text(json.dumps(told), encoding="utf-8")
    save_file({name: tensor.clone() for name, tensor in weights.items()}, folder / "model.safetensors")
    return folder


@torch.no_grad()
@pytest.mark.parametrize("precision", [torch.float32, torch.float16])
def test_it_computes_as_theirs(theirs: nn.ModuleDict, tmp_path: Path, precision: torch.dtype) -> None:
    theirs.to(precision)
    model = embedder_from_folder(written(tmp_path, theirs.state_dict()))
    theirs.float()
    texts = [(ids(one.title), ids(one.text)) for one in BLOCKS] + [((), ())]
    ours = model(Batch.of([pair_input(*one, VOCAB) for one in texts], pad=0))
    assert not model.training and ours.dtype == torch.float32
    for row, one in enumerate(texts):
        tokens, segments = two(*one)
        pooled = theirs["realm"](torch.tensor([tokens]), token_type_ids=torch.tensor([segments])).pooler_output
        expected = theirs["cls"]["LayerNorm"](theirs["cls"]["dense"](pooled))[0]
        torch.testing.assert_close(ours[row], expected, rtol=0, atol=1e-5)
    assert float(ours.std(0).min()) > 0.01


def without(name: str) -> Callable[[dict[str, Tensor]], dict[str, Tensor]]:
    return lambda weights: {other: tensor for other, tensor in weights.items() if other != name}


@pytest.mark.parametrize(("change", "told", "said"), [
    (without("cls.dense.weight"), {}, "1 tensors are missing, such as cls.dense.weight"),
    (without("realm.pooler.dense.bias"), {}, "such as realm.pooler.dense.bias"),
    (dict, {"num_hidden_layers": 3}, r"16 tensors are missing, such as realm.encoder.layer.2"),
    (dict, {"retriever_proj_size": 9}, r"projection.weight is \(7, 12\) in the file and \(9, 12\) in the model"),
    (dict, {"vocab_size": 20}, r"encoder.embeddings.token.weight is \(\d+, 12\) in the file and \(20, 12\)"),
    (dict, {"model_type": "bert"}, "is not the configuration of a REALM"),
    (dict, {"hidden_act": "swish"}, "activation 'swish' is not supported"),
    (dict, {"is_decoder": True}, "is_decoder = True"),
])
def test_what_does_not_fit(theirs: nn.ModuleDict, tmp_path: Path, change: Callable, told: dict, said: str) -> None:
    with pytest.raises(NotLoadable, match=said):
        embedder_from_folder(written(tmp_path, change(theirs.state_dict()), TOLD | told))


@pytest.mark.parametrize("name", ["retriever_proj_size", "hidden_size"])
def test_a_configuration_that_says_too_little(theirs: nn.ModuleDict, tmp_path: Path, name: str) -> None:
    told = {other: value for other, value in TOLD.items() if other != name}
    with pytest.raises(NotLoadable, match=name):
        embedder_from_folder(written(tmp_path, theirs.state_dict(), told))


def test_files_that_are_missing_or_none(theirs: nn.ModuleDict, tmp_path: Path) -> None:
    with pytest.raises(NotLoadable, match=r"there is no .*gone.config.json"):
        embedder_from_folder(tmp_path / "gone")
    folder = written(tmp_path, theirs.state_dict())
    weights, config = folder / "model.safetensors", folder / "config.json"
    whole = weights.read_bytes()
    for size in (0, 5, 400, len(whole) - 3):
        weights.write_bytes(whole[:size])
        with pytest.raises(NotLoadable, match="cannot be loaded"):
            embedder_from_folder(folder)
    weights.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n")
    with pytest.raises(NotLoadable, match=r"model.safetensors is a git LFS pointer"):
        embedder_from_folder(folder)
    weights.unlink()
    with pytest.raises(NotLoadable, match=r"there is no .*model.safetensors"):
        embedder_from_folder(folder)
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x02}.")
    with pytest.raises(NotLoadable, match="a pickle, which can run arbitrary code"):
        embedder_from_folder(folder)
    for text in ("", "[]", "{", "null"):
        config.write_text(text)
        with pytest.raises(NotLoadable, match=r"cannot be loaded|is not the configuration of a REALM"):
            embedder_from_folder(folder)


def test_from_hf_cannot_read_it(theirs: nn.ModuleDict, tmp_path: Path) -> None:
    with pytest.raises(NotLoadable):
        from_hf(written(tmp_path, theirs.state_dict()))
