"""Our MPNet against ``MPNetModel`` and ``MPNetForMaskedLM``, which have the content stream alone."""

from pathlib import Path

import pytest
import torch
from alike import same, same_gradients, same_masked_lm, shaken
from mpnets import SIZES, text_of
from transformers import MPNetConfig, MPNetForMaskedLM, MPNetModel, RobertaConfig, RobertaModel

from plmlab.hf import convert, from_hf, to_hf
from plmlab.hf.mpnet import MPNETS
from plmlab.hf.readable import HFModel
from plmlab.interpret import watch
from plmlab.models.mpnet import MPNet, MPNetPretraining
from plmlab.models.mpnet import MPNetConfig as OurConfig

pytestmark = pytest.mark.filterwarnings("ignore:the weights contain no encoder", "ignore:the MPNet of transformers")
sizes = pytest.mark.parametrize("size", SIZES)
texts = pytest.mark.parametrize("lengths", [[1], [9, 9], [17, 4, 11]])
KINDS = {MPNetModel: MPNet, MPNetForMaskedLM: MPNetPretraining}
RESERVED = "mpnet.embeddings.position_embeddings.weight"


@texts
@sizes
def test_encoder(size: dict, lengths: list[int]) -> None:
    theirs = shaken(MPNetModel(MPNetConfig(**size, attn_implementation="eager")))
    ours = convert(theirs)
    batch, given = text_of(size["vocab_size"], lengths)
    expected = theirs(**given, output_hidden_states=True, output_attentions=True)
    real = given["attention_mask"].bool()
    with watch(ours) as seen:
        hidden = ours(batch)
    same(hidden[real], expected.last_hidden_state[real])
    for mine, other in zip(seen.hidden(), expected.hidden_states, strict=True):
        same(mine[real], other[real])
    rows = real[:, None, :, None]
    for mine, other in zip(seen.attention(), expected.attentions, strict=True):
        same(mine * rows, other * rows)
    same(ours.pool(hidden), expected.pooler_output)
    same(ours.pooled_output(batch), expected.pooler_output)


def test_a_text_that_fills_all_buckets_of_distances() -> None:
    theirs = shaken(MPNetModel(MPNetConfig(**SIZES[0])))
    batch, given = text_of(31, [150])
    same(convert(theirs)(batch), theirs(**given).last_hidden_state)


@texts
@sizes
def test_loss_and_gradients(size: dict, lengths: list[int]) -> None:
    theirs = shaken(MPNetForMaskedLM(MPNetConfig(**size)))
    ours = convert(theirs)
    batch, given = text_of(size["vocab_size"], lengths)
    same_masked_lm(ours, theirs, batch, given)
    same_gradients(ours, theirs, MPNETS)


@pytest.mark.parametrize("precision", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_there_and_back(kind: type, precision: torch.dtype) -> None:
    """All weights but the two positions that no token of theirs has."""
    theirs = shaken(kind(MPNetConfig(**SIZES[2])))
    ours = convert(theirs).to(precision)
    again = to_hf(ours)
    assert type(ours) is KINDS[kind] and type(again) is kind and again.dtype == precision and not again.training
    for (name, a), (other, b) in zip(again.named_parameters(), theirs.named_parameters(), strict=True):
        rows = slice(2, None) if RESERVED.endswith(name) else slice(None)
        assert name == other and torch.equal(a[rows], b[rows].to(precision)), name
    assert convert(again).config == ours.config and convert(again.train()).training
    assert ours.config.time == 17


@pytest.mark.parametrize("kind", KINDS)
def test_through_a_folder(kind: type, tmp_path: Path) -> None:
    """The pooler of an ``MPNetModel`` comes along."""
    theirs = shaken(kind(MPNetConfig(**SIZES[1]))).float()
    ours = convert(theirs)
    to_hf(ours).save_pretrained(tmp_path)
    loaded, tokenizer = from_hf(tmp_path)
    assert type(loaded) is type(ours) and tokenizer is None and loaded.config == ours.config and not loaded.training
    for (name, a), (_, b) in zip(loaded.named_parameters(), ours.named_parameters(), strict=True):
        assert torch.equal(a, b), name
    batch, given = text_of(50, [9, 9])
    with torch.no_grad():
        expected = kind.from_pretrained(tmp_path).eval()(**given)[0]
        same(theirs(**given)[0], expected, 1e-5)
        same(loaded(batch), expected, 1e-5)


def test_a_model_without_a_pooler_gets_a_zero_one_and_says_so() -> None:
    with pytest.warns(UserWarning, match=r"the weights contain no encoder\.pooler: in our model it is init"):
        assert not convert(MPNetForMaskedLM(MPNetConfig(**SIZES[0]))).encoder.pooler.weight.any()
    with pytest.warns(UserWarning, match="no pooler"):
        convert(MPNetModel(MPNetConfig(**SIZES[0]), add_pooling_layer=False))


def test_of_a_token_that_theirs_takes_for_padding_the_way_over_tells_what_to_do() -> None:
    """In our vocabularies it is [UNK]. Theirs is given positions, by hand, and by what reads theirs for a reader."""
    ours = shaken(MPNet(OurConfig(30, time=20, layers=2, model=8, heads=2, inner=12)))
    with pytest.warns(UserWarning, match=r"treats token 1 as padding .*\[UNK\].*position_ids: 2 for the first"):
        theirs = to_hf(ours)
    batch, given = text_of(30, [9, 9])
    batch.tokens[:, 3] = given["input_ids"][:, 3] = 1
    assert not torch.allclose(theirs(**given)[0], ours(batch), atol=0.01)
    same(theirs(**given, position_ids=torch.arange(2, 11).expand(2, -1))[0], ours(batch))
    same(HFModel(theirs)(batch)[0], ours(batch))


@pytest.mark.parametrize("padding", [0, 1, 5])
def test_a_roberta_is_given_positions_too(padding: int) -> None:
    """Its padding is a token of its configuration; where no text has it, it counts as it does by itself."""
    config = RobertaConfig(vocab_size=30, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
                           intermediate_size=8, max_position_embeddings=20, type_vocab_size=1, pad_token_id=padding)
    theirs = shaken(RobertaModel(config))
    batch, _ = text_of(30, [9, 9])
    batch.tokens.clamp_(min=6)
    model = HFModel(theirs)
    assert model.max_positions == 20 - padding - 1
    same(model(batch)[0], theirs(batch.tokens)[0])


def test_what_the_other_does_not_do_is_refused() -> None:
    for settings, told in (({"relative_attention_num_buckets": 16}, "relative_attention_num_buckets = 16"),
                           ({"hidden_act": "relu"}, "hidden_act = 'relu'")):
        with pytest.raises(ValueError, match=f"{told}; ours only supports"):
            convert(MPNetModel(MPNetConfig(**SIZES[0], **settings)))
    small = {"vocab": 40, "time": 9, "layers": 1, "model": 8, "heads": 2, "inner": 8}
    for more, told in (({"buckets": 16}, "buckets = 16"), ({"activation": "relu"}, "activation = 'relu'")):
        with pytest.raises(ValueError, match=f"{told}; theirs only supports"):
            to_hf(MPNet(OurConfig(**small, **more)))
