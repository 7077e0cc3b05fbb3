"""A variant is its difference: trained, saved, loaded, watched, drawn and pretrained by what all models share."""

from pathlib import Path

import pytest
import torch
from standin import SENTENCES
from torch import nn

from plmlab import cli
from plmlab.checkpoints import load, save
from plmlab.example import Batch
from plmlab.interpret import intervene, watch
from plmlab.interpret.attention_maps import attention_maps
from plmlab.interpret.readable import readable
from plmlab.labs import AttentionLab, ClozeLab, NextTokenLab, PositionLab
from plmlab.listing import listing
from plmlab.models.albert import ALBERT, ALBERTConfig, ALBERTPretraining
from plmlab.models.architectures import DECODER
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.models.recurrent import LSTMLanguageModel, RecurrentConfig
from plmlab.models.registry import MODELS, model, type_of
from plmlab.models.task_heads import SentenceClassifier
from plmlab.text import Tokenizer
from plmlab.text.streams import examples
from plmlab.train import fit

TEXT = SENTENCES[12]
LAYERS = 3

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module", autouse=True)
def registered():
    """The variants are on the list of models while this file is tested."""
    import variants
    yield variants
    for name in [name for name, kind in MODELS.items() if kind.model.__module__ == variants.__name__]:
        del MODELS[name]


@pytest.fixture(scope="module")
def listed(registered) -> str:
    """What ``plmlab models`` says with the variants among them."""
    return listing()


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.words([TEXT, SENTENCES[30]], 100)


@pytest.fixture(scope="module")
def made(registered, one_thread, tokenizer: Tokenizer) -> dict[str, nn.Module]:
    """Each variant after some steps of its pretraining, and by what fraction of its loss it fell."""
    torch.manual_seed(0)
    vocab = len(tokenizer)
    models = {
        "albert-pretraining": ALBERTPretraining(ALBERTConfig(
            vocab, time=40, layers=LAYERS, model=16, heads=2, inner=32, dropout=0.0, attention_dropout=0.0,
            embedding=8)),
        "relative-gpt2": registered.RelativeGPT2(GPTConfig(vocab, 40, LAYERS, 16, 2, dropout=0.0)),
        "lstm-lm": LSTMLanguageModel(RecurrentConfig(vocab, layers=1, model=16, dropout=0.0)),
    }
    for name, made in models.items():
        how = MODELS[name].pretraining
        batches = examples([TEXT, SENTENCES[30]], tokenizer, how.objective, 4, 0, 30)
        history = fit(made, batches, steps=25, lr=0.05, warmup=5, show=False)
        assert history.smoothed(5)[-1] < 0.9 * history.losses[0], name
    return models


NAMES = ("albert-pretraining", "relative-gpt2")


@pytest.mark.parametrize("name", [*NAMES, "lstm-lm"])
def test_what_is_saved_is_what_is_loaded(name: str, made, tokenizer: Tokenizer, tmp_path: Path) -> None:
    save(tmp_path / "v", made[name], tokenizer, command="x", figures={})
    again, words = load(tmp_path / "v", expect=name)
    batch = Batch.causal(torch.tensor([[*words.encode(TEXT), 0]]))
    with torch.no_grad():
        assert torch.equal(again(batch), made[name](batch))


def test_a_shared_layer_is_one_and_is_watched_at_each_of_its_passages(made, tokenizer: Tokenizer) -> None:
    bert = made["albert-pretraining"].encoder
    assert len({id(layer) for layer in bert.layers}) == 1 and len(bert.layers) == LAYERS
    batch = Batch.of([readable(bert).example(tokenizer, TEXT)], pad=0)
    with torch.no_grad(), watch(bert) as seen:
        last = bert(batch)
    x = seen["embedded"]
    for i in range(LAYERS):
        x = bert.layers[0](x, batch.visible)
        torch.testing.assert_close(seen[f"layers.{i}.hidden"], x)
    assert torch.equal(seen["layers.2.hidden"], last) and len(seen.attention()) == LAYERS
    assert not torch.equal(seen["layers.0.attention.weights"], seen["layers.2.attention.weights"])


@pytest.mark.parametrize("at", range(LAYERS))
def test_a_shared_layer_is_changed_at_one_passage_alone(at: int, made, tokenizer: Tokenizer) -> None:
    bert = made["albert-pretraining"].encoder
    batch = Batch.of([readable(bert).example(tokenizer, TEXT)], pad=0)
    with torch.no_grad(), watch(bert, "layers.*.hidden") as plain:
        bert(batch)
    changed = intervene(bert, {f"layers.{at}.hidden": torch.zeros_like})
    with torch.no_grad(), changed, watch(bert, "layers.*.hidden") as seen:
        bert(batch)
    for i in range(LAYERS):
        assert torch.equal(seen[f"layers.{i}.hidden"], plain[f"layers.{i}.hidden"]) == (i < at)
    assert not seen[f"layers.{at}.hidden"].any()


def test_relative_positions_are_all_that_tells_places(made, tokenizer: Tokenizer) -> None:
    gpt = made["relative-gpt2"]
    assert not any(name.endswith("position.weight") for name, _ in gpt.named_parameters())
    tokens = torch.tensor([tokenizer.encode(TEXT)])
    with torch.no_grad():
        whole = gpt(Batch.continuing(tokens, 0))
        late = gpt(Batch.continuing(tokens, 7))
        state = gpt.start()
        gpt.step(tokens[:, :4], state)
        grown = gpt.step(tokens[:, 4:], state)
        for layer in gpt.layers:
            layer.attention.key_distance.weight.zero_()
            layer.attention.value_distance.weight.zero_()
        placeless = gpt(Batch.continuing(tokens, 0))
    assert torch.equal(whole, late), "where the text begins tells nothing"
    torch.testing.assert_close(grown, whole[:, -1])
    assert (placeless - whole).abs().max() > 0.01


@pytest.mark.parametrize("name", NAMES)
def test_the_labs_draw_it(name: str, made, tokenizer: Tokenizer) -> None:
    lab = AttentionLab(made[name], tokenizer, TEXT, layer=2, head=1)
    assert lab.message == "" and lab.state["size"] == [LAYERS, 2]
    lab.off = [["self", 1, 0]]
    assert lab.state["change"] and not lab.stale
    if name == "relative-gpt2":
        assert isinstance(made[name], GPT2)
        assert NextTokenLab(made[name], tokenizer, TEXT).state["rows"]
    else:
        assert ClozeLab(made[name], tokenizer, TEXT, hide=["fox"]).state["gaps"]


def test_a_recurrent_model_is_asked_what_comes_next_and_looked_into_as_far_as_it_reads(made, tokenizer) -> None:
    lab = NextTokenLab(made["lstm-lm"], tokenizer, " ".join([TEXT] * 12), max_tokens=20)
    assert lab.message == "The lens shows the last 20 positions." and lab.state["rows"]
    assert len(lab.state["lens"]["columns"]) == 20 and lab.state["lens"]["layers"] == ["embedding", "layer 0"]


def test_a_model_without_attention_has_none_to_draw(made, tokenizer: Tokenizer) -> None:
    assert readable(made["lstm-lm"]).architecture == "recurrent"
    with pytest.raises(ValueError, match="a LSTMLanguageModel has no attention to show"):
        attention_maps(made["lstm-lm"], tokenizer, TEXT)
    lab = PositionLab(made["lstm-lm"], tokenizer, TEXT, kind="sentence")
    assert lab.message == "a LSTMLanguageModel has no attention to show: it carries a hidden state from word to word"


def test_a_head_stands_on_a_variant_without_a_line(made) -> None:
    head = SentenceClassifier.from_pretrained(made["albert-pretraining"].encoder)
    assert type(head.encoder) is ALBERT and len({id(layer) for layer in head.encoder.layers}) == 1


def test_two_models_of_one_name_are_refused(registered) -> None:
    with pytest.raises(ValueError, match=r"'relative-gpt2' is already registered, by variants\.RelativeGPT2"):
        model("relative-gpt2", GPTConfig, DECODER)(nn.Linear)


@pytest.mark.parametrize("name", ["roberta", "albert", "electra", "relative-gpt2", "rnn", "lstm", "gru"])
def test_it_is_listed_and_pretrained_by_the_command(name: str, tmp_path: Path, listed: str) -> None:
    corpus, out = tmp_path / "text.txt", tmp_path / "made"
    corpus.write_text("\n\n".join(f"the {a} sees the {b}." for a in ("cat", "dog", "fox") for b in ("sun", "moon")))
    asked = ["--steps", "4", "--batch", "2", "--time", "8", "--vocab", "330", "--layers", "2", "--width", "16",
             "--heads", "2"]
    assert cli.main(["pretrain", name, "--corpus", str(corpus), "--out", str(out), *asked]) == 0
    model, _ = load(out)
    assert model.config.layers == 2
    assert f"\n{type_of(model).name} " in listed
