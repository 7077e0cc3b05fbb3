"""The bridge to Hugging Face: over, back, through a folder, and what is said when it cannot be done."""

import json
import shutil
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForPreTraining,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
    GlmConfig,
    GlmModel,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Model,
    OpenAIGPTConfig,
    OpenAIGPTLMHeadModel,
    XLNetConfig,
    XLNetModel,
)

from plmlab.example import Batch
from plmlab.hf import NotLoadable, convert, from_hf, minilm, to_hf, tokenizer_to_hf
from plmlab.hf.links import CONV1D, Form, Link, rearranged, to_ours, to_theirs
from plmlab.models.bert import BERT, BERTConfig, BERTPretraining
from plmlab.models.gpt import GPT, GPT2, GPTConfig
from plmlab.models.task_heads import TokenClassifier
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.models.unilm import UniLM, UniLMConfig
from plmlab.models.xlnet import XLNet
from plmlab.text import Tokenizer
from plmlab.visibility import AttentionMask

SMALL = {"vocab_size": 60, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3,
         "intermediate_size": 20, "max_position_embeddings": 24}
GPTS = {"vocab_size": 60, "n_embd": 12, "n_layer": 2, "n_head": 3, "n_positions": 24, "bos_token_id": None,
        "eos_token_id": None}
BERTS = BERTConfig(60, time=24, layers=2, model=12, heads=3, inner=20)
OURS = {
    "bert": (lambda: BERT(BERTS), BertModel), "pretraining": (lambda: BERTPretraining(BERTS), BertForPreTraining),
    "gpt": (lambda: GPT(GPTConfig(60, time=24, layers=2, model=12, heads=3)), OpenAIGPTLMHeadModel),
    "gpt2": (lambda: GPT2(GPTConfig(60, time=24, layers=2, model=12, heads=3, eps=1e-3)), GPT2LMHeadModel),
}


def shaken(model: nn.Module) -> nn.Module:
    torch.manual_seed(9)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.eval()


def batch(causal: bool) -> Batch:
    tokens = torch.randint(0, 60, (2, 11), generator=torch.Generator().manual_seed(1))
    place = torch.arange(11).expand(2, 1, -1)
    return Batch(tokens, place, (place[:, 0] > 5).long(), AttentionMask(causal=causal), tokens)


def asked(model: nn.Module) -> torch.Tensor:
    """The first output of either kind of model on the same two texts."""
    causal = isinstance(model, GPT | GPT2LMHeadModel | OpenAIGPTLMHeadModel | GPT2Model)
    text = batch(causal)
    with torch.no_grad():
        if not hasattr(model.config, "model_type"):
            return model(text)
        return model(text.tokens)[0] if causal else model(text.tokens, token_type_ids=text.segments)[0]


@pytest.mark.parametrize("precision", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", OURS)
def test_there_and_back(kind: str, precision: torch.dtype) -> None:
    make, expected = OURS[kind]
    ours = shaken(make().to(precision))
    theirs = to_hf(ours)
    assert type(theirs) is expected and not theirs.training and theirs.dtype == precision
    torch.testing.assert_close(asked(theirs), asked(ours), rtol=0, atol=1e-5 if precision == torch.float32 else 1e-10)
    again = convert(theirs)
    assert type(again) is type(ours) and not again.training
    for (name, a), (_, b) in zip(again.named_parameters(), ours.named_parameters(), strict=True):
        assert torch.equal(a, b), name
    fields = {**vars(again.config)}
    assert fields == {**vars(ours.config)}


@pytest.mark.parametrize("kind", OURS)
def test_through_a_folder(kind: str, tmp_path: Path) -> None:
    """What ``to_hf`` saves, ``transformers`` and ``from_hf`` load, with the tokenizer, and both say the same."""
    make, _ = OURS[kind]
    ours = shaken(make())
    tokenizer = Tokenizer.words(["the bank of the river"], 60)
    to_hf(ours).save_pretrained(tmp_path)
    tokenizer_to_hf(tokenizer).save_pretrained(tmp_path)
    auto = AutoModelForCausalLM if "gpt" in kind else BertForPreTraining if kind == "pretraining" else AutoModel
    torch.testing.assert_close(asked(auto.from_pretrained(tmp_path).eval()), asked(ours), rtol=0, atol=1e-5)
    again, words = from_hf(tmp_path)
    assert type(again) is type(ours) and not again.training
    torch.testing.assert_close(asked(again), asked(ours), rtol=0, atol=1e-6)
    theirs = AutoTokenizer.from_pretrained(tmp_path)
    for text in ("the river bank", "unseen river [MASK]"):
        assert words.encode(text) == tokenizer.encode(text) == theirs.encode(text, add_special_tokens=False)
    assert (theirs.pad_token_id, theirs.mask_token_id, theirs.bos_token_id, theirs.eos_token_id) == (0, 4, 5, 6)
    assert words.vocab.mask == tokenizer.vocab.mask == 4


def test_heads_come_along_where_there_are_any(tmp_path: Path) -> None:
    shaken(BertForPreTraining(BertConfig(**SMALL))).save_pretrained(tmp_path / "whole")
    model, tokenizer = from_hf(tmp_path / "whole")
    assert isinstance(model, BERTPretraining) and tokenizer is None
    shaken(BertModel(BertConfig(**SMALL))).save_pretrained(tmp_path / "encoder")
    assert isinstance(from_hf(str(tmp_path / "encoder"))[0], BERT)
    shaken(GPT2Model(GPT2Config(**GPTS))).save_pretrained(tmp_path / "gpt2")
    assert isinstance(from_hf(tmp_path / "gpt2")[0], GPT2)


@pytest.mark.parametrize(("kind", "lacks", "becomes"), [
    (BertForMaskedLM, "no encoder.pooler and no next_sentence", BERTPretraining),
    (lambda c: BertModel(c, add_pooling_layer=False), "no pooler", BERT),
])
def test_what_the_weights_lack_is_zero_and_said(kind, lacks: str, becomes: type, tmp_path: Path) -> None:
    theirs = shaken(kind(BertConfig(**SMALL)))
    theirs.save_pretrained(tmp_path)
    for source in (theirs, tmp_path):
        with pytest.warns(UserWarning, match=f"the weights contain {lacks}: in our model it is initialised to zero"):
            model, _ = from_hf(source)
        assert type(model) is becomes
        torch.testing.assert_close(asked(model), asked(theirs), rtol=0, atol=1e-5)
        encoder = model.encoder if becomes is BERTPretraining else model
        assert not encoder.pooler.weight.any()


def test_a_bert_with_an_output_layer_unknown_here_gives_its_encoder(tmp_path: Path) -> None:
    theirs = shaken(BertForMultipleChoice(BertConfig(**SMALL)))
    theirs.save_pretrained(tmp_path)
    for source in (theirs, tmp_path):
        with pytest.warns(UserWarning, match="BertForMultipleChoice is loaded as BERT, without classifier"):
            model, _ = from_hf(source)
        assert isinstance(model, BERT)
        torch.testing.assert_close(asked(model), asked(theirs.bert), rtol=0, atol=1e-5)


def test_a_base_model_in_hand() -> None:
    theirs = shaken(GPT2Model(GPT2Config(**GPTS)))
    ours = convert(theirs)
    text = batch(True)
    torch.testing.assert_close(ours.hidden_states(text), theirs(text.tokens)[0], rtol=0, atol=1e-5)
    assert convert(theirs.train()).training


def test_an_old_folder_with_a_vocabulary_in_words(tmp_path: Path) -> None:
    shaken(BertModel(BertConfig(**SMALL))).save_pretrained(tmp_path)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "river", "##s"]
    (tmp_path / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    _, tokenizer = from_hf(tmp_path)
    theirs = AutoTokenizer.from_pretrained(tmp_path)
    assert tokenizer.encode("The rivers") == [5, 6, 7] == theirs.encode("The rivers", add_special_tokens=False)
    assert tokenizer.vocab.cls == 2 and tokenizer.vocab.start is None


def test_a_vocabulary_that_is_not_read_is_named(tmp_path: Path) -> None:
    shaken(XLNetModel(XLNetConfig(vocab_size=40, d_model=8, n_layer=1, n_head=2, d_inner=8))).save_pretrained(tmp_path)
    (tmp_path / "spiece.model").write_bytes(b"SentencePiece's")
    told = r"SentencePiece's spiece\.model, so the tokenizer is None.*save_pretrained"
    with pytest.warns(UserWarning, match="no pooler"), pytest.warns(UserWarning, match=told):
        model, tokenizer = from_hf(tmp_path)
    assert type(model) is XLNet and tokenizer is None


@pytest.mark.parametrize(("kind", "size"), [(GPT2LMHeadModel, GPT2Config), (OpenAIGPTLMHeadModel, OpenAIGPTConfig)])
def test_three_dropout_rates_do_not_silently_become_one(kind, size, tmp_path: Path) -> None:
    theirs = shaken(kind(size(**GPTS, resid_pdrop=0.2, embd_pdrop=0.0, attn_pdrop=0.1)))
    theirs.save_pretrained(tmp_path)
    for source in (theirs, tmp_path):
        with pytest.warns(UserWarning, match=r"= \(0\.2, 0\.0, 0\.1\); ours has a single rate, which is set to 0\.2"):
            ours, _ = from_hf(source)
        assert ours.config.dropout == 0.2
        torch.testing.assert_close(asked(ours), asked(theirs), rtol=0, atol=1e-5)


def test_a_cased_vocabulary_that_is_made_small_is_warned_of(tmp_path: Path) -> None:
    shaken(BertModel(BertConfig(**SMALL))).save_pretrained(tmp_path)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused1]", "the", "The", "River"]
    (tmp_path / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    with pytest.warns(UserWarning, match=r'2 of the 3 tokens have capital.*"do_lower_case": false$'):
        assert from_hf(tmp_path)[1].encode("The River") == [6, 1]
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert from_hf(tmp_path)[1].encode("The River") == [7, 8]
        minilm()


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt", "tokenizer.json"])
def test_a_pointer_of_git_lfs_is_told(name: str, tmp_path: Path) -> None:
    shaken(BertModel(BertConfig(**SMALL))).save_pretrained(tmp_path)
    (tmp_path / name).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n")
    with pytest.raises(NotLoadable, match=f"cannot be loaded: {name} is a git LFS pointer.*git lfs pull"):
        from_hf(tmp_path)


SUPPORTED = "Supported are bert .*xlnet and mpnet .*roberta, albert and electra .*gpt2 .*openai-gpt"


@pytest.mark.parametrize(("source", "message"), [
    ("no-such/model", r"'no-such/model' is not a local folder, and the hub cannot be reached.*use plmlab.hf.minilm"),
    ("./no/such/folder", r"there is no folder './no/such/folder'; give a folder with a saved model"),
    (Path("nowhere"), r"there is no folder"), ("a/b/c", "there is no folder 'a/b/c'"), ("", "there is no folder ''"),
])
def test_what_cannot_be_had(source, message: str) -> None:
    with pytest.raises(NotLoadable, match=message):
        from_hf(source)


def test_other_architectures() -> None:
    config = DistilBertConfig(vocab_size=30, dim=8, n_heads=2, n_layers=1, hidden_dim=8)
    with pytest.raises(NotLoadable, match=f"models of type 'distilbert' are not supported. {SUPPORTED}"):
        from_hf(DistilBertModel(config))


def test_a_namesake_is_another_model(tmp_path: Path) -> None:
    size = {"vocab_size": 30, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "head_dim": 8,
            "num_key_value_heads": 1, "intermediate_size": 16, "pad_token_id": 0}
    theirs = GlmModel(GlmConfig(**size))
    theirs.save_pretrained(tmp_path)
    for source in (theirs, tmp_path):
        with pytest.raises(NotLoadable, match=f"'glm' are not .* The 'glm' .* is GLM-4 .*fills blanks.*{SUPPORTED}"):
            from_hf(source)


def test_broken_folders(tmp_path: Path) -> None:
    with pytest.raises(NotLoadable, match=r"contains no config.json, so there is no saved model in it"):
        from_hf(tmp_path)
    whole = tmp_path / "whole"
    shaken(BertModel(BertConfig(**SMALL))).save_pretrained(whole)

    def copy(name: str) -> Path:
        return Path(shutil.copytree(whole, tmp_path / name))

    lost = copy("lost")
    (lost / "model.safetensors").unlink()
    short = copy("short")
    data = (short / "model.safetensors").read_bytes()
    (short / "model.safetensors").write_bytes(data[: len(data) // 2])
    other = copy("other")
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(config | {"hidden_size": 24}))
    foreign = copy("foreign")
    (foreign / "config.json").write_text(json.dumps({"model_type": "distilbert"}))
    nonsense = copy("nonsense")
    (nonsense / "config.json").write_text("{ not json")
    for folder in (lost, short, other, nonsense):
        with pytest.raises(NotLoadable, match=f"the model in '.*{folder.name}' cannot be loaded: ."):
            from_hf(folder)
    with pytest.raises(NotLoadable, match=SUPPORTED):
        from_hf(foreign)


@pytest.mark.parametrize(("make", "message"), [
    (lambda: BertModel(BertConfig(**SMALL, hidden_act="silu")), "activation 'silu' is not supported"),
    (lambda: BertModel(BertConfig(**SMALL, is_decoder=True)), "is_decoder = True; ours only supports False"),
    (lambda: GPT2LMHeadModel(GPT2Config(**GPTS, n_inner=13)), "n_inner=13"),
    (lambda: GPT2LMHeadModel(GPT2Config(**GPTS, activation_function="relu")), "activation_function='relu'"),
    (lambda: GPT2LMHeadModel(GPT2Config(**GPTS, scale_attn_by_inverse_layer_idx=True)), "scale_attn_by_inverse"),
    (lambda: OpenAIGPTLMHeadModel(OpenAIGPTConfig(**GPTS, afn="relu")), "afn = 'relu'"),
])
def test_what_our_models_do_not_do_is_refused_not_ignored(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        convert(make())


def test_what_has_no_counterpart() -> None:
    with pytest.raises(ValueError, match=r"Transformer has no counterpart.* one of BERT, BERTPretraining, .*GPT, GPT2"):
        to_hf(Transformer(TransformerConfig.tiny(20)))
    with pytest.raises(ValueError, match=r"TokenClassifier with a UniLM has no counterpart.* with BERT, .*, ELECTRA"):
        to_hf(TokenClassifier.from_pretrained(UniLM(UniLMConfig.tiny(60))))


def test_links_read_and_write() -> None:
    links = [Link("q", "qkv", CONV1D, third=0), Link("k", "qkv", CONV1D, third=1),
             Link("v", "qkv", CONV1D, third=2), Link("w", "x")]
    theirs = {"qkv": torch.arange(18.0).view(3, 6), "x": torch.ones(1)}
    ours = to_ours(links, theirs)
    assert ours["k"].tolist() == [[2, 8, 14], [3, 9, 15]]
    back = to_theirs(links, ours)
    assert torch.equal(back["qkv"], theirs["qkv"]) and torch.equal(back["x"], theirs["x"])
    with pytest.raises(ValueError, match="2 tensors are missing, such as qkv"):
        to_ours(links, {})


def test_a_form_is_undone_by_its_other_direction() -> None:
    links = [Link("q", "heads", rearranged("model head width -> (head width) model", head=2)),
             Link("late", "table", Form(lambda table: table[1:], lambda table: torch.cat([table[:1] * 0, table])))]
    theirs = {"heads": torch.arange(18.0).view(3, 2, 3), "table": torch.tensor([[0.0], [5.0], [6.0]])}
    ours = to_ours(links, theirs)
    assert ours["q"].tolist() == [[0, 6, 12], [1, 7, 13], [2, 8, 14], [3, 9, 15], [4, 10, 16], [5, 11, 17]]
    assert ours["late"].tolist() == [[5], [6]]
    back = to_theirs(links, ours)
    assert torch.equal(back["heads"], theirs["heads"]) and torch.equal(back["table"], theirs["table"])
