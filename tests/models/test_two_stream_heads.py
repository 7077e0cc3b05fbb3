"""The task heads of XLNet and MPNet: what they are said from, padding, copies, checkpoints, which head goes where."""

from itertools import product
from pathlib import Path

import pytest
import torch
from torch import nn

from plmlab.checkpoints import load, save
from plmlab.example import Batch
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.bert_heads import SentenceClassifier, SpanClassifier, TaskHead, TokenClassifier, head_for
from plmlab.models.mpnet import MPNet, MPNetConfig
from plmlab.models.registry import architecture_of, type_of
from plmlab.models.two_stream_heads import (
    MPNetSentenceClassifier,
    MPNetSpanClassifier,
    MPNetTokenClassifier,
    XLNetHeadConfig,
    XLNetSentenceClassifier,
    XLNetSpanClassifier,
    XLNetTokenClassifier,
)
from plmlab.models.xlnet import XLNet, XLNetConfig
from plmlab.objectives import answered, classified, cls_last, tagged
from plmlab.text import Tokenizer
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import fit

VOCAB = Vocabulary(60)
XLNETS = [XLNetSentenceClassifier, XLNetTokenClassifier, XLNetSpanClassifier]
MPNETS = [MPNetSentenceClassifier, MPNetTokenClassifier, MPNetSpanClassifier]
KINDS = pytest.mark.parametrize("kind", [*XLNETS, *MPNETS])
SENTENCES = [list(range(40, 44)), [50], list(range(45, 54))]
SMALL = {"vocab": 60, "layers": 2, "model": 12, "heads": 3, "inner": 20, "dropout": 0.0}


def encoder(kind: type[TaskHead]) -> XLNet | MPNet:
    """In float64, asked rather than trained, every weight large enough to matter."""
    torch.manual_seed(3)
    model = XLNet(XLNetConfig(**SMALL)) if kind in XLNETS else MPNet(MPNetConfig(**SMALL, attention_dropout=0.0))
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.double().eval()


def made(kind: type[TaskHead], labels: int = 2) -> TaskHead:
    return kind.on(encoder(kind), labels)


def examples(kind: type[TaskHead]) -> list:
    """Three texts of the task, laid out as the encoder reads them."""
    layout = architecture_of(encoder(kind)).example
    if issubclass(kind, SentenceClassifier):
        return [classified(s, len(s) % 2, pair=s[:1], vocab=VOCAB, layout=layout) for s in SENTENCES]
    if issubclass(kind, TokenClassifier):
        return [tagged(s, [t % 2 for t in s], vocab=VOCAB, layout=layout) for s in SENTENCES]
    return [answered([41, 42], s, 0, (len(s) + 1) // 2, vocab=VOCAB, layout=layout) for s in SENTENCES]


def same(a: torch.Tensor, b: torch.Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=1e-10)


@KINDS
def test_padding_changes_nothing(kind: type[TaskHead]) -> None:
    model, texts = made(kind), examples(kind)
    for row, example in zip(model(Batch.of(texts, pad=0)), texts, strict=True):
        said = model(Batch.of([example], pad=0))[0]
        same(row[: len(said)], said)


def test_xlnet_says_a_class_from_the_cls_behind_each_text() -> None:
    model, batch = made(XLNetSentenceClassifier, 3), Batch.of(examples(XLNetSentenceClassifier), pad=0)
    hidden = model.bert(batch)
    cls = torch.stack([hidden[row, tokens.index(VOCAB.cls)] for row, tokens in enumerate(batch.tokens.tolist())])
    pooled = torch.tanh(cls @ model.bert.pooler.weight.T + model.bert.pooler.bias)
    same(model.bert.summary(batch), pooled)
    same(model.bert.pool(hidden, batch), pooled)
    same(model(batch), pooled @ model.output.weight.T + model.output.bias)


@pytest.mark.parametrize("longest", [1, 2, 30])
@pytest.mark.parametrize("kind", [XLNetSpanClassifier, MPNetSpanClassifier])
def test_the_best_span_lies_in_the_text(kind: type[SpanClassifier], longest: int) -> None:
    model, batch = made(kind), Batch.of(examples(kind), pad=0)
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
    model = made(XLNetSpanClassifier)
    batch = Batch.of([classified([40, 41], 0, vocab=VOCAB, layout=architecture_of(model).example)], pad=0)
    logits = torch.zeros(1, 4, 2).double()
    logits[0, 3], logits[0, 1] = 9, 5
    model.output.register_forward_hook(lambda *_: logits)
    assert model.best(batch).tolist() == [[1, 1]]


@KINDS
def test_on_a_pretrained_encoder_which_stays_as_it_is(kind: type[TaskHead]) -> None:
    pretrained = encoder(kind)
    before = {name: tensor.clone() for name, tensor in pretrained.state_dict().items()}
    model, batch = kind.on(pretrained), Batch.of(examples(kind), pad=0)
    assert type(model.bert.config) is type(pretrained.config) and model.bert.config == pretrained.config
    same(model.bert(batch), pretrained(batch))
    fit(model, [batch], steps=3, lr=0.01, show=False)
    assert not torch.allclose(model.bert(batch), pretrained(batch))
    assert all(torch.equal(tensor, before[name]) for name, tensor in pretrained.state_dict().items())
    with pytest.raises(ValueError, match=f"a BERT was given, and a {kind.__name__} stands on a"):
        kind.on(BERT(BERTConfig(60, layers=1, model=8, heads=2, inner=8)))


@KINDS
def test_a_checkpoint_gives_it_back(kind: type[TaskHead], tmp_path: Path) -> None:
    labels = 2 if issubclass(kind, SpanClassifier) else 5
    model = made(kind, labels).float()
    save(tmp_path / "head", model, Tokenizer.words(["the bank of the river"], 60), command="x", figures={})
    again, _ = load(tmp_path / "head", expect=type_of(model).name)
    batch = Batch.of(examples(kind), pad=0)
    assert type(again) is kind and again.config == model.config and again.config.labels == labels
    assert torch.equal(again(batch), model(batch))


def test_each_encoder_gets_the_head_that_is_registered_for_it() -> None:
    for number, kind in enumerate((SentenceClassifier, TokenClassifier, SpanClassifier)):
        assert head_for(BERT, kind) is kind
        assert head_for(XLNet, kind) is XLNETS[number] and head_for(MPNet, kind) is MPNETS[number]


def test_a_variant_gets_the_head_of_what_it_varies() -> None:
    class Narrow(XLNet):
        pass

    kind = head_for(Narrow, SentenceClassifier)
    model = kind.on(Narrow(XLNetConfig(**SMALL)), 4)
    assert issubclass(kind, XLNetSentenceClassifier) and type(model.bert) is Narrow
    assert model.config == XLNetHeadConfig(**SMALL, labels=4)
    assert model(Batch.of(examples(XLNetSentenceClassifier), pad=0)).shape == (3, 4)


def test_xlnet_learns_to_say_the_first_word_from_the_cls_behind_all() -> None:
    generator = torch.Generator().manual_seed(0)
    texts = [torch.randperm(12, generator=generator)[:2 + i % 5].add(40).tolist() for i in range(192)]
    read = [classified(text, int(text[0] > 45), vocab=VOCAB, layout=cls_last) for text in texts]
    batches = [Batch.of(read[i: i + 32], pad=0) for i in range(0, 192, 32)]
    torch.manual_seed(0)
    model = XLNetSentenceClassifier.on(XLNet(XLNetConfig(60, layers=1, model=16, heads=2, inner=32, dropout=0.0)))
    history = fit(model, batches[:5], steps=100, lr=0.015, warmup=10, show=False)
    assert history.losses[-1] < 0.2 * history.losses[0]
    with torch.no_grad():
        assert model.eval().loss(batches[5]) < 0.3 * history.losses[0]
