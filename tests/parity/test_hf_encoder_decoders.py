"""T5, T5 v1.1, BART and PEGASUS against ``transformers``: logits, loss, gradients, and the conversion in both
directions."""

from pathlib import Path
from typing import Any

import pytest
import torch
from parity.alike import same, shaken
from parity.encoder_decoders import BARTS, CLOSE, KINDS, NAMES, PEGASUSES, T5S, Rows, both_read, theirs_of
from torch import nn
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BartModel,
    PegasusConfig,
    PegasusForConditionalGeneration,
    PegasusModel,
    T5ForConditionalGeneration,
    T5Model,
)
from transformers import T5Config as TheirT5Config
from transformers.models.t5.modeling_t5 import T5Attention

from plmlab.example import PairBatch
from plmlab.hf import bart, convert, from_hf, pegasus, t5, to_hf
from plmlab.hf.links import Link, to_ours
from plmlab.layers.relative import CausalRelativePositionBias, RelativePositionBias
from plmlab.models.bart import BART, BARTConfig
from plmlab.models.pegasus import PEGASUS, PEGASUSConfig
from plmlab.models.t5 import T5, T5Config, T5v11, T5v11Config
from plmlab.objectives.gap_sentences import pad_started_pair
from plmlab.text.vocabulary import Vocabulary

every_kind = pytest.mark.parametrize(("kind", "size"), KINDS)
SMALL = {"vocab": 30, "layers": 2, "model": 12, "heads": 3, "inner": 20}
OURS = [T5(T5Config(**SMALL, width=5, buckets=8)), T5(T5Config(**SMALL)), T5v11(T5v11Config(**SMALL, width=2)),
        BART(BARTConfig(**SMALL, time=9, start=3)), PEGASUS(PEGASUSConfig(**SMALL))]

pytestmark = pytest.mark.usefixtures("one_thread")


def links_of(model: nn.Module) -> list[Link]:
    """Of all weights, with the names of theirs."""
    if isinstance(model, BART):
        return [*bart.links_of(model.config.layers), *bart.OUTPUT_BIAS]
    if isinstance(model, PEGASUS):
        return pegasus.links_of(model.config.layers)
    return [Link(link.ours, link.theirs.removeprefix(t5.BASE), link.form)
            for link in t5.links_of(type(model), model.config.layers)]


@every_kind
@pytest.mark.parametrize("side", ["right", "left", "both"])
@pytest.mark.parametrize("lengths", [[1], [9, 9], [17, 4, 11]])
def test_logits_loss_and_gradients(kind: str, size: int, side: str, lengths: list[int]) -> None:
    theirs, close = theirs_of(kind, size), CLOSE[kind]
    ours = convert(theirs)
    source, target = Rows.of(lengths, side, 1), Rows.of([n + 1 for n in lengths[::-1]], side, 2)
    batch, told = both_read(theirs, source, target)
    same(ours(batch)[target.real], told.logits[target.real], close)
    loss = ours.loss(batch)
    same(loss, told.loss, close)
    loss.backward()
    told.loss.backward()
    found = {name: p.grad for name, p in theirs.named_parameters() if p.requires_grad}
    links = [link for link in links_of(ours) if link.ours != "output_bias"]  # theirs is a constant
    assert found.keys() == {link.theirs for link in links}
    grads = to_ours(links, found)
    for name, parameter in ours.named_parameters():
        if name == "output_bias":
            continue
        learned = slice(1, None) if kind == "bart" and name == "token.weight" else slice(None)  # theirs: not padding
        same(parameter.grad[learned], grads.pop(name)[learned], 10 * close)
    assert not grads


def test_pegasus_starts_with_the_padding_token() -> None:
    """Theirs shift the labels; as an input, the padding token's embedding takes no gradient."""
    theirs = theirs_of("pegasus")
    ours, texts = convert(theirs), [([20, 30, 40, 21], [31, 41]), ([22, 32], [42, 23, 33])]
    examples = [pad_started_pair(*pair, Vocabulary(60)) for pair in texts]
    loss = ours.loss(batch := PairBatch.of(examples, pad=0))
    told = theirs(batch.source.tokens, attention_mask=(batch.source.tokens > 0).long(), labels=batch.targets).loss
    same(loss, told)
    loss.backward()
    told.backward()
    same(ours.token.weight.grad, theirs.model.shared.weight.grad)
    assert theirs.model.shared.weight.grad[0].any(), "it is also a row of the output layer"


@pytest.mark.parametrize("kind", ["t5", "t5-v1_1"])
def test_distances_beyond_the_last_bucket(kind: str) -> None:
    theirs = theirs_of(kind)
    source, target = Rows.of([190, 60], "right", 1), Rows.of([40, 180], "right", 2)
    batch, told = both_read(theirs, source, target)
    with torch.no_grad():
        same(convert(theirs)(batch)[target.real], told.logits[target.real], CLOSE[kind])


@pytest.mark.parametrize("buckets", [8, 32, 6])
@pytest.mark.parametrize(("kind", "both"), [(RelativePositionBias, True), (CausalRelativePositionBias, False)])
def test_buckets_are_theirs_in_both_directions(kind: type[RelativePositionBias], both: bool, buckets: int) -> None:
    """Theirs measures from the query to the key, ours back."""
    back = torch.arange(-300, 301)
    told = T5Attention._relative_position_bucket(-back, bidirectional=both, num_buckets=buckets, max_distance=128)
    assert torch.equal(kind(buckets, 1).bucket_of(back), told)
    assert len(set(told.tolist())) > buckets / 2


def test_the_worked_buckets() -> None:
    """With 32 buckets: 16 a direction in the encoder, of which 8 hold one distance each; all 32 behind the query in the
    decoder, of which 16 do."""
    encoder, decoder = RelativePositionBias(32, 1), CausalRelativePositionBias(32, 1)
    distances = torch.tensor([0, 1, 7, 8, 11, 12, 16, 64, 127, 128, 500])
    assert encoder.bucket_of(distances).tolist() == [0, 1, 7, 8, 8, 9, 10, 14, 15, 15, 15]
    assert encoder.bucket_of(-distances[1:]).tolist() == [17, 23, 24, 24, 25, 26, 30, 31, 31, 31]
    assert decoder.bucket_of(distances).tolist() == [0, 1, 7, 8, 11, 12, 16, 26, 31, 31, 31]
    assert decoder.bucket_of(-distances).tolist() == [0] * 11


@pytest.mark.parametrize("model", OURS, ids=lambda model: type(model).__name__)
def test_ours_become_theirs_and_come_back(model: nn.Module, tmp_path: Path) -> None:
    shaken(model).train()
    theirs = to_hf(model)
    assert theirs.training and theirs.dtype == torch.float64
    source, target = Rows.of([8, 5], "right", 1), Rows.of([4, 6], "left", 2)
    source, target = (Rows(rows.tokens % 30, rows.real) for rows in (source, target))
    for again in (convert(theirs), convert(to_hf(convert(theirs)))):
        assert type(again) is type(model) and {**vars(again.config), "width": 0} == {**vars(model.config), "width": 0}
        assert_equal(again, model)
    batch, told = both_read(theirs.eval(), source, target)
    with torch.no_grad():
        same(model.eval()(batch)[target.real], told.logits[target.real], 1e-6)
    to_hf(model.float()).save_pretrained(tmp_path)
    loaded, tokenizer = from_hf(tmp_path)
    assert type(loaded) is type(model) and tokenizer is None and not loaded.training
    assert_equal(loaded, model)


def assert_equal(one: nn.Module, other: nn.Module) -> None:
    """The same names and the same weights."""
    for (name, weight), (own, expected) in zip(one.state_dict().items(), other.state_dict().items(), strict=True):
        assert name == own and torch.equal(weight, expected), name


def test_ties_are_those_of_the_two_versions() -> None:
    for model, tied in ((OURS[0], True), (OURS[2], False), (OURS[3], True), (OURS[4], True)):
        theirs: Any = to_hf(model)
        assert (theirs.lm_head.weight is theirs.get_input_embeddings().weight) == tied
    assert to_hf(OURS[0]).config.scale_decoder_outputs and not to_hf(OURS[2]).config.scale_decoder_outputs


@pytest.mark.parametrize(("settings", "told"), [
    ({"feed_forward_proj": "gated-gelu"}, "scale_decoder_outputs = True"),
    ({"tie_word_embeddings": False}, "scale_decoder_outputs = False"),
    ({"feed_forward_proj": "gated-silu", "tie_word_embeddings": False}, "feed_forward_proj = 'gated-silu'"),
    ({"feed_forward_proj": "gelu"}, "feed_forward_proj = 'gelu'"),
    ({"num_decoder_layers": 1}, "num_decoder_layers = 1"),
    ({"relative_attention_max_distance": 64}, "relative_attention_max_distance = 64"),
])
def test_a_t5_that_ours_is_not_is_refused(settings: dict, told: str) -> None:
    theirs = T5ForConditionalGeneration(TheirT5Config(**T5S, d_model=8, d_kv=4, d_ff=8, num_heads=2,
                                                      **{"num_layers": 2} | settings))
    with pytest.raises(ValueError, match=told):
        convert(theirs)


@pytest.mark.parametrize(("settings", "told"), [
    ({"scale_embedding": True}, "scale_embedding = True"), ({"decoder_layers": 2}, "decoder_layers = 2"),
    ({"activation_function": "relu"}, "activation_function = 'relu'"),
    ({"decoder_attention_heads": 1}, "decoder_attention_heads = 1"),
    ({"decoder_ffn_dim": 4}, "decoder_ffn_dim = 4"),
])
def test_a_bart_that_ours_is_not_is_refused(settings: dict, told: str) -> None:
    size = {"encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
            "encoder_ffn_dim": 8, "decoder_ffn_dim": 8}
    theirs = BartForConditionalGeneration(BartConfig(**BARTS, d_model=8, **size | settings))
    with pytest.raises(ValueError, match=told):
        convert(theirs)
    with pytest.raises(ValueError, match="eps = 1e-12"):
        to_hf(BART(BARTConfig(**SMALL, eps=1e-12)))


PEGASUS_SIZE = {"d_model": 8, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
                "decoder_attention_heads": 2, "encoder_ffn_dim": 8, "decoder_ffn_dim": 8}


@pytest.mark.parametrize(("settings", "told"), [
    ({"scale_embedding": False}, "scale_embedding = False"), ({"decoder_layers": 2}, "decoder_layers = 2"),
    ({"activation_function": "gelu"}, "activation_function = 'gelu'"),
    ({"decoder_attention_heads": 1}, "decoder_attention_heads = 1"), ({"decoder_ffn_dim": 4}, "decoder_ffn_dim = 4"),
    ({"decoder_start_token_id": 5}, "decoder_start_token_id = 5"),
])
def test_a_pegasus_that_ours_is_not_is_refused(settings: dict, told: str) -> None:
    theirs = PegasusForConditionalGeneration(PegasusConfig(**PEGASUSES | PEGASUS_SIZE | settings))
    with pytest.raises(ValueError, match=told):
        convert(theirs)


def test_a_pegasus_with_other_constants_is_refused() -> None:
    """Positional encodings that were trained, and a bias of the output layer."""
    for change, told in ((lambda theirs: theirs.model.decoder.embed_positions.weight[3, 2].add_(0.1),
                          "decoder.embed_positions.weight is not the sinusoidal"),
                         (lambda theirs: theirs.final_logits_bias[0, 3].add_(0.1), "final_logits_bias is not zero")):
        theirs = theirs_of("pegasus")
        with torch.no_grad():
            change(theirs)
        with pytest.raises(ValueError, match=told):
            convert(theirs)


@pytest.mark.filterwarnings("error")
def test_no_weight_of_a_pegasus_is_dropped() -> None:
    """Neither of a model in half precision, whose positional encodings are rounded, nor of a bare one."""
    bare = convert(PegasusModel(PegasusConfig(**PEGASUSES | PEGASUS_SIZE)).bfloat16())
    assert type(bare) is PEGASUS and bare.token.weight.dtype == torch.bfloat16
    assert to_hf(PEGASUS(PEGASUSConfig(**SMALL))).config.decoder_start_token_id == 0


def test_bare_models_lack_only_their_output() -> None:
    """A T5 has no weights of its own there; a BART gets a bias of zero; v1.1 lacks a whole layer."""
    size = {"d_model": 8, "d_kv": 4, "d_ff": 8, "num_heads": 2, "num_layers": 1}
    plain = shaken(T5Model(TheirT5Config(**T5S, **size)))
    assert type(convert(plain)) is T5
    with pytest.raises(ValueError, match=r"1 tensors are missing, such as transformer\.lm_head\.weight"):
        convert(T5Model(TheirT5Config(**T5S, **size, feed_forward_proj="gated-gelu", tie_word_embeddings=False)))
    with pytest.warns(UserWarning, match="no output_bias"):
        ours = convert(shaken(BartModel(BartConfig(**BARTS, d_model=8, encoder_layers=1, decoder_layers=1,
                                                   encoder_attention_heads=2, decoder_attention_heads=2))))
    assert isinstance(ours, BART) and not ours.output_bias.any()


def test_each_weight_has_one_link() -> None:
    """No two weights of theirs are linked to one of ours, or the other way."""
    for kind in NAMES:
        theirs = theirs_of(kind)
        ours = convert(theirs)
        links = links_of(ours)
        assert len({link.ours for link in links}) == len({link.theirs for link in links}) == len(links)
        assert {link.ours for link in links} == {name for name, _ in ours.named_parameters()}
