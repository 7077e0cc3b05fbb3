"""Every registered model: built tiny, pretrained for two updates, saved, loaded, and opened in the labs that what it
reads promises."""

from pathlib import Path

import pytest
import torch
from standin import SENTENCES
from torch import nn

from plmlab.checkpoints import load, save
from plmlab.interpret.attention_maps import INSTEAD
from plmlab.interpret.readable import readable
from plmlab.labs import AttentionLab, BlankLab, ClozeLab, NextTokenLab
from plmlab.models.registry import all_models, architecture_of
from plmlab.text import Tokenizer
from plmlab.text.streams import examples
from plmlab.text.text import Named
from plmlab.train import fit

TEXT, OTHER = Named(SENTENCES[12], [(4, 19)]), Named(SENTENCES[6], [(4, 7)])
"""Texts that know their entities: the quick brown fox, and the cat."""
TIME = 24
KINDS = all_models()

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.words([TEXT, OTHER], 100)


@pytest.mark.parametrize("name", KINDS)
def test_it_is_made_pretrained_saved_loaded_and_opened(name: str, tokenizer: Tokenizer, tmp_path: Path) -> None:
    kind = KINDS[name]
    torch.manual_seed(0)
    model = kind.model(kind.config.tiny(len(tokenizer), TIME))
    if how := kind.pretraining:
        before = {name: weight.clone() for name, weight in model.state_dict().items()}
        batches = examples([TEXT, OTHER], tokenizer, how.objective, 4, 0, TIME - how.added)
        if how.prepare:
            how.prepare(model, tokenizer, batches)
        history = fit(model, batches, steps=2, lr=1e-3, warmup=1, show=False)
        assert len(history.losses) == 2 and all(map(torch.isfinite, map(torch.tensor, history.losses)))
        assert any(not torch.equal(weight, before[name]) for name, weight in model.state_dict().items())
    save(tmp_path / "made", model, tokenizer, command="x", figures={})
    again, words = load(tmp_path / "made", expect=name)
    assert type(again) is kind.model and again.config == model.config
    for (place, weight), other in zip(model.state_dict().items(), again.state_dict().values(), strict=True):
        assert torch.equal(weight, other), place
    opened(again, words)


def opened(model: nn.Module, words: Tokenizer) -> None:
    """What can be drawn of a model by what it reads: who attends to whom, what stands under a mask, what comes next,
    and what fills a blank."""
    reads, kind = readable(model), architecture_of(model)
    if kind.name not in INSTEAD:
        lab = AttentionLab(model, words, TEXT, OTHER if kind.name == "encoder-decoder" else None)
        assert lab.message == "" and lab.state["size"][0] > 0
    if not reads.names_tokens:
        return
    if kind.infiller:
        assert BlankLab(model, words, TEXT).message == ""
    elif kind.name == "encoder":
        assert ClozeLab(model, words, TEXT, hide=["fox"]).state["gaps"]
    elif kind.name in ("decoder", "recurrent"):
        assert NextTokenLab(model, words, TEXT).state["rows"]
