"""The task heads of XLNet and MPNet: what they are said from, padding, copies, checkpoints, which head goes where."""

from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest
import torch
from torch import nn

from plmlab.checkpoints import load, save
from plmlab.example import Batch
from plmlab.models import registry
from plmlab.models.architectures import XLNET_ENCODER
from plmlab.models.mpnet import MPNet, MPNetConfig
from plmlab.models.registry import ModelSpec, architecture_of, type_of
from plmlab.models.task_heads import SentenceClassifier, SpanClassifier, TaskHead, TaskHeadConfig, TokenClassifier
from plmlab.models.xlnet import XLNet, XLNetConfig
from plmlab.objectives import cls_last, sequence_classification, span_qa, token_classification
from plmlab.text import Tokenizer
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import fit

VOCAB = Vocabulary(60)
HEADS = [SentenceClassifier, TokenClassifier, SpanClassifier]
KINDS = pytest.mark.parametrize(("kind", "on"), product(HEADS, (XLNet, MPNet)))
SENTENCES = [list(range(40, 44)), [50], list(range(45, 54))]
SMALL = {"vocab": 60, "layers": 2, "model": 12, "heads": 3, "inner": 20, "dropout": 0.0}


def encoder(on: type[XLNet] | type[MPNet]) -> XLNet | MPNet:
    """In float64, asked rather than trained, every weight large enough to matter."""
    torch.manual_seed(3)
    model = XLNet(XLNetConfig(**SMALL)) if on is XLNet else MPNet(MPNetConfig(**SMALL, attention_dropout=0.0))
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.double().eval()


def made(kind: type[TaskHead], on: type, labels: int = 2) -> TaskHead:
    return kind.from_pretrained(encoder(on), labels)


def examples(kind: type[TaskHead], on: type) -> list:
    """Three texts of the task, laid out as the encoder reads them."""
    layout = architecture_of(encoder(on)).example
    if issubclass(kind, SentenceClassifier):
        return [sequence_classification(s, len(s) % 2, pair=s[:1], vocab=VOCAB, layout=layout) for s in SENTENCES]
    if issubclass(kind, TokenClassifier):
        return [token_classification(s, [t % 2 for t in s], vocab=VOCAB, layout=layout) for s in SENTENCES]
    return [span_qa([41, 42], s, 0, (len(s) + 1) // 2, vocab=VOCAB, layout=layout) for s in SENTENCES]


def same(a: torch.Tensor, b: torch.Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=1e-10)


@KINDS
def test_padding_changes_nothing(kind: type[TaskHead], on: type) -> None:
    model, texts = made(kind, on), examples(kind, on)
    for row, example in zip(model(Batch.of(texts, pad=0)), texts, strict=True):
        said = model(Batch.of([example], pad=0))[0]
        same(row[: len(said)], said)


def test_xlnet_says_a_class_from_the_cls_behind_each_text() -> None:
    model, batch = made(SentenceClassifier, XLNet, 3), Batch.of(examples(SentenceClassifier, XLNet), pad=0)
    hidden = model.encoder(batch)
    cls = torch.stack([hidden[row, tokens.index(VOCAB.cls)] for row, tokens in enumerate(batch.tokens.tolist())])
    pooled = torch.tanh(cls @ model.encoder.pooler.weight.T + model.encoder.pooler.bias)
    same(model.encoder.pooled_output(batch), pooled)
    same(model.encoder.pool(hidden, batch), pooled)
    same(model(batch), pooled @ model.output.weight.T + model.output.bias)


@pytest.mark.parametrize("longest", [1, 2, 30])
@pytest.mark.parametrize("on", [XLNet, MPNet])
def test_the_best_span_lies_in_the_text(on: type, longest: int) -> None:
    model, batch = made(SpanClassifier, on), Batch.of(examples(SpanClassifier, on), pad=0)
    with torch.no_grad():
        model.output.weight.zero_()
        model.output.bias.zero_()
    logits = 3 * torch.randn(*batch.size, 2, generator=torch.Generator().manual_seed(1)).double()
    logits[batch.tokens == VOCAB.cls] = 99
    logits[:, :2] += 50
    model.output.register_forward_hook(lambda *_: logits)
    for row, found in enumerate(model.best(batch, longest).tolist()):
        text = [t for t in range(batch.size[1]) if batch.segments[row, t] == 1]
        spans = [(i, j) for i, j in product(text, text) if i <= j < i + longest]
        assert tuple(found) == max(spans, key=lambda s: float(logits[row, s[0], 0] + logits[row, s[1], 1]))


def test_a_text_alone_is_asked_for_a_span_without_its_cls() -> None:
    """Where there is no question, all is segment 0, and XLNet's [CLS] is none of it."""
    model = made(SpanClassifier, XLNet)
    batch = Batch.of([sequence_classification([40, 41], 0, vocab=VOCAB, layout=architecture_of(model).example)], pad=0)
    logits = torch.zeros(1, 4, 2).double()
    logits[0, 3], logits[0, 1] = 9, 5
    model.output.register_forward_hook(lambda *_: logits)
    assert model.best(batch).tolist() == [[1, 1]]


@KINDS
def test_on_a_pretrained_encoder_which_stays_as_it_is(kind: type[TaskHead], on: type) -> None:
    pretrained = encoder(on)
    before = {name: tensor.clone() for name, tensor in pretrained.state_dict().items()}
    model, batch = kind.from_pretrained(pretrained), Batch.of(examples(kind, on), pad=0)
    assert type(model.encoder.config) is type(pretrained.config) and model.encoder.config == pretrained.config
    same(model.encoder(batch), pretrained(batch))
    fit(model, [batch], steps=3, lr=0.01, show=False)
    assert not torch.allclose(model.encoder(batch), pretrained(batch))
    assert all(torch.equal(tensor, before[name]) for name, tensor in pretrained.state_dict().items())


@KINDS
def test_a_checkpoint_gives_it_back(kind: type[TaskHead], on: type, tmp_path: Path) -> None:
    labels = 2 if issubclass(kind, SpanClassifier) else 5
    model = made(kind, on, labels).float()
    save(tmp_path / "head", model, Tokenizer.words(["the bank of the river"], 60), command="x", figures={})
    again, _ = load(tmp_path / "head", expect=type_of(model).name)
    batch = Batch.of(examples(kind, on), pad=0)
    assert type(again) is kind and type(again.encoder) is on
    assert again.config == model.config and again.config.labels == labels
    assert torch.equal(again(batch), model(batch))


def test_a_variant_with_settings_of_its_own_gets_its_heads_without_a_line(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class NarrowConfig(XLNetConfig):
        narrow: float = 0.5

    class Narrow(XLNet):
        def __init__(self, config: NarrowConfig) -> None:
            super().__init__(config)
            self.by = config.narrow

    tokenizer = Tokenizer.words(["the bank of the river"], 60)
    head = SentenceClassifier.from_pretrained(Narrow(NarrowConfig(**SMALL, narrow=0.25)), 4)
    assert type(head.encoder) is Narrow and head.encoder.by == 0.25
    assert head.config == TaskHeadConfig(ModelSpec(Narrow, NarrowConfig(**SMALL, narrow=0.25)), 4)
    assert head(Batch.of(examples(SentenceClassifier, XLNet), pad=0)).shape == (3, 4)
    with pytest.raises(ValueError, match="a Narrow is not a registered model type"):
        save(tmp_path / "head", head, tokenizer, command="x", figures={})
    registry.model("narrow", NarrowConfig, XLNET_ENCODER)(Narrow)
    try:
        save(tmp_path / "head", head, tokenizer, command="x", figures={})
        assert load(tmp_path / "head")[0].config == head.config
    finally:
        del registry.MODELS["narrow"]


def test_xlnet_learns_to_say_the_first_word_from_the_cls_behind_all() -> None:
    generator = torch.Generator().manual_seed(0)
    texts = [torch.randperm(12, generator=generator)[:2 + i % 5].add(40).tolist() for i in range(192)]
    read = [sequence_classification(text, int(text[0] > 45), vocab=VOCAB, layout=cls_last) for text in texts]
    batches = [Batch.of(read[i: i + 32], pad=0) for i in range(0, 192, 32)]
    torch.manual_seed(0)
    model = SentenceClassifier.from_pretrained(XLNet(XLNetConfig(60, layers=1, model=16, heads=2, inner=32,
                                                                 dropout=0.0)))
    history = fit(model, batches[:5], steps=100, lr=0.015, warmup=10, show=False)
    assert history.losses[-1] < 0.2 * history.losses[0]
    with torch.no_grad():
        assert model.eval().loss(batches[5]) < 0.3 * history.losses[0]
