"""T5 and BART in the Attention Lab and the Beam Lab: cross-attention, sentinels in source and target."""

from typing import Any

import pytest
import torch
from small_models import seeded, weights_of

from plmlab.decode import ConditionedDecoder, beam_search
from plmlab.example import PairBatch
from plmlab.labs import AttentionLab, BeamLab
from plmlab.models.bart import BART, BARTConfig
from plmlab.models.registry import architecture_of
from plmlab.models.t5 import T5, T5Config
from plmlab.text.tokenizers import Tokenizer

WORDS = Tokenizer.words(["the bank was closed ."], 60)
SOURCES = {"t5": "the bank [X0] closed .", "bart": "the bank [MASK] closed ."}
TARGETS = {"t5": "[X0] was [X1]", "bart": "the bank was closed ."}


def built(name: str) -> Any:
    size = len(WORDS)
    return seeded(T5(T5Config.tiny(size)) if name == "t5" else BART(BARTConfig.tiny(size)))


def example(model: Any, name: str, target: str = "", other: str = "") -> PairBatch:
    source, decoder = (WORDS.encode(text) for text in (other or SOURCES[name], target))
    made: Any = architecture_of(model).example(source, decoder, WORDS.vocab)
    return PairBatch.of([made], pad=WORDS.vocab.need("pad"))


def by_hand(q: torch.Tensor, k: torch.Tensor, heads: int, *, scaled: bool) -> torch.Tensor:
    """softmax(QKᵀ), or softmax(QKᵀ / √d_k)."""
    q, k = (part[0].unflatten(-1, (heads, -1)).transpose(0, 1) for part in (q, k))
    return (q @ k.mT / (q.shape[-1] ** 0.5 if scaled else 1)).softmax(-1)


@pytest.mark.parametrize("name", SOURCES)
def test_cross_attention_is_that_of_the_model(name: str) -> None:
    model = built(name)
    lab = AttentionLab(model, WORDS, SOURCES[name], TARGETS[name])
    assert lab.message == "" and [one["name"] for one in lab.state["maps"]] == ["encoder", "decoder", "cross"]
    lab.shown = 2
    batch = example(model, name, TARGETS[name])
    assert lab.state["keys"] == WORDS.tokens(batch.source.tokens[0].tolist())
    assert lab.state["queries"] == WORDS.tokens(batch.target.tokens[0].tolist())
    layers = [layer.cross_attention for layer in model.decoder.layers]
    seen: dict[torch.nn.Module, torch.Tensor] = {}
    for layer in layers:
        for part in (layer.q, layer.k):
            part.register_forward_hook(lambda module, _, output: seen.update({module: output}))
    with torch.no_grad():
        model(batch)
    wanted = [by_hand(seen[layer.q], seen[layer.k], layer.heads, scaled=name == "bart") for layer in layers]
    torch.testing.assert_close(weights_of(lab), torch.stack(wanted).double(), atol=1e-4, rtol=0)


@pytest.mark.parametrize("name", SOURCES)
def test_beams_are_conditioned_on_the_source(name: str) -> None:
    """The prompt continues the decoder's text. Only a T5 may generate sentinels."""
    model = built(name)
    decoder = ConditionedDecoder(model, example(model, name).source)
    lab, start = BeamLab(decoder, WORDS, "", width=2, length=3), torch.tensor([[WORDS.vocab.start]])
    wanted = beam_search(decoder, start, WORDS.vocab, length=3, beam=2, alpha=lab.alpha)[0]
    found = lab.grown[-1].finished
    assert lab.source == type(model).__name__, "not that of the decoder around it"
    assert lab.message == "" and [one.tokens for one in found] == [one.tokens for one in wanted]
    assert [one.logprob for one in found] == pytest.approx([one.logprob for one in wanted], abs=1e-4)
    generated = {branch["token"] for column in lab.state["columns"] for branch in column}
    assert any(token.startswith("[X") for token in generated) == (name == "t5")
    changed = ConditionedDecoder(model, example(model, name, other="the bank").source)
    other = BeamLab(changed, WORDS, "", width=2, length=3)
    assert other.grown[-1].finished[0].logprob != pytest.approx(found[0].logprob, abs=1e-3)
