"""The rivals of a Transformer-XL: by one pass over the whole text, with masks and positions made by hand."""

import math
from dataclasses import replace
from typing import TypeVar

import pytest
import torch
from torch import Tensor

from plmlab.chapters.ch10.variants import (
    AbsoluteTransformerXL,
    ContinuedPositionTransformerXL,
    NoPositionTransformerXL,
    TransformerXLWithGradient,
    affects_last_position,
)
from plmlab.example import Batch
from plmlab.interpret import watch
from plmlab.models.transformer_xl import TransformerXL, TransformerXLConfig
from plmlab.visibility import AttentionMask

VOCAB, SEGMENT = 60, 4
SMALL = TransformerXLConfig(VOCAB, segment=SEGMENT, memory=6, layers=3, model=12, heads=3, inner=20, dropout=0.0)
Reader = TypeVar("Reader", bound=TransformerXL)


def made(cls: type[Reader], **changes: object) -> Reader:
    """In float64, every weight large enough to matter."""
    torch.manual_seed(3)
    model = cls(replace(SMALL, **changes)).double().eval()
    for name, weight in model.named_parameters():
        torch.nn.init.normal_(weight, mean=float(name.endswith("norm.weight")), std=0.3)
    return model


def text(time: int, batch: int = 2) -> Tensor:
    return torch.randint(7, VOCAB, (batch, time), generator=torch.Generator().manual_seed(time))


def reads(model: TransformerXL, tokens: Tensor) -> Tensor:
    return model(Batch.continuing(tokens, 0))


def same(a: Tensor, b: Tensor, atol: float = 1e-10) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=atol)


def place(position: int) -> list[float]:
    """Its sinusoid."""
    angles = [position / 10_000 ** (even / 12) for even in range(0, 12, 2)]
    return [wave for angle in angles for wave in (math.sin(angle), math.cos(angle))]


def looks(time: int, memory: int = 6) -> Tensor:
    """Who may look at whom: at none behind, at none further than a memory before the beginning of the own segment."""
    return torch.tensor([[j <= i and j >= i // SEGMENT * SEGMENT - memory for j in range(time)] for i in range(time)])


def in_one_pass(model: TransformerXL, tokens: Tensor, mask: Tensor, position_ids: list[int]) -> Tensor:
    """The logits of the same layers over the whole text at once, with no memory at all."""
    x = model.embeddings.token.weight[tokens] * math.sqrt(12)
    x = x + torch.tensor([place(position) for position in position_ids]).double()
    for layer in model.layers:
        x = layer(x, AttentionMask(pairs=mask.expand(len(x), -1, -1)))
    return x @ model.embeddings.token.weight.T


def differ(a: Tensor, b: Tensor) -> bool:
    """Whether no vector of the one is the other's."""
    return bool(((a - b).abs().amax(-1) > 1e-6).all())


# Absolute positions

@torch.no_grad()
def test_a_remembered_position_and_one_that_is_read_now_have_the_same_position() -> None:
    """One word all over: what the lowest layer reads tells positions of a segment apart, and not segments."""
    tokens = torch.full((1, 11), 9)
    starts = {}
    for cls in (AbsoluteTransformerXL, ContinuedPositionTransformerXL, TransformerXL, NoPositionTransformerXL):
        model = made(cls)
        with watch(model, "embedded") as seen:
            reads(model, tokens)
        starts[cls] = torch.cat(seen.calls("embedded"), 1)[0] - model.embeddings.token.weight[9] * math.sqrt(12)
    same(starts[AbsoluteTransformerXL], torch.tensor([place(position % 4) for position in range(11)]).double(), 1e-6)
    same(starts[ContinuedPositionTransformerXL], torch.tensor([place(position) for position in range(11)]).double(),
         1e-6)
    assert not starts[TransformerXL].any() and not starts[NoPositionTransformerXL].any()


@pytest.mark.parametrize("memory", [0, 3, 6, 30])
@pytest.mark.parametrize("time", [1, 4, 5, 19])
@torch.no_grad()
def test_absolute_positions_are_one_pass_under_a_mask(time: int, memory: int) -> None:
    """Those that begin anew count modulo the segment, those that count on from the first word to the last."""
    anew, on = (made(cls, memory=memory) for cls in (AbsoluteTransformerXL, ContinuedPositionTransformerXL))
    tokens, mask = text(time), looks(time, memory)
    assert anew.state_dict().keys() == on.state_dict().keys()
    on.load_state_dict(anew.state_dict())
    assert torch.equal(mask, on.visibility(time).dense())
    again = in_one_pass(on, tokens, mask, [position % SEGMENT for position in range(time)])
    further = in_one_pass(on, tokens, mask, list(range(time)))
    same(reads(anew, tokens), again, 1e-6)
    same(reads(on, tokens), further, 1e-6)
    assert torch.allclose(again[:, :4], further[:, :4]) and (time < 5 or differ(again[:, 4:], further[:, 4:]))


@torch.no_grad()
def test_who_counts_begins_each_text_anew() -> None:
    model, tokens = made(ContinuedPositionTransformerXL), text(9)
    first = reads(model, tokens)
    same(reads(model, tokens), first)
    same(reads(model, tokens[1:]), first[1:])


@pytest.mark.parametrize("memory", [0, 3, 6, 30])
@pytest.mark.parametrize("cls", [AbsoluteTransformerXL, ContinuedPositionTransformerXL, NoPositionTransformerXL,
                                 TransformerXLWithGradient])
@torch.no_grad()
def test_a_text_is_read_in_one_pass_under_the_mask_that_the_memory_comes_to(cls: type[TransformerXL], memory: int,
                                                                           ) -> None:
    """As all that look inside do (`in_one_pass`); another mask gives other numbers."""
    model, batch = made(cls, memory=memory), Batch.continuing(text(19), 0)
    whole = model(batch)
    same(model(replace(batch, visible=AttentionMask(pairs=looks(19, memory)[None]))), whole, 1e-6)
    other = model(replace(batch, visible=AttentionMask(pairs=looks(19, memory + 1 if memory < 30 else 2)[None])))
    assert not torch.allclose(other, whole, atol=1e-4)


# No positions

@pytest.mark.parametrize(("cls", "layers", "told_apart"), [
    (NoPositionTransformerXL, 1, False), (NoPositionTransformerXL, 2, True), (TransformerXL, 1, True),
    (AbsoluteTransformerXL, 1, True), (ContinuedPositionTransformerXL, 1, True),
])
@torch.no_grad()
def test_without_positions_one_layer_does_not_hear_the_order_of_what_it_remembers(
        cls: type[TransformerXL], layers: int, told_apart: bool) -> None:
    """Two words of the first segment change places; from the second on all see both of them. Two layers hear it: a
    position between the two saw the one and not the other."""
    model, tokens = made(cls, layers=layers), text(8)
    turned = tokens[:, [0, 3, 2, 1, *range(4, 8)]]
    assert (tokens[:, 1] != tokens[:, 3]).all()
    before, after = reads(model, tokens)[:, 4:], reads(model, turned)[:, 4:]
    if told_apart:
        assert differ(before, after)
    else:
        same(before, after)
        turned[:, 1] = (tokens[:, 1] - 6) % (VOCAB - 7) + 7
        assert differ(before, reads(model, turned)[:, 4:]), "but it hears which words they are"


# A memory that is taught

@pytest.mark.parametrize("changes", [{}, {"memory": 0}, {"memory": 30}, {"same_length": True}, {"clamp": 2}])
@pytest.mark.parametrize("time", [3, 4, 19])
@torch.no_grad()
def test_a_taught_memory_reads_the_same(time: int, changes: dict[str, object]) -> None:
    plain, taught, tokens = made(TransformerXL, **changes), made(TransformerXLWithGradient, **changes), text(time)
    taught.load_state_dict(plain.state_dict())
    same(reads(taught, tokens), reads(plain, tokens))
    other = made(TransformerXL, memory=2)
    assert time < 5 or changes.get("memory") == 2 or not torch.allclose(reads(taught, tokens), reads(other, tokens))


def flows(model: TransformerXL, tokens: Tensor) -> Tensor:
    """How much the last segment's vectors move each word of a text of different words; [word model]."""
    read = model.hidden_states(Batch.continuing(tokens, 0))[:, -SEGMENT:]
    [found] = torch.autograd.grad(read.square().sum(), model.embeddings.token.weight)
    return found[tokens[0]]


def test_what_a_later_segment_needs_flows_into_the_taught_memory_alone() -> None:
    tokens = torch.arange(10, 22)[None]
    plain, taught = (flows(made(cls), tokens).abs().amax(-1) for cls in (TransformerXL, TransformerXLWithGradient))
    assert not plain[:8].any() and plain[8:].min() > 1e-6 and taught.min() > 1e-6


def test_one_layer_is_taught_no_further_back_than_it_looks() -> None:
    """The segment begins at 8, and the memory holds six positions before it."""
    moved = flows(made(TransformerXLWithGradient, layers=1), torch.arange(10, 22)[None]).abs().amax(-1)
    assert not moved[:2].any() and moved[2:].min() > 1e-6


def test_the_taught_gradient_is_the_whole_one() -> None:
    """By differences: how the last segment's vectors change with a word of the first. The other's gradient is not."""
    tokens, step = torch.arange(10, 22)[None], 1e-5
    model, plain = made(TransformerXLWithGradient), made(TransformerXL)
    found = flows(model, tokens)
    weight = model.embeddings.token.weight

    @torch.no_grad()
    def loss_at(change: float, position: int, column: int) -> float:
        weight[tokens[0, position], column] += change
        read = float(model.hidden_states(Batch.continuing(tokens, 0))[:, -SEGMENT:].square().sum())
        weight[tokens[0, position], column] -= change
        return read

    for position, column in ((3, 0), (6, 5), (9, 7)):
        slope = (loss_at(step, position, column) - loss_at(-step, position, column)) / (2 * step)
        assert float(found[position, column]) == pytest.approx(slope, rel=1e-5, abs=1e-7)
        assert (float(flows(plain, tokens)[position, column]) == 0) == (position < 8)


@pytest.mark.parametrize("cls", [ContinuedPositionTransformerXL, TransformerXLWithGradient])
def test_who_reads_whole_texts_only_says_so(cls: type[TransformerXL]) -> None:
    model = made(cls)
    with pytest.raises(ValueError, match="from its beginning"):
        model.hidden_states(Batch.continuing(text(4), 0), model.start().memories)


def test_only_positions_within_reach_affect_the_last() -> None:
    """One layer, segments of 4 and a memory of 4: of ten positions the last, 9, attends to those from 4 on."""
    torch.manual_seed(0)
    model = TransformerXL(TransformerXLConfig(30, segment=4, memory=4, layers=1, model=16, heads=2, inner=64,
                                              dropout=0.0)).eval()
    text = torch.arange(10)[None]
    reached = [affects_last_position(model, text, torch.where(text == at, 20, text)) for at in range(10)]
    assert reached == [at >= 4 for at in range(10)] and not affects_last_position(model, text, text)
