"""What torch's autograd says of pushes, for JavaScript to agree with: ``python tests/labs/gradient_fixtures.py`` writes
it."""

import json
from collections.abc import Callable
from math import sqrt
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.autograd.functional import jacobian

from plmlab.layers.cells import Cell, IdentityRNNCell, LSTMCell, RNNCell, TorchGRUCell
from plmlab.layers.recurrent import Recurrent

FILE = Path(__file__).with_name("gradient_fixtures.json")
CELLS: dict[str, type[Cell]] = {"rnn": RNNCell, "irnn": IdentityRNNCell, "lstm": LSTMCell, "gru": TorchGRUCell}
STEPS = 6


def later(network: Recurrent, x: Tensor, s: int, t: int, which: int) -> Callable[[Tensor], Tensor]:
    """From the vector ``which`` of the state at step s to the same of step t, the rest of the state held."""
    _, at = network(x[:, :s + 1])

    def reached(pushed: Tensor) -> Tensor:
        carried = tuple(pushed[None, None] if i == which else vector for i, vector in enumerate(at))
        return network(x[:, s + 1:t + 1], initial_states=carried)[1][which].flatten() if t > s else pushed
    return reached


def sizes(network: Recurrent, x: Tensor, which: int) -> list[list[float]]:
    """[t][s], s ≤ t: the root mean square of ‖∂/∂ · v‖ over all directions v of length 1."""
    width = network.cells[0].hidden_size
    found: list[list[float]] = []
    for t in range(STEPS):
        row = []
        for s in range(t + 1):
            at = network(x[:, :s + 1])[1][which].flatten()
            row.append(jacobian(later(network, x, s, t, which), at).norm().item() / sqrt(width))
        found.append(row)
    return found


def pushes() -> list[dict[str, Any]]:
    """Each cell in two widths, with its weights."""
    found = []
    for name, cell in CELLS.items():
        for width in (3, 5):
            generator = torch.Generator().manual_seed(width)
            network = Recurrent(cell, 4, width).double()
            with torch.no_grad():
                for weights in network.parameters():
                    weights.normal_(0, 0.7, generator=generator)
                if name == "irnn":  # else ReLU soon cuts every unit, and all sizes are 0
                    network.cells[0].bias_hh += 2
            x = torch.randn(1, STEPS, 4, generator=generator, dtype=torch.float64)
            one = network.cells[0]
            with torch.no_grad():
                read = one.read(x)
            found.append({"cell": name, "n": width, "steps": STEPS, "U": one.weight_hh.flatten().tolist(),
                          "bias": one.bias_hh.tolist(), "read": read.flatten().tolist(),
                          "state": sizes(network, x, 0), "memory": sizes(network, x, 1) if name == "lstm" else None})
    return found


def radii() -> list[dict[str, Any]]:
    """Random matrices with their spectral radius."""
    generator = torch.Generator().manual_seed(1)
    matrices = [torch.randn(n, n, generator=generator, dtype=torch.float64) for n in (2, 7, 12)]
    return [{"n": len(U), "U": U.flatten().tolist(), "radius": torch.linalg.eigvals(U).abs().max().item()}
            for U in matrices]


def cases() -> dict[str, Any]:
    """All of it."""
    return {"pushes": pushes(), "radii": radii()}


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases()) + "\n", encoding="utf-8")
