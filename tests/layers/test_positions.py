"""Positions: the sinusoid against its figures, Shaw's relative attention against loops over eqs. 3–5."""

import math

import pytest
import torch

from plmlab.interpret import watch
from plmlab.layers.positions import Learned, RelativeAttention, Sinusoidal, sinusoid
from plmlab.visibility import AttentionMask


def test_sinusoid_of_four_dimensions() -> None:
    table = sinusoid(torch.arange(3), 4)
    figures = [[0, 1, 0, 1], [0.841471, 0.540302, 0.01, 0.99995], [0.909297, -0.416147, 0.019999, 0.9998]]
    torch.testing.assert_close(table, torch.tensor(figures), rtol=0, atol=1e-6)


@pytest.mark.parametrize(("model", "base"), [(2, 10_000.0), (8, 10_000.0), (6, 100.0)])
def test_sinusoid_against_a_loop(model: int, base: float) -> None:
    places = torch.tensor([[0, 1, 5], [17, 300, 4000]])
    table = sinusoid(places, model, base)
    for place, vector in zip(places.flatten().tolist(), table.flatten(0, 1), strict=True):
        for i in range(model // 2):
            angle = place / base ** (2 * i / model)
            assert vector[2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert vector[2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_a_shift_turns_the_sinusoid_by_an_angle_that_does_not_depend_on_the_place() -> None:
    table = sinusoid(torch.arange(50), 8).double()
    products = table @ table.T
    for distance in (1, 7):
        diagonal = products.diagonal(distance)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal), rtol=0, atol=1e-5)


def test_an_odd_width_is_refused() -> None:
    with pytest.raises(ValueError, match="must be even, 5 was given"):
        sinusoid(torch.arange(3), 5)


def test_sinusoidal_grows_and_is_not_saved() -> None:
    module = Sinusoidal(6).double()
    far = torch.tensor([[3, 2000]])
    torch.testing.assert_close(module(far), sinusoid(far, 6).double())
    assert module.state_dict() == {}
    torch.testing.assert_close(module(torch.tensor([[511, 0]])), sinusoid(torch.tensor([[511, 0]]), 6).double())


def test_learned_refuses_what_is_too_long() -> None:
    module = Learned(5, 4)
    assert module(torch.arange(5)[None]).shape == (1, 5, 4)
    with pytest.raises(ValueError, match=r"text of 6 tokens is too long.* 5 positions"):
        module(torch.zeros(1, 6, dtype=torch.long))


def shaw(module: RelativeAttention, x: torch.Tensor, looks: torch.Tensor) -> torch.Tensor:
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
    module = RelativeAttention(6, 2, window=window).double()
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
    module = RelativeAttention(6, 2, window=2).double()
    x = torch.randn(1, 9, 6, dtype=torch.float64)
    keys = torch.tensor([[False] * 3 + [True] * 6])
    torch.testing.assert_close(module(x, AttentionMask(keys=keys))[:, 3:], module(x[:, 3:], AttentionMask()))


def test_distances() -> None:
    module = RelativeAttention(4, 1, window=2)
    assert module.distance(2, 4).tolist() == [[0, 1, 2, 3], [0, 0, 1, 2]]
