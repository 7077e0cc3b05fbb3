"""Relative positions: Shaw's attention against loops over eqs. 3–5."""

import math

import pytest
import torch

from plmlab.interpret import watch
from plmlab.layers.relative import ShawAttention
from plmlab.visibility import AttentionMask


def shaw(module: ShawAttention, x: torch.Tensor, looks: torch.Tensor) -> torch.Tensor:
    """Shaw et al. 2018, eqs. 3 and 4, pair by pair; a^K and a^V clipped at k (eq. 5 of §3.2's definition)."""
    batch, time, model = x.shape
    width, k = model // module.heads, module.window
    z = torch.zeros_like(x)
    q, keys, values = module.q(x), module.k(x), module.v(x)
    for b in range(batch):
        for h in range(module.heads):
            part = slice(h * width, (h + 1) * width)
            for i in range(time):
                rows = [max(-k, min(k, j - i)) + k for j in range(time)]
                e = torch.stack([q[b, i, part] @ (keys[b, j, part] + module.key_distance.weight[rows[j]])
                                 for j in range(time)]) / math.sqrt(width)
                alpha = e.masked_fill(~looks[i], -math.inf).softmax(0)
                z[b, i, part] = sum(alpha[j] * (values[b, j, part] + module.value_distance.weight[rows[j]])
                                    for j in range(time))
    return module.out(z)


@pytest.mark.parametrize("window", [1, 2, 16])
@pytest.mark.parametrize("causal", [False, True])
def test_relative_attention_against_shaws_equations(window: int, causal: bool) -> None:
    torch.manual_seed(window)
    module = ShawAttention(6, 2, window=window).double()
    x = torch.randn(2, 7, 6, dtype=torch.float64)
    looks = torch.ones(7, 7, dtype=torch.bool)
    looks = looks.tril() if causal else looks
    output = module(x, AttentionMask(causal=causal))
    torch.testing.assert_close(output, shaw(module, x, looks), rtol=0, atol=1e-10)
    with watch(module) as seen:
        torch.testing.assert_close(module(x, AttentionMask(causal=causal)), output, rtol=0, atol=1e-12)
    assert seen["weights"].shape == (2, 2, 7, 7)


def test_relative_attention_does_not_see_where_the_text_begins() -> None:
    torch.manual_seed(0)
    module = ShawAttention(6, 2, window=2).double()
    x = torch.randn(1, 9, 6, dtype=torch.float64)
    keys = torch.tensor([[False] * 3 + [True] * 6])
    torch.testing.assert_close(module(x, AttentionMask(keys=keys))[:, 3:], module(x[:, 3:], AttentionMask()))


def test_distances() -> None:
    module = ShawAttention(4, 1, window=2)
    assert module.distance(2, 4).tolist() == [[0, 1, 2, 3], [0, 0, 1, 2]]
