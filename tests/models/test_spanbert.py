"""SpanBERT: its span boundary objective against a computation token by token, and mistakes that this detects."""

import math
from dataclasses import replace
from random import Random

import pytest
import torch
from torch import Tensor, nn

from plmlab.example import IGNORE, Batch, Example
from plmlab.models.bert import BERT
from plmlab.models.spanbert import SpanBERTConfig, SpanBERTPretraining
from plmlab.objectives import always_mask_span, masked, spans_masked
from plmlab.text import Text
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(90)
SIZE = SpanBERTConfig(90, time=32, layers=2, model=12, heads=3, inner=20, dropout=0.0, attention_dropout=0.0, span=6,
                      span_width=5)

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def model() -> SpanBERTPretraining:
    torch.manual_seed(0)
    made = SpanBERTPretraining(SIZE).double()
    for parameter in made.parameters():
        nn.init.normal_(parameter, std=0.4)
    return made


def text_of(size: int) -> Text:
    return Text(range(40, 40 + size), words=[(i, i + 1) for i in range(size)])


def examples(*spans: tuple[tuple[int, int], ...], sizes: tuple[int, ...] = (12, 9, 15)) -> list[Example]:
    return [spans_masked(text_of(size), vocab=VOCAB, rng=Random(0), spans=one, corrupt=always_mask_span)
            for size, one in zip(sizes, spans, strict=False)]


def gelu(x: float) -> float:
    return x * (1 + math.erf(x / 2 ** 0.5)) / 2


def layer(x: list[float], linear: nn.Linear, norm: nn.LayerNorm) -> list[float]:
    """LayerNorm(GELU(Wx + b)), by hand."""
    h = [gelu(sum(w * value for w, value in zip(row, x, strict=True)) + b)
         for row, b in zip(linear.weight.tolist(), linear.bias.tolist(), strict=True)]
    mean = sum(h) / len(h)
    scale = math.sqrt(sum((value - mean) ** 2 for value in h) / len(h) + norm.eps)
    return [g * (value - mean) / scale + b
            for value, g, b in zip(h, norm.weight.tolist(), norm.bias.tolist(), strict=True)]


def by_hand(model: SpanBERTPretraining, hidden: Tensor, spans: list[list[tuple[int, int]]],
            rows: list[Example]) -> tuple[float, int]:
    """§3.2 token by token: the mean loss over the spans that are not at an edge, in tokens of the text."""
    head, matrix, losses = model.span_boundary, model.encoder.embeddings.token.weight.tolist(), list[float]()
    for row, (example, ours) in enumerate(zip(rows, spans, strict=True)):
        size = len(example.tokens) - 2
        for start, end in ours:
            for i in range(start, end):
                if start == 0 or end == size or i - start >= SIZE.span:
                    continue
                before, after = hidden[row, start].tolist(), hidden[row, end + 1].tolist()  # [CLS] is position 0
                h = before + after + head.position.weight[i - start].tolist()
                y = layer(layer(h, head.first, head.first_norm), head.second, head.second_norm)
                logits = [sum(a * b for a, b in zip(y, vector, strict=True)) + bias
                          for vector, bias in zip(matrix, head.bias.tolist(), strict=True)]
                top = max(logits)
                log_sum = top + math.log(sum(math.exp(value - top) for value in logits))
                losses.append(log_sum - logits[int(example.targets[1 + i])])
    return sum(losses) / max(1, len(losses)), len(losses)


SPANS = [[(2, 5), (7, 8)], [(0, 2), (4, 6), (8, 9)], [(3, 12)]]
"""Two inside; one at each edge and one inside; one longer than there are places."""


def test_the_loss_by_hand(model: SpanBERTPretraining) -> None:
    rows = examples(*map(tuple, SPANS))
    batch = Batch.of(rows, pad=0)
    hidden = model.encoder(batch)
    expected, count = by_hand(model, hidden, SPANS, rows)
    logits, targets = model.boundary_logits(hidden, batch)
    assert count == len(targets) == 4 + 2 + 6 and logits.shape == (12, 90)
    mlm = nn.functional.cross_entropy(model(batch).flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE)
    assert model.loss(batch).item() == pytest.approx(mlm.item() + expected, abs=1e-9)


def test_padding_on_the_left_changes_nothing(model: SpanBERTPretraining) -> None:
    """The first text alone, and padded by three positions: positions and boundaries move along."""
    batch = Batch.of(examples(tuple(SPANS[0])), pad=0)
    size = batch.size[1]
    keys = torch.tensor([[False] * 3 + [True] * size])

    def pad(t: Tensor, fill: int) -> Tensor:
        return nn.functional.pad(t, (3, 0), value=fill)
    boundaries = batch.labels["boundaries"]
    moved = torch.where(boundaries == IGNORE, IGNORE, boundaries + 3)
    padded = replace(batch, tokens=pad(batch.tokens, 0), position_ids=pad(batch.position_ids, 0),
                     segments=pad(batch.segments, 0), targets=pad(batch.targets, IGNORE),
                     visible=replace(batch.visible, keys=keys),
                     labels={"boundaries": nn.functional.pad(moved, (0, 0, 3, 0), value=IGNORE)})
    assert model.loss(padded).item() == pytest.approx(model.loss(batch).item(), abs=1e-9)


def test_what_the_boundary_objective_can_see(model: SpanBERTPretraining) -> None:
    """Its logits depend on the states of the two boundaries and on no state inside of the span."""
    batch = Batch.of(examples(((4, 7),)), pad=0)
    hidden = model.encoder(batch).detach().requires_grad_()
    model.boundary_logits(hidden, batch)[0].square().sum().backward()
    assert hidden.grad is not None
    assert hidden.grad[0].abs().sum(-1).nonzero().flatten().tolist() == [4, 8]
    assert (model.span_boundary.position.weight.grad.abs().sum(-1) > 0).tolist() == [True] * 3 + [False] * 3


@pytest.mark.parametrize("change", ["one token inside", "shifted places", "edges too", "one boundary twice"])
def test_other_boundaries_give_another_loss(change: str, model: SpanBERTPretraining) -> None:
    rows = examples(*map(tuple, SPANS))
    batch = Batch.of(rows, pad=0)
    right = by_hand(model, model.encoder(batch), SPANS, rows)[0]
    boundaries = batch.labels["boundaries"].clone()
    known = boundaries[..., 0] != IGNORE
    if change == "one token inside":
        boundaries[..., 1][known] -= 1
    elif change == "shifted places":
        boundaries[..., 0][known] -= 1
    elif change == "edges too":
        boundaries[1, 1:3] = torch.tensor([0, 3])
    else:
        boundaries[..., 1][known] = boundaries[..., 0][known]
    changed = replace(batch, labels={"boundaries": boundaries})
    logits, targets = model.boundary_logits(model.encoder(changed), changed)
    assert abs(nn.functional.cross_entropy(logits, targets).item() - right) > 1e-3


def test_spans_at_the_edges_have_no_boundary_loss(model: SpanBERTPretraining) -> None:
    batch = Batch.of(examples(((0, 2), (10, 12)), ((0, 9),)), pad=0)
    hidden = model.encoder(batch)
    assert len(model.boundary_logits(hidden, batch)[1]) == 0
    assert torch.equal(model.loss(batch), model.masked_lm_loss(hidden, batch))
    model.loss(batch).backward()
    assert all(p.grad is None or bool(torch.isfinite(p.grad).all()) for p in model.parameters())


def test_it_is_bert_with_one_more_head() -> None:
    """No next-sentence head; the tied matrix is the same tensor."""
    model = SpanBERTPretraining(SIZE)
    assert type(model.encoder) is BERT and not hasattr(model, "next_sentence")
    head = {name for name in model.state_dict() if not name.startswith("encoder.")}
    assert head == {"bias", "transform.weight", "transform.bias", "norm.weight", "norm.bias"} | {
        f"span_boundary.{name}" for name in ("position.weight", "first.weight", "first.bias", "first_norm.weight",
                                             "first_norm.bias", "second.weight", "second.bias", "second_norm.weight",
                                             "second_norm.bias", "bias")}
    assert model.span_boundary.first.in_features == 2 * 12 + 5


def test_without_boundaries_it_says_so(model: SpanBERTPretraining) -> None:
    batch = Batch.of([masked([50, 51, 52], vocab=VOCAB, rng=Random(0))], pad=0)
    with pytest.raises(ValueError, match=r"no label 'boundaries'; its labels: none\. plmlab\.objectives\.spans_masked"):
        model.loss(batch)

