"""Points lent to models of Hugging Face: the same record as of ours, and no trace afterwards."""

import pytest
import torch
from torch import Tensor, nn
from transformers import (
    AlbertConfig,
    AlbertModel,
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    BertForPreTraining,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
    ElectraConfig,
    ElectraModel,
    FNetConfig,
    FNetModel,
    GPT2Config,
    GPT2LMHeadModel,
    MarianConfig,
    MarianMTModel,
    MBartConfig,
    MBartModel,
    OpenAIGPTConfig,
    OpenAIGPTLMHeadModel,
    PegasusConfig,
    PegasusModel,
    PreTrainedModel,
    RobertaConfig,
    RobertaModel,
    T5Config,
    T5ForConditionalGeneration,
)

from plmlab.example import Batch
from plmlab.hf import convert
from plmlab.interpret import ablate_heads, intervene, watch
from plmlab.visibility import AttentionMask

ENCODER = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
           "intermediate_size": 20}
GPTS = {"vocab_size": 50, "n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": 20, "bos_token_id": None,
        "eos_token_id": None}
BOTH = {"vocab_size": 50, "d_model": 16, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 2,
        "decoder_attention_heads": 4, "encoder_ffn_dim": 20, "decoder_ffn_dim": 20, "max_position_embeddings": 40,
        "forced_eos_token_id": None}
T5 = {"vocab_size": 50, "d_model": 16, "d_kv": 8, "d_ff": 20, "num_layers": 2, "num_decoder_layers": 3, "num_heads": 2,
      "decoder_start_token_id": 0}
DISTIL = {"vocab_size": 50, "dim": 16, "n_layers": 2, "n_heads": 4, "hidden_dim": 20}
THEIRS = {
    "bert": lambda: BertForPreTraining(BertConfig(**ENCODER)),
    "roberta": lambda: RobertaModel(RobertaConfig(**ENCODER)),
    "albert": lambda: AlbertModel(AlbertConfig(**ENCODER, embedding_size=8)),
    "electra": lambda: ElectraModel(ElectraConfig(**ENCODER, embedding_size=8)),
    "distilbert": lambda: DistilBertModel(DistilBertConfig(**DISTIL)),
    "gpt2": lambda: GPT2LMHeadModel(GPT2Config(**GPTS)),
    "gpt1": lambda: OpenAIGPTLMHeadModel(OpenAIGPTConfig(**GPTS)),
    "bart": lambda: BartForConditionalGeneration(BartConfig(**BOTH)),
    "mbart": lambda: MBartModel(MBartConfig(**BOTH)),
    "pegasus": lambda: PegasusModel(PegasusConfig(**BOTH)),
    "marian": lambda: MarianMTModel(MarianConfig(**BOTH, pad_token_id=1, decoder_start_token_id=1)),
    "t5": lambda: T5ForConditionalGeneration(T5Config(**T5)),
}
every_model = pytest.mark.parametrize("kind", THEIRS)


def made(kind: str) -> nn.Module:
    torch.manual_seed(4)
    model = THEIRS[kind]().double().eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.2)
    return model


def given(model: nn.Module) -> dict[str, Tensor]:
    """Two texts, the second padded."""
    ids = torch.randint(5, 50, (2, 7), generator=torch.Generator().manual_seed(6))
    mask = torch.tensor([[1] * 7, [1] * 4 + [0] * 3])
    asked = {"input_ids": ids, "attention_mask": mask}
    return asked | ({"decoder_input_ids": ids[:, :5]} if model.config.is_encoder_decoder else {})


def close(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=1e-10)


def traces(model: nn.Module) -> list:
    """Everything that a loan changes."""
    return [
        *(part.config._attn_implementation for part in model.modules() if hasattr(part, "config")),
        *(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in model.modules()),
        *("_attn" in vars(part) for part in model.modules()),
        list(model.state_dict()), [name for name, _ in model.named_modules()],
    ]


@every_model
def test_their_record_is_what_they_say_themselves(kind: str) -> None:
    model = made(kind)
    asked, before = given(model), traces(model)
    plain = model(**asked)[0]
    with watch(model) as seen:
        close(model(**asked)[0], plain)
    assert traces(model) == before
    for part in model.modules():    # T5's two stacks follow the whole only from transformers 5.20 on
        if isinstance(part, PreTrainedModel):
            part.set_attn_implementation("eager")
    said = model(**asked, output_attentions=True, output_hidden_states=True)
    if not model.config.is_encoder_decoder:
        pairs = [(seen.attention(), said.attentions), (seen.hidden()[:-1], said.hidden_states[:-1])]
    else:
        pairs = [
            (seen.matching("encoder.*.attention.weights"), said.encoder_attentions),
            (seen.matching("decoder.*.attention.weights"), said.decoder_attentions),
            (seen.attention("cross_attention"), said.cross_attentions),
            ([seen["encoder.embedded"], seen["encoder.layers.0.hidden"]], said.encoder_hidden_states[:2]),
            ([seen["decoder.embedded"], seen["decoder.layers.1.hidden"]], said.decoder_hidden_states[:3:2]),
        ]
    for mine, theirs in pairs:
        assert len(mine) == len(theirs) > 0
        for a, b in zip(mine, theirs, strict=True):
            close(a, b)


@every_model
def test_reaching_into_theirs_moves_the_output_and_leaves_no_trace(kind: str) -> None:
    model = made(kind)
    asked, before = given(model), traces(model)
    plain = model(**asked)[0]
    first = "encoder." if model.config.is_encoder_decoder else ""
    for point, change in ((f"{first}layers.1.attention.weights", ablate_heads(1)),
                          (f"{first}layers.0.hidden", torch.neg), (f"{first}embedded", torch.neg)):
        with intervene(model, {point: change}):
            changed = model(**asked)[0]
        assert not torch.isclose(changed, plain).all(-1).any(), point
    close(model(**asked)[0], plain)
    assert traces(model) == before


TWINS = {"bert": lambda: BertModel(BertConfig(**ENCODER)), "gpt2": THEIRS["gpt2"], "gpt1": THEIRS["gpt1"]}


@pytest.mark.parametrize("kind", TWINS)
@pytest.mark.parametrize(("point", "change"), [
    ("layers.0.attention.weights", ablate_heads(3)), ("layers.*.attention.scores", lambda s: s * 2 + s.flip(1)),
    ("layers.1.attention.queries", lambda q: q.roll(1, 1)), ("layers.0.attention.keys", torch.neg),
    ("layers.1.attention.values", torch.neg), ("layers.0.attention.mixed", ablate_heads(0, 2)),
    ("layers.0.hidden", lambda h: h * 1.5), ("embedded", lambda x: x.flip(-1)),
])
def test_ours_and_theirs_are_one_record_under_the_same_intervention(kind: str, point: str, change) -> None:
    torch.manual_seed(0)
    theirs = TWINS[kind]().double().eval()
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.2)
    ours = convert(theirs)
    tokens = torch.randint(0, 50, (2, 7))
    place = torch.arange(7).expand(2, 1, -1)
    mask = AttentionMask(causal=kind != "bert")
    batch = Batch(tokens, place, torch.zeros_like(tokens), mask, tokens)
    with intervene(ours, {point: change}), watch(ours) as seen:
        mine = ours(batch)
    with intervene(theirs, {point: change}), watch(theirs) as record:
        close(theirs(input_ids=tokens)[0], mine)
    assert set(record) == {name for name in seen if "feed_forward" not in name}
    for name in record:
        close(record[name], seen[name])
    assert not torch.allclose(ours(batch), mine)


@pytest.mark.parametrize("outer", ["watch", "intervene"])
def test_one_inside_the_other_shares_the_loan(outer: str) -> None:
    model = made("bert")
    asked, before = given(model), traces(model)
    plain = model(**asked)[0]
    change = {"layers.0.attention.weights": ablate_heads(0, 1, 2, 3)}
    if outer == "watch":
        with watch(model) as seen:
            with intervene(model.bert, change):
                changed = model(**asked)[0]
            assert (seen["layers.0.attention.weights"] == 0).all()
            close(model(**asked)[0], plain)
            assert len(seen.calls("layers.0.attention.weights")) == 2
            assert (seen["layers.0.attention.weights"] != 0).any()
    else:
        with intervene(model, change):
            with watch(model.bert, "layers.0.attention.weights") as seen:
                changed = model(**asked)[0]
            close(model(**asked)[0], changed)
        assert (seen["layers.0.attention.weights"] == 0).all() and len(seen) == 1
    assert not torch.allclose(changed, plain)
    assert traces(model) == before


@every_model
def test_no_trace_after_an_exception(kind: str) -> None:
    model = made(kind)
    before = traces(model)
    for contrary in (lambda t: 1 / 0, lambda t: t[:, :1]):
        change = {"*layers.0.attention.weights": contrary}
        with pytest.raises((ZeroDivisionError, ValueError)), intervene(model, change), watch(model):
            model(**given(model))
        assert traces(model) == before
    with pytest.raises(KeyError, match=r"no hook point of this model matches 'layers.9.*It has: .*embedded"), \
            watch(model, "layers.9.hidden"):
        pass
    assert traces(model) == before


def test_two_models_at_once() -> None:
    one, two = made("bert"), made("gpt2")
    with watch(one, "*.weights") as first, watch(two, "*.weights") as second:
        one(**given(one))
        assert len(first) == 2 and len(second) == 0
        two(**given(two))
    assert len(second) == 2 and len(first.calls("layers.0.attention.weights")) == 1


def test_generation_goes_on_under_watch() -> None:
    model = made("gpt2")
    start = torch.tensor([[7, 8, 9]])
    settings = {"do_sample": False, "max_new_tokens": 5, "pad_token_id": 0, "attention_mask": torch.ones_like(start)}
    expected = model.generate(start, **settings)
    with watch(model) as seen:
        assert torch.equal(model.generate(start, **settings), expected)
    steps = seen.calls("layers.0.attention.weights")
    assert [tuple(w.shape[2:]) for w in steps] == [(3, 3), (1, 4), (1, 5), (1, 6), (1, 7)]


def test_a_mask_of_numbers_from_the_caller() -> None:
    model = made("bert").bert
    ids = given(model)["input_ids"]
    added = torch.zeros(2, 1, 7, 7, dtype=torch.float64)
    added[..., 2] = -1.5
    expected = model(ids, attention_mask=added)[0]
    with watch(model) as seen:
        close(model(ids, attention_mask=added)[0], expected)
    close(seen["layers.0.attention.weights"].sum(-1), torch.ones(2, 4, 7, dtype=torch.float64))


@pytest.mark.parametrize(("model", "message"), [
    (lambda: nn.Linear(2, 2), "Linear has no hook points"),
    (lambda: FNetModel(FNetConfig(vocab_size=9, hidden_size=4, num_hidden_layers=1, intermediate_size=4)),
     "not supported for FNetModel of type 'fnet'; give a whole model .* of one of the types bert, roberta"),
    (lambda: THEIRS["bart"]().model.encoder, r"give a whole model \(not a part\)"),
])
def test_what_cannot_be_looked_into(model, message: str) -> None:
    with pytest.raises(ValueError, match=message), watch(model()):
        pass
