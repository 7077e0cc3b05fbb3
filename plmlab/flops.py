"""Floating-point operations (FLOPs), counted by PyTorch."""

from collections.abc import Callable
from math import prod
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode


def flops(run: Callable[[], Any]) -> int:
    """Floating-point operations of the matrix products of ``run()``, attention included, which is computed unfused:
    PyTorch does not count its fused form on a CPU."""
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()


def operations(run: Callable[[], Any]) -> int:
    """The `flops` of ``run()`` plus those of its sums, products, activation functions, norms and softmaxes, which
    PyTorch does not count: one per element of the result, two per element of a norm's input (square and sum), three per
    element of a softmax (exp, sum and division). Means, layer normalizations and masks are not counted."""
    aten = torch.ops.aten

    def per_result(*_: Any, out_shape: Any, **__: Any) -> int:
        return prod(out_shape)

    counted: dict[Any, Callable[..., int]] = dict.fromkeys(
        (aten.add, aten.sub, aten.mul, aten.div, aten.exp, aten.relu, aten.tanh, aten.sigmoid, aten.gelu), per_result)
    counted[aten.linalg_vector_norm] = lambda shape, *_, **__: 2 * prod(shape)
    counted |= dict.fromkeys((aten._softmax, aten._safe_softmax), lambda shape, *_, **__: 3 * prod(shape))
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False, custom_mapping=counted) as counter:
        run()
    return counter.get_total_flops()
