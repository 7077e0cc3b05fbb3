"""The four interfaces of BERT: what each says and learns from, worked by hand; copies, padding, checkpoints."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import torch
from torch import nn

from plmlab.checkpoints import load, save
from plmlab.example import IGNORE, Batch
from plmlab.models.bert import BERT, BERTConfig, BERTPretraining
from plmlab.models.registry import ModelSpec
from plmlab.models.task_heads import SentenceClassifier, SpanClassifier, TaskHead, TaskHeadConfig, TokenClassifier
from plmlab.objectives import sequence_classification, span_qa, token_classification
from plmlab.text import Tokenizer
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import fit
from plmlab.visibility import AttentionMask

VOCAB = Vocabulary(60)
SIZE = BERTConfig(60, time=20, layers=2, model=12, heads=3, inner=20)
KINDS = pytest.mark.parametrize("kind", [SentenceClassifier, TokenClassifier, SpanClassifier])


def made(kind: type[TaskHead], labels: int = 2) -> TaskHead:
    """In float64, asked rather than trained, every weight large enough to matter."""
    torch.manual_seed(3)
    model = kind(TaskHeadConfig(ModelSpec(BERT, SIZE), labels))
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.double().eval()


def same(a: torch.Tensor, b: torch.Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=1e-10)


SENTENCES = [list(range(40, 44)), [50], list(range(45, 54))]
EXAMPLES = {
    SentenceClassifier: [sequence_classification(s, len(s) % 2, pair=s[:1], vocab=VOCAB) for s in SENTENCES],
    TokenClassifier: [token_classification(s, [t % 2 for t in s], vocab=VOCAB) for s in SENTENCES],
    SpanClassifier: [span_qa([41, 42], s, 0, (len(s) + 1) // 2, vocab=VOCAB) for s in SENTENCES],
}


@KINDS
def test_padding_changes_nothing(kind: type[TaskHead]) -> None:
    model, examples = made(kind), EXAMPLES[kind]
    together, alone = Batch.of(examples, pad=0), [Batch.of([example], pad=0) for example in examples]
    for row, batch in zip(model(together), alone, strict=True):
        said = model(batch)[0]
        same(row[: len(said)], said)
    counts = torch.tensor([1 if kind is not TokenClassifier else len(s) for s in SENTENCES]).double()
    losses = torch.stack([model.loss(batch) for batch in alone])
    same(model.loss(together), (losses * counts).sum() / counts.sum())


def test_a_class_is_said_from_the_pooled_cls() -> None:
    model, batch = made(SentenceClassifier, 3), Batch.of([sequence_classification([40, 41], 2, vocab=VOCAB)], pad=0)
    pooled = torch.tanh(model.encoder(batch)[0, 0] @ model.encoder.pooler.weight.T + model.encoder.pooler.bias)
    logits = pooled @ model.output.weight.T + model.output.bias
    same(model(batch)[0], logits)
    same(model.loss(batch), -(logits[2] - logits.exp().sum().log()))


def test_tags_are_said_from_their_positions_and_none_is_no_loss() -> None:
    model = made(TokenClassifier, 4)
    batch = Batch.of([token_classification([40, 41, 42], [3, IGNORE, 1], vocab=VOCAB)], pad=0)
    logs = (model.encoder(batch)[0] @ model.output.weight.T + model.output.bias).log_softmax(-1)
    same(model(batch)[0].log_softmax(-1), logs)
    same(model.loss(batch), -(logs[1, 3] + logs[3, 1]) / 2)


def test_a_span_s_loss_is_that_of_its_two_ends() -> None:
    model = made(SpanClassifier)
    batch = Batch.of([span_qa([40], [41, 42, 43], 1, 3, vocab=VOCAB), span_qa([44], [45], None, vocab=VOCAB)], pad=0)
    scores = model.encoder(batch)[0] @ model.output.weight.T + model.output.bias
    logs = scores.log_softmax(0)
    same(model.loss(batch), -(logs[4, 0] + logs[5, 1]) / 2)


@pytest.mark.parametrize("longest", [1, 2, 30])
def test_the_best_span_is_that_of_a_search_through_all(longest: int) -> None:
    model = made(SpanClassifier)
    batch = Batch.of(EXAMPLES[SpanClassifier], pad=0)
    logits = model(batch).detach()
    for row, found in enumerate(model.best(batch, longest).tolist()):
        text = [t for t in range(batch.size[1]) if batch.segments[row, t] == 1]
        spans = [(i, j) for i, j in product(text, text) if i <= j < i + longest]
        assert tuple(found) == max(spans, key=lambda s: float(logits[row, s[0], 0] + logits[row, s[1], 1]))
    assert len({tuple(span) for span in model.best(batch, longest).tolist()}) > 1
    alone = Batch.of([sequence_classification([40, 41, 42], 0, vocab=VOCAB)], pad=0)
    assert 0 <= model.best(alone)[0, 0] <= model.best(alone)[0, 1] <= 4


def test_a_mask_with_padding_closes_the_padding_to_answers() -> None:
    """Where the mask is one of pairs, what nobody looks at is padding, and not what one does not look at."""
    model, batch = made(SpanClassifier), Batch.of(EXAMPLES[SpanClassifier], pad=0)
    pairs = batch.visible.dense(*[batch.size[1]] * 2)[:, 0]
    other = replace(batch, visible=AttentionMask(pairs=pairs))
    same(model(other), model(batch))
    assert torch.isinf(model(batch)).sum() == 2 * (batch.tokens == 0).sum() > 0
    example = EXAMPLES[SpanClassifier][0]
    edited = replace(example, visible=example.visible.edited(2, 5, False))
    mixed = model(Batch.of([edited, *EXAMPLES[SpanClassifier][1:]], pad=0))
    assert torch.equal(torch.isinf(mixed), torch.isinf(model(batch)))


@KINDS
def test_on_a_pretrained_bert_which_stays_as_it_is(kind: type[TaskHead]) -> None:
    torch.manual_seed(1)
    pretrained = BERTPretraining(BERTConfig.tiny(60, 20)).double().eval()
    before = {name: tensor.clone() for name, tensor in pretrained.state_dict().items()}
    model = kind.from_pretrained(pretrained.encoder)
    batch = Batch.of(EXAMPLES[kind], pad=0)
    assert not model.training and type(model.encoder.config) is BERTConfig and model.encoder.config == pretrained.config
    same(model.encoder(batch), pretrained.encoder(batch))
    fit(model, [batch], steps=3, lr=0.01, show=False)
    assert not torch.allclose(model.encoder(batch), pretrained.encoder(batch))
    for name, tensor in pretrained.state_dict().items():
        assert torch.equal(tensor, before[name]), name
    again = kind.from_pretrained(model.encoder)
    same(again.encoder(batch), model.encoder(batch))
    assert not torch.equal(again.output.weight, model.output.weight)


def test_as_many_labels_as_asked() -> None:
    bert = BERT(SIZE)
    assert TokenClassifier.from_pretrained(bert, labels=9)(Batch.of(EXAMPLES[TokenClassifier], pad=0)).shape[-1] == 9
    assert SentenceClassifier.from_pretrained(bert, labels=5).config == TaskHeadConfig(ModelSpec(BERT, SIZE), 5)
    with pytest.raises(ValueError, match="labels=3: a span has a start and an end"):
        SpanClassifier.from_pretrained(bert, labels=3)
    with pytest.raises(ValueError, match="SpanClassifier needs an encoder with a pooled output, but BERTPretraining"):
        SpanClassifier.from_pretrained(BERTPretraining(SIZE))


@KINDS
def test_a_batch_of_another_task_is_refused(kind: type[TaskHead]) -> None:
    other = next(examples for task, examples in EXAMPLES.items() if task is not kind)
    with pytest.raises(ValueError, match=r"this batch has no label '\w+'"):
        made(kind).loss(Batch.of(other, pad=0))


@KINDS
def test_a_checkpoint_gives_it_back(kind: type[TaskHead], tmp_path: Path) -> None:
    tokenizer = Tokenizer.words(["the bank of the river"], 60)
    labels = 2 if kind is SpanClassifier else 5
    model = made(kind, labels).float()
    save(tmp_path / "head", model, tokenizer, command="x", figures={})
    again, _ = load(tmp_path / "head")
    batch = Batch.of(EXAMPLES[kind], pad=0)
    assert type(again) is kind and again.config == model.config and again.config.labels == labels
    assert torch.equal(again(batch), model(batch))


@KINDS
def test_it_learns_what_is_there_to_learn(kind: type[TaskHead]) -> None:
    """The first word decides the class, each word its tag, and the largest word is the answer."""
    generator = torch.Generator().manual_seed(0)
    texts = [torch.randperm(12, generator=generator)[:6].add(40).tolist() for _ in range(256)]
    examples = {
        SentenceClassifier: lambda t: sequence_classification(t, int(t[0] > 45), vocab=VOCAB),
        TokenClassifier: lambda t: token_classification(t, [int(word > 45) for word in t], vocab=VOCAB),
        SpanClassifier: lambda t: span_qa(t[:1], t, (at := t.index(max(t))), at + 1, vocab=VOCAB),
    }[kind]
    batches = [Batch.of([examples(t) for t in texts[i: i + 32]], pad=0) for i in range(0, 256, 32)]
    torch.manual_seed(0)
    bert = BERTConfig(60, time=20, layers=1, model=32, heads=2, inner=64, dropout=0.0, attention_dropout=0.0)
    model = kind(TaskHeadConfig(ModelSpec(BERT, bert)))
    history = fit(model, batches[:6], steps=60, lr=0.01, warmup=10, show=False)
    assert history.losses[-1] < 0.2 * history.losses[0]
    with torch.no_grad():
        assert torch.stack([model.loss(batch) for batch in batches[6:]]).mean() < 0.3 * history.losses[0]
