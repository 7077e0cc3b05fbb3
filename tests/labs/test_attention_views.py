"""bertviz behind plmlab: what is read, what is drawn, and what is said of bad input. Without a browser."""

import json
import re
from html import unescape
from html.parser import HTMLParser
from random import Random

import pytest
import torch
from torch import nn
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaModel,
)

from plmlab.example import Batch
from plmlab.hf import tokenizer_to_hf
from plmlab.interpret import watch
from plmlab.interpret.attention_maps import Map, attention_maps
from plmlab.labs.bertviz.lab import View, head_view, model_view
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.models.task_heads import SentenceClassifier
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.objectives import always_mask, causal, masked
from plmlab.text.tokenizers import Tokenizer

TEXT, OTHER = "the man saw the river", "a bank of the river"
WORDS = Tokenizer.words([TEXT, OTHER, "</script> <img src=x onerror=alert(1)> &amp; \u2028"], 80)
SIZE = len(WORDS)
SMALL = {"vocab_size": SIZE, "hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 2,
         "intermediate_size": 8, "max_position_embeddings": 20}
BOTH = {"vocab_size": SIZE, "d_model": 8, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 2,
        "decoder_attention_heads": 2, "encoder_ffn_dim": 8, "decoder_ffn_dim": 8, "max_position_embeddings": 20,
        "decoder_start_token_id": 5}


def seeded(model: nn.Module) -> nn.Module:
    torch.manual_seed(0)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    return model


def bert() -> nn.Module:
    return seeded(BERT(BERTConfig(SIZE, time=20, layers=3, model=8, heads=2, inner=8)))


def gpt() -> nn.Module:
    return seeded(GPT2(GPTConfig(SIZE, time=20, layers=3, model=8, heads=2)))


def data(view: View) -> dict:
    """What bertviz is given to draw, out of the page."""
    return json.loads(re.search(r"const params = (.*);\n", view.html()).group(1))


def test_one_sentence_of_bert() -> None:
    model = bert()
    (found,) = attention_maps(model, WORDS, TEXT)
    assert found.queries == found.keys == ["[CLS]", *TEXT.split(), "[SEP]"] and found.second is None
    example = masked(WORDS.encode(TEXT), vocab=WORDS.vocab, rng=Random(0), select=())
    with watch(model.eval()) as seen, torch.no_grad():
        model(Batch.of([example], pad=0))
    for mine, theirs in zip(found.weights, seen.attention(), strict=True):
        assert torch.equal(mine, theirs[0])


def test_two_sentences_of_bert() -> None:
    (found,) = attention_maps(bert(), WORDS, TEXT, OTHER)
    assert found.queries == ["[CLS]", *TEXT.split(), "[SEP]", *OTHER.split(), "[SEP]"] and found.second == 7
    names = [part["name"] for part in data(head_view(bert(), WORDS, TEXT, OTHER))["attention"]]
    assert names == ["All", "Sentence A -> Sentence A", "Sentence B -> Sentence B", "Sentence A -> Sentence B",
                     "Sentence B -> Sentence A"]


def test_gpt_begins_with_its_start_token() -> None:
    (found,) = attention_maps(gpt(), WORDS, TEXT)
    assert found.queries == ["[START]", *TEXT.split()]
    assert all(torch.equal(w, w.tril()) for w in found.weights)


def three(maps: list[Map]) -> list[tuple[str, int, int, int]]:
    return [(m.name, len(m.queries), len(m.keys), len(m.weights)) for m in maps]


def test_an_encoder_decoder_has_three_maps() -> None:
    model = seeded(Transformer(TransformerConfig(SIZE, layers=2, model=8, heads=2, inner=8)))
    maps = attention_maps(model, WORDS, TEXT, "a bank")
    assert three(maps) == [("encoder", 6, 6, 2), ("decoder", 3, 3, 2), ("cross", 3, 6, 2)]
    assert maps[2].queries == ["[START]", "a", "bank"] and maps[2].keys == [*TEXT.split(), "[END]"]
    theirs = seeded(BartForConditionalGeneration(BartConfig(**BOTH)))
    maps = attention_maps(theirs, tokenizer_to_hf(WORDS), TEXT, "a bank")
    assert three(maps) == [("encoder", 5, 5, 2), ("decoder", 3, 3, 3), ("cross", 3, 5, 3)]
    assert [w.shape for w in maps[2].weights] == [(2, 3, 5)] * 3
    parts = data(model_view(theirs, WORDS, TEXT, "a bank"))["attention"]
    assert [part["name"] for part in parts] == ["Encoder", "Decoder", "Cross"]


@pytest.mark.parametrize("words", [WORDS, tokenizer_to_hf(WORDS)])
@pytest.mark.parametrize("make", [lambda: BertModel(BertConfig(**SMALL)), lambda: RobertaModel(RobertaConfig(**SMALL)),
                                  lambda: GPT2LMHeadModel(GPT2Config(vocab_size=SIZE, n_embd=8, n_layer=3, n_head=2))])
def test_models_of_hugging_face(make, words: Tokenizer | PreTrainedTokenizerFast) -> None:
    model = seeded(make()).train()
    (found,) = attention_maps(model, words, TEXT)
    assert len(found.weights) == 3 and found.weights[0].shape == (2, len(found.queries), len(found.queries))
    assert model.training and model.config._attn_implementation == "sdpa"
    for weights in found.weights:
        torch.testing.assert_close(weights.sum(-1), torch.ones(2, len(found.queries)))


def test_an_example_of_any_objective_and_tokens_given_by_hand() -> None:
    example = causal(WORDS.encode(TEXT), vocab=WORDS.vocab, rng=Random(0))
    names = ["START", "1", "2", "3", "4", "5"]
    for text in (example, Batch.of([example], pad=0)):
        (found,) = attention_maps(gpt(), names, text)
        assert found.queries == names
    hidden = masked(WORDS.encode(TEXT), vocab=WORDS.vocab, rng=Random(0), select=[3], corrupt=always_mask)
    assert attention_maps(bert(), WORDS, hidden)[0].queries[3] == "[MASK]"


def test_weights_have_three_decimals_and_only_the_layers_asked_for() -> None:
    full, few = data(model_view(bert(), WORDS, TEXT)), data(model_view(bert(), WORDS, TEXT, layers=[2, 0]))
    weights = full["attention"][0]["attn"]
    assert len(weights) == 3 and few["include_layers"] == [2, 0]
    assert few["attention"][0]["attn"] == [weights[2], weights[0]]
    assert data(model_view(bert(), WORDS, TEXT, layers=[1]))["attention"][0]["attn"] == [weights[1]]
    (found,) = attention_maps(bert(), WORDS, TEXT)
    for layer, true in zip(weights, found.weights, strict=True):
        torch.testing.assert_close(torch.tensor(layer), true, rtol=0, atol=0.00051)
    for number in re.findall(r"\d\.(\d+)", json.dumps(weights)):
        assert len(number) <= 3
    assert model_view(bert(), WORDS, TEXT, heads=[1]).html() != model_view(bert(), WORDS, TEXT, heads=[0]).html()
    chosen = data(model_view(bert(), WORDS, TEXT, heads=[1]))
    assert chosen["include_heads"] == [1] and chosen["attention"][0]["attn"][0][0] == weights[0][1]
    assert data(head_view(bert(), WORDS, TEXT, heads=[1]))["heads"] == [1]


def test_the_same_everywhere() -> None:
    first, second = head_view(bert(), WORDS, TEXT), head_view(bert(), WORDS, TEXT)
    assert repr(first) == repr(second) == "<bertviz head view: 3 layers × 2 heads, 7 tokens>"
    assert first._repr_html_() == second._repr_html_()
    assert repr(model_view(bert(), WORDS, TEXT, layers=[1])) == "<bertviz model view: 1 layer × 2 heads, 7 tokens>"


def test_nothing_is_fetched_from_anywhere() -> None:
    found: list[tuple[str, str]] = []

    class AnyTokenizer(HTMLParser):
        def handle_starttag(self, tag: str, attributes: list) -> None:
            found.extend((tag, name) for name, _ in attributes if name in ("src", "href", "action", "data"))

    for view in (head_view(bert(), WORDS, TEXT), model_view(bert(), WORDS, TEXT)):
        AnyTokenizer().feed(view.html())
        assert found == []
        assert "default-src 'none'" in view.html()


HOSTILE = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<!--<script>", '"><b>', "\u2028",
           "PYTHON_PARAMS", "\ud800"]


@pytest.mark.parametrize("draw", [head_view, model_view])
def test_hostile_tokens_cannot_leave_their_string(draw) -> None:
    tokens = torch.arange(7, 14)
    example = masked(tokens.tolist(), vocab=WORDS.vocab, rng=Random(0), select=())
    plain = draw(bert(), ["x"] * 9, example)
    view = draw(bert(), ["x", *HOSTILE, "x"], example)
    assert data(view)["attention"][0]["left_text"][1:-1] == [*HOSTILE[:4], "⟨U+2028⟩", "PYTHON_PARAMS", "⟨U+D800⟩"]
    for sign in ("<script", "</script", "<img", "<!--", "<b>"):
        assert view.html().count(sign) == plain.html().count(sign)
    frame = view._repr_html_()
    srcdoc = re.fullmatch(r'<iframe [^<>]*srcdoc="([^"]*)"></iframe>', frame).group(1)
    assert unescape(srcdoc) == view.html()


LONG = " ".join(["river"] * 90)


@pytest.mark.parametrize(("make", "words", "text", "second", "message"), [
    (bert, WORDS, "", None, "the text is empty: type a sentence"),
    (gpt, WORDS, " \n", None, "the text is empty"),
    (bert, WORDS, TEXT, " ", "the text is empty"),
    (bert, WORDS, LONG, None, "the text is 92 tokens long, and this model has 20 positions; shorten it"),
    (gpt, WORDS, LONG, None, "91 tokens long, and this model has 20 positions"),
    (gpt, WORDS, TEXT, OTHER, "takes one text, read from left to right, but two were given"),
    (bert, ["a", "b"], TEXT, None, "a plain text needs the model's tokenizer, not a list of tokens"),
    (lambda: nn.Linear(2, 2), WORDS, TEXT, None, "neither Linear nor a base class of it is a registered model type"),
    (lambda: Transformer(TransformerConfig.tiny(SIZE)), WORDS, TEXT, None, "takes two texts, but one was given"),
    (lambda: Transformer(TransformerConfig.tiny(SIZE)), WORDS, LONG, TEXT, "a view shows at most 64.*max_tokens=91"),
    (lambda: BertModel(BertConfig(**SMALL)), WORDS, LONG, None, "this model has 20 positions"),
    (lambda: RobertaModel(RobertaConfig(**SMALL)), WORDS, " ".join(["a"] * 17), None, "this model has 18 positions"),
    (lambda: BERT(BERTConfig(30, layers=1, model=8, heads=2, inner=8)), WORDS, TEXT, None, "to another model"),
])
def test_errors_in_the_readers_words(make, words, text: str, second: str | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        head_view(make(), words, text, second)


def test_more_errors() -> None:
    example = masked(WORDS.encode(TEXT), vocab=WORDS.vocab, rng=Random(0))
    for draw in (head_view, model_view):
        with pytest.raises(ValueError, match=r"layers \[3\] were requested; this model has layers 0 … 2"):
            draw(bert(), WORDS, TEXT, layers=[3])
        with pytest.raises(ValueError, match=r"heads \[-1\] were requested; this model has heads 0 … 1"):
            draw(bert(), WORDS, TEXT, heads=[-1])
        with pytest.raises(ValueError, match=r"layers \[\] were requested"):
            draw(bert(), WORDS, TEXT, layers=[])
    with pytest.raises(ValueError, match="the batch holds 2 examples, but only one can be shown"):
        attention_maps(bert(), WORDS, Batch.of([example, example], pad=0))
    with pytest.raises(ValueError, match="got 3 token names for a text of 7 tokens"):
        attention_maps(bert(), ["a", "b", "c"], example)


def test_a_longer_text_can_be_asked_for() -> None:
    model = Transformer(TransformerConfig.tiny(SIZE))
    maps = attention_maps(model, WORDS, LONG, TEXT, max_tokens=91)
    assert len(maps[0].queries) == 91


def test_a_model_stays_as_it_was() -> None:
    model = bert().train()
    with pytest.raises(ValueError, match="positions"):
        head_view(model, WORDS, LONG)
    head_view(model, WORDS, TEXT)
    assert model.training and all(p.grad is None for p in model.parameters())


def test_a_bert_with_an_output_layer_is_read_as_its_encoder_is() -> None:
    torch.manual_seed(0)
    bert = BERT(BERTConfig(SIZE, 20, layers=2, model=8, heads=2, inner=8)).eval()
    alone, = attention_maps(bert, WORDS, TEXT, OTHER)
    tuned, = attention_maps(SentenceClassifier.from_pretrained(bert), WORDS, TEXT, OTHER)
    assert alone.queries == tuned.queries and alone.second == tuned.second
    assert all(torch.equal(one, other) for one, other in zip(alone.weights, tuned.weights, strict=True))
