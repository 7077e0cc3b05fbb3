"""Our interfaces of BERT against the ``BertFor…`` models, and next-sentence prediction alone."""

from pathlib import Path

import pytest
import torch
from alike import same, shaken
from texts import SIZES, text
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import (
    BertConfig,
    BertForNextSentencePrediction,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
)

from plmlab.example import IGNORE, Batch
from plmlab.hf import convert, from_hf, to_hf
from plmlab.hf.links import to_ours
from plmlab.hf.task_heads import counterpart
from plmlab.models.bert import BERT, BERTConfig, BERTPretraining
from plmlab.models.task_heads import SentenceClassifier, SpanClassifier, TokenClassifier
from plmlab.visibility import AttentionMask

sizes = pytest.mark.parametrize("size", SIZES)
texts = pytest.mark.parametrize("lengths", [[1], [9, 9], [17, 4, 11]])
THEIRS = [BertForSequenceClassification, BertForTokenClassification, BertForQuestionAnswering]
kinds = pytest.mark.parametrize("kind", THEIRS)
DRAW = torch.Generator


def both(kind: type, size: dict, labels: int) -> tuple[nn.Module, nn.Module]:
    theirs = shaken(kind(BertConfig(**size, num_labels=labels)))
    return convert(theirs), theirs


def labelled(size: dict, lengths: list[int], **labels: Tensor) -> tuple[Batch, dict[str, Tensor]]:
    batch, given = text(size["vocab_size"], lengths, size.get("type_vocab_size", 2))
    batch.labels.clear()
    batch.labels.update(labels)
    return batch, given


def drawn(below: int, *shape: int) -> Tensor:
    return torch.randint(0, below, shape, generator=DRAW().manual_seed(3))


def same_gradients(ours: nn.Module, theirs: nn.Module) -> None:
    """Every weight's, those of the output layer too; only a pooler that nothing reads has none."""
    kind = counterpart(ours)
    grads = {name: p.grad for name, p in theirs.named_parameters()}
    others = to_ours(kind.links(ours.encoder.config), grads)
    for name, parameter in ours.named_parameters():
        if name.startswith("encoder.pooler") and not kind.pooler:
            assert parameter.grad is None
            continue
        # their embedding of id 0 is declared padding, and takes no gradient from where it is read
        rows = slice(1, None) if name == "encoder.embeddings.token.weight" else slice(None)
        same(parameter.grad[rows], others.pop(name)[rows])
    assert not others and len(grads) == len(kind.links(ours.encoder.config))


@texts
@sizes
def test_one_sentence_or_a_pair(size: dict, lengths: list[int]) -> None:
    ours, theirs = both(BertForSequenceClassification, size, 5)
    assert type(ours) is SentenceClassifier
    batch, given = labelled(size, lengths, **{"class": drawn(5, len(lengths))})
    expected = theirs(**given, labels=batch.labels["class"])
    same(ours(batch), expected.logits)
    loss = ours.loss(batch)
    same(loss, expected.loss)
    loss.backward()
    expected.loss.backward()
    same_gradients(ours, theirs)


@texts
@sizes
def test_tagging(size: dict, lengths: list[int]) -> None:
    ours, theirs = both(BertForTokenClassification, size, 7)
    assert type(ours) is TokenClassifier
    batch, given = labelled(size, lengths)
    tags = drawn(7, *batch.size)
    tags[(given["attention_mask"] == 0) | (drawn(3, *batch.size) == 0)] = IGNORE
    tags[:, 0] = 2
    batch.labels["tags"] = tags
    expected = theirs(**given, labels=tags)
    same(ours(batch), expected.logits)
    loss = ours.loss(batch)
    same(loss, expected.loss)
    loss.backward()
    expected.loss.backward()
    same_gradients(ours, theirs)


@texts
@sizes
def test_span(size: dict, lengths: list[int]) -> None:
    """Theirs lets an answer begin in the padding; it is closed to both here, and their loss taken by hand."""
    ours, theirs = both(BertForQuestionAnswering, size, 2)
    assert type(ours) is SpanClassifier
    start, end = (drawn(min(lengths), len(lengths)), torch.tensor(lengths) - 1)
    batch, given = labelled(size, lengths, start=start, end=end)
    expected = theirs(**given, start_positions=start, end_positions=end)
    real = given["attention_mask"].bool()
    logits = ours(batch)
    same(logits[..., 0][real], expected.start_logits[real])
    same(logits[..., 1][real], expected.end_logits[real])
    assert (logits[~real] == -torch.inf).all()
    by_hand = sum(F.cross_entropy(theirs_.masked_fill(~real, -torch.inf), at) for theirs_, at
                  in ((expected.start_logits, start), (expected.end_logits, end))) / 2
    if real.all():
        same(by_hand, expected.loss)
    loss = ours.loss(batch)
    same(loss, by_hand)
    loss.backward()
    by_hand.backward()
    same_gradients(ours, theirs)


@pytest.mark.parametrize("lengths", [[9, 9], [17, 4, 11]])
@sizes
def test_next_sentence_alone(size: dict, lengths: list[int], tmp_path: Path) -> None:
    """Our pretraining model, saved, is loaded by ``BertForNextSentencePrediction``."""
    ours = shaken(BERTPretraining(convert(BertModel(BertConfig(**size))).config)).float()
    to_hf(ours).save_pretrained(tmp_path)
    theirs = BertForNextSentencePrediction.from_pretrained(tmp_path).eval().double()
    ours.double()
    batch, given = text(size["vocab_size"], lengths, size.get("type_vocab_size", 2))
    expected = theirs(**given, labels=batch.labels["next_sentence"])
    same(ours.next_sentence_logits(ours.encoder(batch)), expected.logits)
    same(ours.loss(batch) - F.cross_entropy(ours(batch).flatten(0, 1), batch.targets.flatten()), expected.loss)


@sizes
def test_a_mask_of_any_form(size: dict) -> None:
    theirs = shaken(BertForTokenClassification(BertConfig(**size, num_labels=3, attn_implementation="eager")))
    ours = convert(theirs)
    batch, given = labelled(size, [11, 11, 11])
    pairs = torch.rand(3, 11, 11, generator=DRAW().manual_seed(4)) < 0.4
    pairs |= torch.eye(11, dtype=torch.bool)
    batch = Batch(batch.tokens, batch.position_ids, batch.segments, AttentionMask(pairs=pairs), batch.targets)
    blocked = torch.zeros(3, 1, 11, 11).double().masked_fill(~pairs[:, None], torch.finfo(torch.float64).min)
    expected = theirs(**given | {"attention_mask": blocked}).logits
    same(ours(batch), expected)
    assert not torch.allclose(expected, theirs(**given).logits)


@pytest.mark.parametrize("precision", [torch.float32, torch.float64])
@kinds
def test_there_and_back(kind: type, precision: torch.dtype) -> None:
    ours, theirs = both(kind, SIZES[2], 2)
    ours.to(precision)
    again = to_hf(ours)
    assert type(again) is kind and again.dtype == precision and not again.training
    for (name, a), (_, b) in zip(again.named_parameters(), theirs.named_parameters(), strict=True):
        assert torch.equal(a, b.to(precision)), name
    assert convert(again).config == ours.config and type(convert(again)) is type(ours)
    assert convert(again.train()).training


@kinds
def test_through_a_folder(kind: type, tmp_path: Path) -> None:
    """What ours saves, ``transformers`` and ``from_hf`` load, and all three say the same."""
    theirs = shaken(kind(BertConfig(**SIZES[1], num_labels=4 if kind is not BertForQuestionAnswering else 2))).float()
    ours = convert(theirs)
    to_hf(ours).save_pretrained(tmp_path)
    batch, given = labelled(SIZES[1], [9, 9])
    loaded, tokenizer = from_hf(tmp_path)
    assert type(loaded) is type(ours) and tokenizer is None and not loaded.training
    with torch.no_grad():
        outputs = [torch.stack(list(m(**given).to_tuple()), -1) if kind is BertForQuestionAnswering
                   else m(**given).logits for m in (theirs, kind.from_pretrained(tmp_path).eval())]
        outputs += [ours(batch), loaded(batch)]
    for output in outputs[1:]:
        same(output, outputs[0], 1e-5)


@pytest.mark.parametrize(("rate", "kept"), [(0.3, 0.3), (0.0, 0.0), (0.1, None), (None, None)])
def test_the_dropout_rate_before_the_output_is_kept(rate: float | None, kept: float | None) -> None:
    """None is that of the encoder."""
    ours = convert(BertForTokenClassification(BertConfig(**SIZES[0], classifier_dropout=rate)))
    expected = 0.1 if rate is None else rate
    assert (ours.config.dropout, ours.dropout.p, ours.encoder.config.dropout) == (kept, expected, 0.1)
    again = to_hf(ours)
    assert (again.dropout.p, again.config.hidden_dropout_prob) == (expected, 0.1)
    assert convert(again).config == ours.config


@pytest.mark.parametrize("kind", [SentenceClassifier, TokenClassifier, SpanClassifier])
def test_a_head_on_a_real_encoder_is_theirs_on_the_same(kind: type) -> None:
    """``from_pretrained`` with a converted encoder, and over to ``transformers``: its encoder says what the first one
    said."""
    encoder = shaken(BertModel(BertConfig(**SIZES[1])))
    bert = convert(encoder)
    assert isinstance(bert, BERT) and type(bert.config) is BERTConfig
    theirs = to_hf(kind.from_pretrained(bert))
    _, given = text(50, [17, 4, 11])
    same(theirs.bert(**given).last_hidden_state, encoder(**given).last_hidden_state)
