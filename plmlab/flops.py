"""Floating-point operations (FLOPs), counted by PyTorch."""

from collections.abc import Callable
from typing import Any

from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode


def flops(run: Callable[[], Any]) -> int:
    """Floating-point operations of the matrix products of ``run()``, attention included, which is computed unfused:
    PyTorch does not count its fused form on a CPU."""
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()
