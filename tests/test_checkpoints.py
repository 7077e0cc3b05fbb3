"""Checkpoints: what is saved is what is loaded, and what cannot be loaded is said."""

import json
import os
from dataclasses import dataclass

import pytest
import torch
from safetensors import safe_open
from torch import nn

import plmlab.atomic as folders
import plmlab.checkpoints as checkpoints
from plmlab.checkpoints import CheckpointError, load, save
from plmlab.example import Batch, PairBatch
from plmlab.models.architectures import DECODER
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.models.registry import MODELS, architecture_of, model, model_type, type_of
from plmlab.objectives import gpt_classification, sequence_classification, sequence_to_sequence
from plmlab.paths import ROOT
from plmlab.text import Tokenizer


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.words(["the cat sat on the mat", "a dog saw the cat"], 60)


def gpt(tokenizer, seed=0):
    torch.manual_seed(seed)
    return GPT2(GPTConfig(vocab=len(tokenizer), time=8, layers=2, model=16, heads=2))


@pytest.fixture
def folder(tmp_path, tokenizer):
    save(tmp_path / "small", gpt(tokenizer), tokenizer, command="plmlab pretrain gpt2 --steps 3",
         figures={"validation loss": 3.14159, "floor": "unknown", "steps": 3})
    return tmp_path / "small"


@pytest.fixture
def home(tmp_path, monkeypatch, tokenizer):
    """A data folder with a checkpoint in its index."""
    monkeypatch.setattr(checkpoints, "DATA", tmp_path / "data")
    save(tmp_path / "data" / "checkpoints" / "mine", gpt(tokenizer), tokenizer, command="x", figures={})
    checkpoints.enter("mine")
    return tmp_path / "data" / "checkpoints"


def windows(tokenizer):
    return Batch.causal(torch.randint(len(tokenizer), (2, 7), generator=torch.Generator().manual_seed(1)))


def edit(folder, **changes):
    path = folder / "config.json"
    config = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({k: v for k, v in config.items() if v is not None}))


KEPT = ROOT / "tests" / "kept"
SAID = json.loads((KEPT / "format1.json").read_text(encoding="utf-8"))
"""The first logits of each model's last position, as they were when its checkpoint was saved in format 1."""


@pytest.mark.parametrize("name", SAID)
def test_a_checkpoint_of_format_1_says_what_it_said(name, tmp_path):
    model, tokenizer = load(KEPT / f"format1-{name}")
    if name == "transformer":
        batch = PairBatch.of([sequence_to_sequence([39, 40, 41], [42, 43], vocab=tokenizer.vocab)], pad=0)
    else:
        batch = Batch.causal(torch.tensor([[39, 40, 41, 42, 43, 39]]))
    with torch.no_grad():
        said = model(batch)
    torch.testing.assert_close(said[0, -1, :8], torch.tensor(SAID[name]), atol=2e-6, rtol=0)
    save(tmp_path / name, model, tokenizer, command="x", figures={})
    again, _ = load(tmp_path / name)
    with torch.no_grad():
        assert torch.equal(again(batch), said)


FORMAT_2 = json.loads((KEPT / "format2.json").read_text(encoding="utf-8"))
"""All logits of a text, as they were when each model's checkpoint was saved in format 2."""


@pytest.mark.parametrize("name", FORMAT_2)
def test_a_head_of_format_2_says_what_it_said(name, tmp_path):
    """Its config told the size of the model inside among its own fields; today it holds that one's config."""
    model, tokenizer = load(KEPT / f"format2-{name}")
    vocab = tokenizer.vocab
    example = (gpt_classification([39, 40], 0, vocab=vocab) if name == "gpt2-classifier"
               else sequence_classification([39, 40], 0, pair=[41], vocab=vocab, layout=architecture_of(model).example))
    with torch.no_grad():
        said = model(Batch.of([example], pad=0))
        torch.testing.assert_close(said.flatten(), torch.tensor(FORMAT_2[name]), atol=2e-6, rtol=0)
        save(tmp_path / name, model, tokenizer, command="x", figures={})
        again, _ = load(tmp_path / name)
        assert again.config == model.config and torch.equal(again(Batch.of([example], pad=0)), said)
    inner = json.loads((tmp_path / name / "config.json").read_text())["gpt" if name == "gpt2-classifier" else "encoder"]
    assert inner["model_type"] == name.partition("-")[0] and inner["model"] == 8
    edit(tmp_path / name, **{"gpt" if name == "gpt2-classifier" else "encoder": inner | {"colour": 3}})
    with pytest.raises(CheckpointError, match="'colour' is unknown"):
        load(tmp_path / name)


def test_what_is_loaded_is_what_was_saved(folder, tokenizer):
    ours, (theirs, words) = gpt(tokenizer).eval(), load(folder)
    batch = windows(tokenizer)
    assert type(theirs) is GPT2 and theirs.config == ours.config and not theirs.training
    assert torch.equal(ours(batch), theirs(batch))
    assert words.encode("the dog sat") == tokenizer.encode("the dog sat")


@pytest.mark.parametrize("name", sorted({"gpt", "gpt2", "bert", "bert-pretraining", "transformer"}))
def test_every_type_of_model_goes_to_disk_and_back(tmp_path, tokenizer, name):
    kind = model_type(name)
    size = {"layers": 1, "encoder_layers": 1, "decoder_layers": 1, "model": 16, "heads": 2, "inner": 32}
    told = {key: value for key, value in size.items() if key in kind.config.__dataclass_fields__}
    ours = kind.model(kind.config(vocab=len(tokenizer), **told))
    save(tmp_path / name, ours, tokenizer, command="x", figures={})
    theirs, _ = load(tmp_path / name)
    assert type(theirs) is type(ours) and theirs.config == ours.config
    states = ours.state_dict(), theirs.state_dict()
    assert states[0].keys() == states[1].keys() and all(torch.equal(states[0][k], states[1][k]) for k in states[0])


def test_the_folder_says_all_there_is_to_say(folder, tokenizer):
    assert sorted(p.name for p in folder.iterdir()) == ["README.md", "config.json", "model.safetensors",
                                                        "tokenizer.json"]
    config = json.loads((folder / "config.json").read_text())
    assert config["model_type"] == "gpt2" and config["format"] == 3 and config["layers"] == 2
    text = (folder / "README.md").read_text()
    size = sum(p.numel() for p in gpt(tokenizer).parameters())
    for words in ("plmlab pretrain gpt2 --steps 3", "| validation loss | 3.142 |", "| floor | unknown |", f"{size:,}"):
        assert words in text


def test_tied_weights_are_stored_once_and_tied_again(tmp_path, tokenizer):
    @dataclass(frozen=True)
    class TiedConfig:
        vocab: int

    @model("tied", TiedConfig, DECODER)
    class Tied(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.config, self.token = config, nn.Embedding(config.vocab, 4)
            self.head = nn.Linear(4, config.vocab, bias=False)
            self.head.weight = self.token.weight

    try:
        ours = Tied(TiedConfig(len(tokenizer)))
        save(tmp_path / "t", ours, tokenizer, command="x", figures={})
        with safe_open(tmp_path / "t" / "model.safetensors", "pt") as file:
            assert list(file.keys()) == ["token.weight"]
        theirs, _ = load(tmp_path / "t")
        assert theirs.head.weight is theirs.token.weight and torch.equal(theirs.token.weight, ours.token.weight)
    finally:
        del MODELS["tied"]


def test_saving_again_replaces_and_a_full_disk_leaves_the_old(folder, tokenizer, monkeypatch):
    other = gpt(tokenizer, seed=4)
    save(folder, other, tokenizer, command="again", figures={})
    assert torch.equal(load(folder)[0].embeddings.token.weight, other.embeddings.token.weight)
    for operation in ("write", "settle", "rename"):
        real = folders.os.rename if operation == "rename" else getattr(folders, operation)

        def refuse(first, *rest, real=real):
            if ".draft" in str(first):
                raise OSError(28, "No space left on device")
            return real(first, *rest)
        with monkeypatch.context() as patch:
            patch.setattr(*((folders.os, "rename") if operation == "rename" else (folders, operation)), refuse)
            with pytest.raises(OSError, match="No space left"):
                save(folder, gpt(tokenizer, seed=5), tokenizer, command="never", figures={})
        assert torch.equal(load(folder)[0].embeddings.token.weight, other.embeddings.token.weight)
        assert os.listdir(folder.parent) == ["small"]


def test_folders_that_are_no_checkpoints(tmp_path, folder):
    with pytest.raises(CheckpointError, match="there is no folder"):
        load(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(CheckpointError, match=r"lacks config.json, model.safetensors, tokenizer.json"):
        load(tmp_path / "empty")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(CheckpointError, match=r"it lacks tokenizer.json\. A checkpoint is a folder"):
        load(folder)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("damage", ["cut", "changed", "emptied"])
def test_damaged_files_are_named(folder, name, damage):
    data = bytearray((folder / name).read_bytes())
    data[-9] ^= 1
    (folder / name).write_bytes({"cut": data[:-3], "changed": data, "emptied": b""}[damage])
    with pytest.raises(CheckpointError, match=f"{name} was changed or truncated"):
        load(folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_pointer_of_git_lfs_is_told(folder, name):
    (folder / name).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n")
    with pytest.raises(CheckpointError, match=f"{name} is a git LFS pointer.*git lfs pull"):
        load(folder)


@pytest.mark.parametrize("keep", [0, 5, 100, -1])
def test_weights_that_are_not_safetensors_though_the_hash_agrees(folder, keep):
    data = (folder / "model.safetensors").read_bytes()[:keep]
    (folder / "model.safetensors").write_bytes(data)
    hashes = json.loads((folder / "config.json").read_text())["sha256"]
    edit(folder, sha256=hashes | {"model.safetensors": checkpoints.digest(data)})
    with pytest.raises(CheckpointError, match="cannot be loaded as a 'gpt2' model"):
        load(folder)


@pytest.mark.parametrize(("changes", "words"), [
    ({"model_type": "xlnet99"}, "unknown model type 'xlnet99'; choose one of .*bert.*gpt2"),
    ({"model_type": "gpt"}, "the model has no final_norm"),
    ({"format": 4}, "format 4, but this version of plmlab supports formats 1 to 3"),
    ({"colour": 3, "taste": 1}, "'colour' is unknown; 'taste' is unknown"),
    ({"vocab": None}, "'vocab' is missing"),
    ({"layers": 3}, r"the file lacks layers\.2"),
    ({"model": 32}, r"token.weight is \(\d+, 16\) in the file and \(\d+, 32\) in the model"),
    ({"model": "wide"}, "cannot be loaded as a 'gpt2' model"),
    ({"format": None}, "was not written by plmlab.*from_hf"),
])
def test_configs_that_do_not_fit(folder, changes, words, monkeypatch):
    import jaxtyping
    edit(folder, **changes)
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        with pytest.raises(CheckpointError, match=words):
            load(folder)
    finally:
        jaxtyping.config.update("jaxtyping_disable", False)


@pytest.mark.parametrize("text", ["{", "[1]", "\udcff"])
def test_configs_that_are_no_table(folder, text):
    (folder / "config.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(CheckpointError, match=r"config.json (is not JSON|was not written)"):
        load(folder)


def test_the_type_that_is_needed(folder):
    with pytest.raises(CheckpointError, match="contains a 'gpt2' model, but a 'bert' model is needed"):
        load(folder, expect="bert")
    assert type(load(folder, expect="gpt2")[0]) is GPT2


def test_the_courses_own(home, tokenizer):
    assert checkpoints.names() == ["mine"] and checkpoints.verify() == {"mine": []}
    assert torch.equal(load("mine")[0].embeddings.token.weight, gpt(tokenizer).embeddings.token.weight)
    save(home / "mine", gpt(tokenizer, seed=9), tokenizer, command="x", figures={})
    assert checkpoints.verify() == {"mine": ["config.json has another hash", "model.safetensors has another hash"]}
    with pytest.raises(CheckpointError, match="differs from the bundled checkpoint of that name"):
        load("mine")
    checkpoints.enter("mine")
    assert checkpoints.verify() == {"mine": []} and load("mine")
    (home / "mine" / "tokenizer.json").unlink()
    assert checkpoints.verify() == {"mine": ["tokenizer.json is missing"]}
    with pytest.raises(CheckpointError, match="the bundled checkpoints are: mine"):
        load("yours")


def test_the_checkpoints_that_come_with_the_course_are_whole():
    assert not [problem for problems in checkpoints.verify().values() for problem in problems]


def test_the_registry_knows_a_model_in_hand(tokenizer):
    assert type_of(gpt(tokenizer)).name == "gpt2"
    assert type_of(BERT(BERTConfig(vocab=50, layers=1, model=8, heads=1))).name == "bert"
    with pytest.raises(ValueError, match="a Linear is not a registered model type"):
        type_of(nn.Linear(1, 1))
