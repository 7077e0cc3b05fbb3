"""A model's fingerprint: another weight, another print."""

import torch
from torch import nn

from plmlab.weights import fingerprint


def layer(**choices) -> nn.Linear:
    torch.manual_seed(0)
    return nn.Linear(3, 2, **choices)


def test_a_fingerprint_is_that_of_the_weights() -> None:
    one = layer()
    assert fingerprint(one) == fingerprint(layer()) and len(fingerprint(one)) == 64
    assert fingerprint(one) == fingerprint(layer().eval().requires_grad_(False)), "the mode does not count"
    with torch.no_grad():
        one.weight[1, 2] = torch.nextafter(one.weight[1, 2], torch.tensor(9.0))
    others = [one, layer(bias=False), layer().double(), nn.Sequential(layer()), nn.Linear(2, 3), layer().bfloat16()]
    assert len({fingerprint(model) for model in [layer(), *others]}) == 7


def test_a_shape_and_a_buffer_count() -> None:
    with torch.no_grad():
        wide, high = nn.Linear(4, 1, bias=False), nn.Linear(2, 2, bias=False)
        wide.weight.fill_(1), high.weight.fill_(1)
    assert fingerprint(wide) != fingerprint(high)
    norm = nn.BatchNorm1d(2)
    before = fingerprint(norm)
    norm(torch.randn(5, 2))
    assert fingerprint(norm) != before
