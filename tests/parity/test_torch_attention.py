"""Our multi-head attention against ``nn.MultiheadAttention``."""

import pytest
import torch
from alike import attention_gradients, gradients, noise, put_attention, same, shaken
from torch import nn

from plmlab.interpret import watch
from plmlab.layers.attention import MultiHeadAttention
from plmlab.visibility import AttentionMask

SIZES = [(8, 2, 2, 5), (12, 3, 3, 7), (16, 1, 1, 1), (32, 8, 2, 13)]


def pair(model: int, heads: int) -> tuple[MultiHeadAttention, nn.MultiheadAttention]:
    theirs = shaken(nn.MultiheadAttention(model, heads, batch_first=True))
    ours = MultiHeadAttention(model, heads).double().eval()
    put_attention(ours, theirs)
    return ours, theirs


def masks(form: str, batch: int, query: int, key: int, heads: int) -> tuple[AttentionMask, dict]:
    """The same mask for both: ours says who may look, torch's who may not. No row is empty."""
    generator = torch.Generator().manual_seed(3)
    if form == "all":
        return AttentionMask(), {}
    if form == "causal":
        blocked = torch.ones(query, key, dtype=torch.bool).triu(1)
        return AttentionMask(causal=True), {"attn_mask": blocked}
    if form == "padding":
        keys = torch.arange(key)[None] < torch.tensor([max(1, key - 2 * row) for row in range(batch)])[:, None]
        return AttentionMask(keys=keys), {"key_padding_mask": ~keys}
    pairs = torch.rand(batch, query, key, generator=generator) < 0.5
    pairs[..., 0] = True
    return AttentionMask(pairs=pairs), {"attn_mask": (~pairs).repeat_interleave(heads, 0)}


@pytest.mark.parametrize("form", ["all", "causal", "padding", "any"])
@pytest.mark.parametrize(("model", "heads", "batch", "time"), SIZES)
def test_self_attention(model: int, heads: int, batch: int, time: int, form: str) -> None:
    ours, theirs = pair(model, heads)
    x = noise(batch, time, model)
    mask, given = masks(form, batch, time, time, heads)
    expected, expected_weights = theirs(x, x, x, average_attn_weights=False, **given)
    with watch(ours, "weights") as seen:
        watched = ours(x, mask)
    fused = ours(x, mask)
    same(seen["weights"], expected_weights)
    for output in (watched, fused):
        same(output, expected)
        same(gradients(output, x)[0], gradients(expected, x)[0])
    fused.square().sum().backward()
    expected.square().sum().backward()
    found = attention_gradients(ours)
    for name, parameter in theirs.named_parameters():
        same(found[name], parameter.grad, 1e-9)


@pytest.mark.parametrize("form", ["all", "padding", "any"])
@pytest.mark.parametrize(("model", "heads", "batch", "time"), SIZES)
def test_cross_attention(model: int, heads: int, batch: int, time: int, form: str) -> None:
    ours, theirs = pair(model, heads)
    x, memory = noise(batch, time, model), noise(batch, time + 3, model, seed=2)
    mask, given = masks(form, batch, time, time + 3, heads)
    expected = theirs(x, memory, memory, need_weights=False, **given)[0]
    output = ours(x, mask, memory)
    same(output, expected)
    for mine, other in zip(gradients(output, x, memory), gradients(expected, x, memory), strict=True):
        same(mine, other)


def test_single_precision() -> None:
    ours, theirs = pair(32, 4)
    x = noise(2, 9, 32).detach().float()
    mask, given = masks("any", 2, 9, 9, 4)
    same(ours.float()(x, mask), theirs.float()(x, x, x, **given)[0], 1e-5)
