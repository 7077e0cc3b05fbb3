"""Our Transformer layers against ``nn.TransformerEncoderLayer`` and ``nn.TransformerDecoderLayer``."""

import pytest
import torch
from alike import gradients, noise, put_attention, same, shaken
from torch import nn

from plmlab.layers.shape import LayerShape
from plmlab.layers.transformer import DecoderLayer, PostNorm, PreNorm, TransformerLayer
from plmlab.visibility import AttentionMask

SIZES = [(8, 2, 16, 2, 5), (12, 3, 20, 3, 7), (16, 4, 64, 1, 1)]


def copy_rest(ours: TransformerLayer, theirs: nn.Module, norms: list[nn.Module]) -> None:
    """Feed-forward and norms; the attentions are copied by themselves."""
    ours.feed_forward.up.load_state_dict(theirs.linear1.state_dict())
    ours.feed_forward.down.load_state_dict(theirs.linear2.state_dict())
    for i, norm in enumerate(norms, 1):
        norm.load_state_dict(getattr(theirs, f"norm{i}").state_dict())


def shape(model: int, heads: int, inner: int, activation: str) -> LayerShape:
    return LayerShape(model, heads, inner, activation)


def same_all(ours: torch.Tensor, theirs: torch.Tensor, pairs: list[tuple[torch.Tensor, torch.Tensor]]) -> None:
    """The outputs, and the gradients of pairs of (our input or weight, theirs)."""
    same(ours, theirs)
    mine, others = gradients(ours, *[a for a, _ in pairs]), gradients(theirs, *[b for _, b in pairs])
    for a, b in zip(mine, others, strict=True):
        same(a, b, 1e-9)


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("residual", [PostNorm, PreNorm])
@pytest.mark.parametrize(("model", "heads", "inner", "batch", "time"), SIZES)
def test_encoder_layer(model: int, heads: int, inner: int, batch: int, time: int, residual: type[PostNorm],
                       activation: str) -> None:
    theirs = nn.TransformerEncoderLayer(model, heads, inner, activation=activation, batch_first=True,
                                        norm_first=residual is PreNorm)
    shaken(theirs).train()
    for module in theirs.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    theirs.self_attn.dropout = 0.0
    ours = TransformerLayer(shape(model, heads, inner, activation), residual).double().eval()
    put_attention(ours.attention, theirs.self_attn)
    copy_rest(ours, theirs, [ours.attention_residual.norm, ours.feed_forward_residual.norm])
    x = noise(batch, time, model)
    keys = torch.arange(time)[None] < torch.tensor([max(1, time - row) for row in range(batch)])[:, None]
    expected = theirs(x, src_key_padding_mask=~keys)
    same_all(ours(x, AttentionMask(keys=keys)), expected, [
        (x, x), (ours.attention.out.weight, theirs.self_attn.out_proj.weight),
        (ours.feed_forward.up.weight, theirs.linear1.weight),
        (ours.attention_residual.norm.weight, theirs.norm1.weight),
        (ours.feed_forward_residual.norm.bias, theirs.norm2.bias)])


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("residual", [PostNorm, PreNorm])
@pytest.mark.parametrize(("model", "heads", "inner", "batch", "time"), SIZES)
def test_decoder_layer(model: int, heads: int, inner: int, batch: int, time: int, residual: type[PostNorm],
                       activation: str) -> None:
    theirs = shaken(nn.TransformerDecoderLayer(model, heads, inner, activation=activation, batch_first=True,
                                               norm_first=residual is PreNorm))
    ours = DecoderLayer(shape(model, heads, inner, activation), residual).double().eval()
    put_attention(ours.attention, theirs.self_attn)
    put_attention(ours.cross_attention, theirs.multihead_attn)
    copy_rest(ours, theirs, [ours.attention_residual.norm, ours.cross_attention_residual.norm,
                             ours.feed_forward_residual.norm])
    x, memory = noise(batch, time, model), noise(batch, time + 2, model, seed=2)
    keys = torch.arange(time + 2)[None] < torch.tensor([max(1, time + 2 - row) for row in range(batch)])[:, None]
    blocked = torch.ones(time, time, dtype=torch.bool).triu(1)
    expected = theirs(x, memory, tgt_mask=blocked, memory_key_padding_mask=~keys)
    same_all(ours(x, AttentionMask(causal=True), memory, AttentionMask(keys=keys)), expected, [
        (x, x), (memory, memory), (ours.cross_attention.out.weight, theirs.multihead_attn.out_proj.weight),
        (ours.attention.out.bias, theirs.self_attn.out_proj.bias),
        (ours.cross_attention_residual.norm.weight, theirs.norm2.weight)])
