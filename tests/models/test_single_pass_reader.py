"""The reader of one pass: its loss from the formula, its spans by brute force, padding apart."""

import pytest
import torch

from plmlab.example import IGNORE, Batch
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.registry import ModelSpec
from plmlab.models.single_pass_reader import SinglePassConfig, SinglePassReader
from plmlab.objectives.single_pass_qa import with_support
from plmlab.text.words import word_tokenizer

VOCAB = word_tokenizer(["a", "b", "c", "d", "e", "f", "g", "h"]).vocab
BASE = VOCAB.need("sep") + 1


@pytest.fixture
def model() -> SinglePassReader:
    torch.manual_seed(0)
    bert = BERT(BERTConfig(BASE + 60, 40, 2, 16, 2, 32, dropout=0.0, attention_dropout=0.0))
    made = SinglePassReader.from_pretrained(bert).eval()
    torch.nn.init.normal_(made.output.weight, std=0.5)
    return made


def batch() -> Batch:
    return Batch.of([
        with_support([BASE], [[BASE + 3, BASE + 4], [BASE + 5]], (0, 0, 2), [0], vocab=VOCAB),
        with_support([BASE, BASE + 1], [[BASE + 6, BASE + 7, BASE + 8], [BASE + 9], [BASE + 10]], None, [1, 2],
                     vocab=VOCAB)], pad=0)


def test_loss_is_that_of_the_formula(model: SinglePassReader) -> None:
    read = batch()
    logits = model(read)
    start, end = int(read.labels["start"][0]), int(read.labels["end"][0])
    span = -(logits[0, :, 0].log_softmax(0)[start] + logits[0, :, 1].log_softmax(0)[end]) / 2
    told, chances = read.labels["supporting"], logits[..., 2].sigmoid()
    each = [-(chance if label else 1 - chance).log() for row, labels in zip(chances, told, strict=True)
            for chance, label in zip(row, labels.tolist(), strict=True) if label != IGNORE]
    assert len(each) == 5
    torch.testing.assert_close(model.loss(read), span + sum(each) / 5)


def test_where_no_text_answers_the_sentences_are_still_learned(model: SinglePassReader) -> None:
    read = Batch.of([with_support([BASE], [[BASE + 3]], None, [0], vocab=VOCAB)], pad=0)
    model.loss(read).backward()
    assert torch.isfinite(model.output.weight.grad).all() and bool(model.output.weight.grad[2].any())
    assert not model.output.weight.grad[:2].any()


@torch.no_grad()
def test_the_span_is_the_best_in_the_text(model: SinglePassReader) -> None:
    read = batch()
    logits = model(read)
    for row, ((first, behind), chances) in enumerate(model.predict(read, longest=2)):
        text = [position for position in range(read.size[1]) if read.segments[row, position] == 1
                and read.padding_mask[row, position]]
        spans = [(s, e) for s in text for e in text if s <= e < s + 2]
        best = max(spans, key=lambda span: float(logits[row, span[0], 0] + logits[row, span[1], 1]))
        assert (first, behind - 1) == best
        torch.testing.assert_close(torch.tensor(chances), logits[row, :, 2].sigmoid())


def test_padding_changes_nothing(model: SinglePassReader) -> None:
    read = batch()
    alone = Batch.of([with_support([BASE], [[BASE + 3, BASE + 4], [BASE + 5]], (0, 0, 2), [0], vocab=VOCAB)], pad=0)
    size = alone.size[1]
    torch.testing.assert_close(model(read)[0, :size], model(alone)[0])
    assert torch.isneginf(model(read)[0, size:]).all()


def test_other_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="labels must be 3"):
        SinglePassReader(SinglePassConfig(ModelSpec(BERT, BERTConfig(BASE + 60, 40, 1, 16, 2, 32)), labels=2))
