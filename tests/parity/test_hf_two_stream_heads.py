"""The task heads on our XLNet and MPNet against the ``XLNetFor…`` and ``MPNetFor…`` models.

Theirs of XLNet reads the class off the last position, so that it is given its texts with the padding on the left; for
places that are relative, and padding that nobody looks at, that is the same.
"""

from pathlib import Path

import mpnets
import pytest
import torch
import transformers
import xlnets
from alike import same, shaken
from texts import text
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch
from plmlab.hf import convert, from_hf, to_hf
from plmlab.hf.links import to_ours
from plmlab.hf.mpnet import MPNETS
from plmlab.hf.task_heads import COUNTERPARTS
from plmlab.hf.xlnet import XLNETS
from plmlab.models.task_heads import SentenceClassifier, SpanClassifier, TaskHead, TokenClassifier
from plmlab.visibility import AttentionMask

pytestmark = pytest.mark.filterwarnings("ignore:the MPNet of transformers")
LABELS = 5
OURS = [kind for kind in COUNTERPARTS if kind.family in (XLNETS, MPNETS)]


def of(head: type) -> pytest.MarkDecorator:
    """A parameter: the counterparts of this kind of head."""
    return pytest.mark.parametrize("kind", [kind for kind in OURS if issubclass(kind.ours, head)],
                                   ids=lambda kind: kind.theirs)


kinds = of(TaskHead)
every_size = pytest.mark.parametrize("number", range(3))
every_text = pytest.mark.parametrize("lengths", [[1], [9, 9], [17, 4, 11]])


def close(kind) -> float:
    return xlnets.CLOSE if kind.family is XLNETS else 1e-10


def both(kind, number: int) -> tuple[nn.Module, nn.Module]:
    """Ours and theirs with the same weights, in float64."""
    labels = 2 if issubclass(kind.ours, SpanClassifier) else LABELS
    theirs = getattr(transformers, kind.theirs)
    if kind.family is XLNETS:
        return xlnets.both(theirs, xlnets.SIZES[number], num_labels=labels)
    made = shaken(theirs(transformers.MPNetConfig(**mpnets.SIZES[number], num_labels=labels)))
    return convert(made), made


def shifted(rows: Tensor, lengths: list[int], way: int) -> Tensor:
    """Each row with its padding taken from the right to the left, or back again."""
    return torch.stack([row.roll(way * (len(row) - n), 0) for row, n in zip(rows, lengths, strict=True)])


def read(kind, number: int, lengths: list[int]) -> tuple[Batch, dict[str, Tensor]]:
    """The same texts for both."""
    if kind.family is MPNETS:
        return mpnets.text_of(mpnets.SIZES[number]["vocab_size"], lengths)
    batch, given = text(xlnets.SIZES[number]["vocab_size"], lengths, 3)
    batch.labels.clear()
    return batch, {name: shifted(rows, lengths, 1) for name, rows in given.items()}


def in_place(kind, rows: Tensor, lengths: list[int]) -> Tensor:
    """What theirs says of each position, where ours has the position."""
    return shifted(rows, lengths, -1) if kind.family is XLNETS else rows


def drawn(below: int, *shape: int) -> Tensor:
    return torch.randint(0, below, shape, generator=torch.Generator().manual_seed(3))


def same_losses(kind, ours: nn.Module, theirs: nn.Module, loss: Tensor, expected: Tensor) -> None:
    """And the same gradients, of every weight that has one."""
    same(loss, expected, close(kind))
    loss.backward()
    expected.backward()
    unread = {"encoder.query", *(() if kind.pooler else ("encoder.pooler.weight", "encoder.pooler.bias"))}
    links = [link for link in kind.links(ours.encoder.config) if link.ours not in unread]
    gradients = {name: p.grad for name, p in theirs.named_parameters() if p.grad is not None}
    others = to_ours(links, gradients)
    assert {link.theirs for link in links} == set(gradients)
    for name, parameter in ours.named_parameters():
        if name in unread:
            assert parameter.grad is None or not parameter.grad.any(), name
        else:
            same(parameter.grad, others.pop(name), close(kind))
    assert not others


@every_text
@every_size
@of(SentenceClassifier)
def test_one_sentence_or_a_pair(kind, number: int, lengths: list[int]) -> None:
    ours, theirs = both(kind, number)
    batch, given = read(kind, number, lengths)
    batch.labels["class"] = drawn(LABELS, len(lengths))
    expected = theirs(**given, labels=batch.labels["class"])
    same(ours(batch), expected.logits, close(kind))
    same_losses(kind, ours, theirs, ours.loss(batch), expected.loss)


@every_text
@every_size
@of(TokenClassifier)
def test_tagging(kind, number: int, lengths: list[int]) -> None:
    ours, theirs = both(kind, number)
    batch, given = read(kind, number, lengths)
    real = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    tags = torch.where(real & (drawn(3, *batch.size) > 0), drawn(LABELS, *batch.size), IGNORE)
    tags[:, 0], batch.labels["tags"] = 2, tags
    said = in_place(kind, theirs(**given).logits, lengths)
    same(ours(batch)[real], said[real], close(kind))
    same_losses(kind, ours, theirs, ours.loss(batch), F.cross_entropy(said.flatten(0, 1), tags.flatten()))


@every_text
@every_size
@of(SpanClassifier)
def test_span(kind, number: int, lengths: list[int]) -> None:
    """Padding is closed to answers, to theirs by hand."""
    ours, theirs = both(kind, number)
    batch, given = read(kind, number, lengths)
    real = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    batch.labels.update(start=drawn(min(lengths), len(lengths)), end=torch.tensor(lengths) - 1)
    output = theirs(**given)
    said = in_place(kind, torch.stack([output.start_logits, output.end_logits], -1), lengths)
    start, end = said.masked_fill(~real[..., None], -torch.inf).unbind(-1)
    same(ours(batch), torch.stack([start, end], -1), close(kind))
    expected = F.cross_entropy(start, batch.labels["start"]) + F.cross_entropy(end, batch.labels["end"])
    same_losses(kind, ours, theirs, ours.loss(batch), expected / 2)


@every_size
def test_xlnet_s_class_is_read_off_the_last_token_also_behind_padding(number: int) -> None:
    """Both are given the very same texts, the padding on the left, as theirs is to be."""
    kind = next(kind for kind in OURS if kind.theirs == "XLNetForSequenceClassification")
    ours, theirs = both(kind, number)
    batch, given = text(xlnets.SIZES[number]["vocab_size"], lengths := [17, 4, 11], 3)
    left = {name: shifted(rows, lengths, 1) for name, rows in given.items()}
    padded = Batch(left["input_ids"], batch.position_ids, left["token_type_ids"],
                   AttentionMask(keys=left["attention_mask"].bool()), batch.targets)
    same(ours(padded), theirs(**left).logits, close(kind))
    same(ours(padded), ours(batch), close(kind))


@pytest.mark.parametrize("precision", [torch.float32, torch.float64])
@kinds
def test_there_and_back(kind, precision: torch.dtype) -> None:
    ours, theirs = both(kind, 1)
    assert type(ours.to(precision)) is kind.ours and type(ours.encoder) is kind.family.encoder
    again = to_hf(ours)
    assert type(again).__name__ == kind.theirs and again.dtype == precision and not again.training
    for (name, a), (other, b) in zip(again.named_parameters(), theirs.named_parameters(), strict=True):
        rows = slice(2, None) if name.endswith("position_embeddings.weight") else slice(None)
        assert name == other and torch.equal(a[rows], b[rows].to(precision)), name
    assert convert(again).config == ours.config and type(convert(again)) is type(ours)


@kinds
def test_through_a_folder(kind, tmp_path: Path) -> None:
    """What ours saves, ``transformers`` and ``from_hf`` load, and both say the same."""
    ours, _ = both(kind, 2)
    to_hf(ours.float()).save_pretrained(tmp_path)
    loaded, _ = from_hf(tmp_path)
    assert type(loaded) is kind.ours and loaded.config == ours.config and not loaded.training
    batch, given = read(kind, 2, [9, 9])
    with torch.no_grad():
        theirs = getattr(transformers, kind.theirs).from_pretrained(tmp_path).eval()(**given)
        expected = theirs.logits if "logits" in theirs else torch.stack([theirs.start_logits, theirs.end_logits], -1)
        same(loaded(batch), expected, 1e-5)


@pytest.mark.parametrize(("settings", "message"), [
    ({"summary_type": "mean"}, "summary_type = 'mean'; ours only supports 'last'"),
    ({"summary_use_proj": False}, "summary_use_proj = False"), ({"summary_activation": "relu"}, "summary_activation"),
])
def test_a_summary_of_another_kind_is_refused_where_it_is_used(settings: dict, message: str) -> None:
    size = transformers.XLNetConfig(**xlnets.SIZES[0] | {"dropout": 0.0, "summary_last_dropout": 0.0} | settings)
    with pytest.raises(ValueError, match=message):
        convert(transformers.XLNetForSequenceClassification(size))
    convert(transformers.XLNetForTokenClassification(size))


def test_the_dropout_rate_of_the_summary_is_kept() -> None:
    size = transformers.XLNetConfig(**xlnets.SIZES[0] | {"dropout": 0.0, "summary_last_dropout": 0.3})
    ours = convert(transformers.XLNetForSequenceClassification(size))
    assert (ours.dropout.p, ours.encoder.config.dropout) == (0.3, 0.0)
    assert (to_hf(ours).config.summary_last_dropout, to_hf(ours).config.dropout) == (0.3, 0.0)
