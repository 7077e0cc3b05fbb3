"""The mix of layers by hand: shares, γ, the batch's own mean and variance, what it refuses."""

from math import exp

import pytest
import torch

from plmlab.interpret.watching import watch
from plmlab.layers.scalar_mix import ScalarMix

LAYERS = [torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(seed)) * (seed + 1) + seed for seed in range(3)]
REAL = torch.tensor([[True, True, True], [True, False, False]])


def test_it_begins_as_the_mean() -> None:
    torch.testing.assert_close(ScalarMix(3)(LAYERS), torch.stack(LAYERS).mean(0))


def test_shares_and_gamma_by_hand() -> None:
    mix = ScalarMix(3)
    with torch.no_grad():
        mix.weights[:] = torch.tensor([0.0, 1.0, -2.0])
        mix.gamma.fill_(0.5)
    parts = [1.0, exp(1), exp(-2)]
    with watch(mix) as seen:
        mixed = mix(LAYERS)
    assert seen["shares"].tolist() == pytest.approx([part / sum(parts) for part in parts])
    wanted = sum(part / sum(parts) * float(layer[1, 2, 3]) for part, layer in zip(parts, LAYERS, strict=True)) / 2
    assert mixed[1, 2, 3].item() == pytest.approx(wanted, rel=1e-5)


def test_normed_over_the_real_positions_of_the_batch() -> None:
    mixed = ScalarMix(1, normed=True)([LAYERS[2]], REAL)
    numbers = [float(number) for row, position in REAL.nonzero().tolist() for number in LAYERS[2][row, position]]
    mean = sum(numbers) / len(numbers)
    size = (sum((number - mean) ** 2 for number in numbers) / len(numbers)) ** 0.5
    torch.testing.assert_close(mixed, (LAYERS[2] - mean) / size)
    assert not torch.allclose(mixed, ScalarMix(1, normed=True)([LAYERS[2]]))


def test_weights_and_gamma_learn_and_another_number_of_layers_is_refused() -> None:
    mix = ScalarMix(3)
    mix(LAYERS)[..., 0].sum().backward()
    assert mix.weights.grad is not None and mix.weights.grad.abs().min() > 0 and mix.gamma.grad.abs() > 0
    with pytest.raises(ValueError, match="expected 3 layers to mix, got 2"):
        mix(LAYERS[:2])
