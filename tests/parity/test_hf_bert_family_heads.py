"""The task heads on our RoBERTa, ALBERT and ELECTRA against the ``…For…`` models of ``transformers``."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
import transformers
from alike import same, shaken
from bert_family import padded_text, same_gradients, texts
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch
from plmlab.hf import convert, from_hf, to_hf
from plmlab.hf.albert import ALBERTS
from plmlab.hf.electra import DISCRIMINATORS
from plmlab.hf.roberta import ROBERTAS
from plmlab.hf.task_heads import COUNTERPARTS, Counterpart
from plmlab.models.electra import ELECTRAGenerator
from plmlab.models.task_heads import SentenceClassifier, SpanClassifier, TaskHead, TokenClassifier

LABELS = 5
SIZE = {"vocab_size": 40, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 20,
        "max_position_embeddings": 19}
OWN = {
    ROBERTAS.theirs: {"type_vocab_size": 1},
    ALBERTS.theirs: {"embedding_size": 7, "classifier_dropout_prob": 0.0},
    DISCRIMINATORS.theirs: {"embedding_size": 7},
}
OURS = [kind for kind in COUNTERPARTS if kind.family.theirs in OWN]
PAD = {ROBERTAS.theirs: 1}


def of(head: type) -> pytest.MarkDecorator:
    """A parameter: the counterparts of this kind of head."""
    return pytest.mark.parametrize("kind", [kind for kind in OURS if issubclass(kind.ours, head)],
                                   ids=lambda kind: kind.theirs)


def config(kind: Counterpart, **more: object) -> transformers.PreTrainedConfig:
    name = kind.family.theirs[0].removesuffix("Model")
    labels = 2 if kind.ours is SpanClassifier else LABELS
    return getattr(transformers, f"{name}Config")(**SIZE | OWN[kind.family.theirs] | {"num_labels": labels} | more)


def both(kind: Counterpart) -> tuple[nn.Module, nn.Module]:
    """Ours and theirs with the same weights, in float64."""
    theirs = shaken(getattr(transformers, kind.theirs)(config(kind)))
    return convert(theirs), theirs


def read(kind: Counterpart, lengths: list[int], side: str) -> tuple[Batch, dict[str, Tensor]]:
    """The same texts for both. A RoBERTa counts positions by itself, and has no segments."""
    pad = PAD.get(kind.family.theirs, 0)
    batch, given = padded_text(SIZE["vocab_size"], lengths, side, pad)
    if pad:
        del given["token_type_ids"]
        batch = replace(batch, position_ids=(given["attention_mask"].cumsum(1) - 1).clamp(min=0)[:, None])
    return batch, given


def drawn(below: int, *shape: int) -> Tensor:
    return torch.randint(0, below, shape, generator=torch.Generator().manual_seed(3))


def same_losses(kind: Counterpart, ours: nn.Module, theirs: nn.Module, loss: Tensor, expected: Tensor) -> None:
    """And the same gradients."""
    same(loss, expected)
    loss.backward()
    expected.backward()
    assert all(p.grad is not None for p in theirs.parameters())
    same_gradients(ours, theirs, kind.links(ours.encoder.config))


@pytest.mark.parametrize("lengths", [[1], [17, 4, 11]])
@of(SentenceClassifier)
def test_one_sentence_or_a_pair(kind: Counterpart, lengths: list[int]) -> None:
    ours, theirs = both(kind)
    batch, given = read(kind, lengths, "right")
    batch.labels["class"] = drawn(LABELS, len(lengths))
    expected = theirs(**given, labels=batch.labels["class"])
    same(ours(batch), expected.logits)
    same_losses(kind, ours, theirs, ours.loss(batch), expected.loss)


@texts
@of(TokenClassifier)
def test_tagging(kind: Counterpart, lengths: list[int], side: str) -> None:
    ours, theirs = both(kind)
    batch, given = read(kind, lengths, side)
    real = given["attention_mask"].bool()
    tags = torch.where(real & (drawn(3, *batch.size) > 0), drawn(LABELS, *batch.size), IGNORE)
    tags[:, -1 if side == "left" else 0], batch.labels["tags"] = 2, tags
    expected = theirs(**given, labels=tags)
    same(ours(batch)[real], expected.logits[real])
    same_losses(kind, ours, theirs, ours.loss(batch), expected.loss)


@texts
@of(SpanClassifier)
def test_span(kind: Counterpart, lengths: list[int], side: str) -> None:
    """Padding is closed to answers, to theirs by hand."""
    ours, theirs = both(kind)
    batch, given = read(kind, lengths, side)
    real = given["attention_mask"].bool()
    first = real.int().argmax(1)
    batch.labels.update(start=first + drawn(min(lengths), len(lengths)), end=first + torch.tensor(lengths) - 1)
    told = theirs(**given)
    start, end = (logits.masked_fill(~real, -torch.inf) for logits in (told.start_logits, told.end_logits))
    same(ours(batch), torch.stack([start, end], -1))
    expected = F.cross_entropy(start, batch.labels["start"]) + F.cross_entropy(end, batch.labels["end"])
    same_losses(kind, ours, theirs, ours.loss(batch), expected / 2)


@of(TaskHead)
def test_there_and_back_through_a_folder(kind: Counterpart, tmp_path: Path) -> None:
    """What ours saves, ``transformers`` and ``from_hf`` load, and all have the same weights and outputs."""
    ours, theirs = both(kind)
    again = to_hf(ours.float())
    assert type(ours) is kind.ours and type(ours.encoder) is kind.family.encoder and type(again).__name__ == kind.theirs
    for (name, a), (other, b) in zip(again.named_parameters(), theirs.named_parameters(), strict=True):
        reserved = slice(2 * name.endswith("position_embeddings.weight") * (kind.family is ROBERTAS), None)
        assert name == other and torch.equal(a[reserved], b[reserved].float()), name
    again.save_pretrained(tmp_path)
    loaded, _ = from_hf(tmp_path)
    assert type(loaded) is kind.ours and loaded.config == ours.config and not loaded.training
    batch, given = read(kind, [9, 9], "right")
    with torch.no_grad():
        told = getattr(transformers, kind.theirs).from_pretrained(tmp_path).eval()(**given)
        expected = told.logits if "logits" in told else torch.stack([told.start_logits, told.end_logits], -1)
        same(loaded(batch), expected, 1e-5)


@of(TaskHead)
def test_a_dropout_rate_of_the_head_is_theirs_or_refused(kind: Counterpart, tmp_path: Path) -> None:
    """An ``AlbertConfig`` has a rate of 0.1 before the output layer by default, and 0 elsewhere."""
    settings = {"hidden_dropout_prob": 0.0} | ({kind.rate: 0.1} if kind.rate else {})
    ours = convert(getattr(transformers, kind.theirs)(config(kind, **settings)))
    assert (ours.config.dropout, ours.encoder.config.dropout) == (0.1 if kind.rate else None, 0.0)
    again = to_hf(ours)
    again.save_pretrained(tmp_path)
    loaded, _ = from_hf(tmp_path)
    assert loaded.config == ours.config and isinstance(loaded.dropout, nn.Dropout)
    assert loaded.dropout.p == (0.1 if kind.rate else 0.0)
    if not kind.rate:
        ours = kind.ours(replace(ours.config, dropout=0.1))
        with pytest.raises(ValueError, match=rf"dropout=0\.1: {kind.theirs} has no dropout rate of its own"):
            to_hf(ours)


def test_a_head_on_the_generator_is_one_on_an_electra() -> None:
    """Only its encoder is kept, whichever of the two it comes from."""
    generator = ELECTRAGenerator(DISCRIMINATORS.size(config(OURS[-1])))
    assert type(to_hf(TokenClassifier.from_pretrained(generator.encoder))).__name__ == "ElectraForTokenClassification"
