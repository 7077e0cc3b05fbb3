"""Positions: the sinusoid against its figures, and what a table of positions refuses."""

import math

import pytest
import torch

from plmlab.layers.positions import LearnedPositions, SinesThenCosines, Sinusoidal, sinusoid


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
    with pytest.raises(ValueError, match="must be even, got 5"):
        sinusoid(torch.arange(3), 5)


def test_sinusoidal_grows_and_is_not_saved() -> None:
    module = Sinusoidal(6).double()
    far = torch.tensor([[3, 2000]])
    torch.testing.assert_close(module(far), sinusoid(far, 6).double())
    assert module.state_dict() == {}
    torch.testing.assert_close(module(torch.tensor([[511, 0]])), sinusoid(torch.tensor([[511, 0]]), 6).double())


def test_learned_refuses_what_is_too_long() -> None:
    module = LearnedPositions(5, 4)
    assert module(torch.arange(5)[None]).shape == (1, 5, 4)
    with pytest.raises(ValueError, match=r"text of 6 tokens is too long.* 5 positions"):
        module(torch.arange(6)[None])
    assert module(torch.tensor([[0, 1, 2, 3, 4, 3, 1]])).shape == (1, 7, 4), "positions may share a place"


def test_a_sinusoid_before_zero_is_that_of_the_formula() -> None:
    module = Sinusoidal(6)
    places = torch.arange(-600, 600)[None]
    torch.testing.assert_close(module(places), sinusoid(places, 6).to(module.table))
    assert torch.equal(module(torch.tensor([[0]])), torch.tensor([[[0.0, 1.0] * 3]]))


def test_sines_then_cosines_against_a_loop() -> None:
    """The sines of all frequencies come first, also beyond the stored table."""
    places = [0, 1, 7, 600]
    table = SinesThenCosines(6)(torch.tensor([places]))
    for place, vector in zip(places, table[0].tolist(), strict=True):
        angles = [place / 10_000 ** (2 * i / 6) for i in range(3)]
        assert vector == pytest.approx([*map(math.sin, angles), *map(math.cos, angles)], abs=1e-6)
