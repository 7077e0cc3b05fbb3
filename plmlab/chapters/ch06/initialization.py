"""Attention weights and gradients at initialization: the effects of √d_k and of pre-norm or post-norm."""

import torch
from torch import nn
from torch.nn import functional as F

from plmlab.layers.transformer import LayerShape, PreNorm, Residual, TransformerLayer
from plmlab.visibility import AttentionMask


def saturation(width: int, divisor: float, queries: int = 2000, keys: int = 32) -> tuple[float, float]:
    """The largest attention weight of random queries over random keys of this ``width``, with the scores divided by
    ``divisor``, and the norm of the gradient that reaches a query; medians over the queries."""
    q = torch.randn(queries, 1, width, requires_grad=True)
    k, v = torch.randn(queries, keys, width), torch.randn(queries, keys, 16)
    weights = ((q * k).sum(-1) / divisor).softmax(-1)
    output = weights.unsqueeze(1) @ v
    (output * torch.randn_like(output)).sum().backward()
    assert q.grad is not None
    return weights.amax(-1).median().item(), q.grad.norm(dim=-1).median().item()


def gradient_norms(residual: type[Residual], depth: int, seed: int, width: int = 64) -> list[float]:
    """The gradient norm of W₂ in each of ``depth`` untrained layers with this residual connection (`PreNorm` or
    `PostNorm`), from the first layer to the last."""
    torch.manual_seed(seed)
    shape = LayerShape(width, 4, 4 * width, dropout=0.0, attention_dropout=0.0)
    layers = [TransformerLayer(shape, residual) for _ in range(depth)]
    for parameter in nn.ModuleList(layers).parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)
    h, output = torch.randn(16, 20, width), nn.Linear(width, 100)
    for layer in layers:
        h = layer(h, AttentionMask())
    if residual is PreNorm:
        h = F.layer_norm(h, (width,))
    F.cross_entropy(output(h).flatten(0, 1), torch.randint(100, (320,))).backward()
    gradients = [layer.feed_forward.down.weight.grad for layer in layers]
    return [gradient.norm().item() for gradient in gradients if gradient is not None]
