"""Cases for the Shape X-ray's JavaScript tests: states from Python, and sums that plain loops give."""

import json
from pathlib import Path
from typing import Any

import torch
from einops import rearrange
from torch import Tensor

from plmlab.labs.shape_xray.lab import Pass, ShapeXray
from plmlab.layers.attention import MultiHeadAttention

FILE = Path(__file__).with_name("fixtures_xray.json")


def three_heads() -> MultiHeadAttention:
    """Weights by a formula, so that the stored numbers are the same on every machine."""
    module = MultiHeadAttention(6, 3)
    for which, linear in enumerate((module.q, module.k, module.v, module.out)):
        row, column = torch.arange(6.0)[:, None], torch.arange(6.0)[None]
        linear.weight.data = torch.sin(3 * row + 5 * column + which)
        linear.bias.data = torch.cos(torch.arange(6.0) + which) / 5
    return module


def torch_splits(x: Tensor, way: str) -> Tensor:
    """Time × model as head × time × width, by the library's own ``rearrange`` or the tensor's own ``view``."""
    if way == "wrong":
        return x.view(3, 5, 2)
    return rearrange(x, "time (head width) -> head time width", head=3)


def lost_without(made: Pass, way: str, matrix: Tensor) -> list[list[float]]:
    """For each token and row of the output: by how much that row changes where the token's values are zeros."""
    lost = []
    for token in range(5):
        without = made.v.clone()
        without[token] = 0
        mixed = made.weights @ (torch_splits(made.v, way) - torch_splits(without, way))
        lost.append((rearrange(mixed, "head query width -> query (head width)") @ matrix.T).abs().amax(-1).tolist())
    return lost


def cases() -> dict[str, Any]:
    """A state, and for each way of splitting it whose number each cell after the split is, how much of each row of
    each head comes from which token, and what each row of the output loses without a token."""
    vectors = torch.cos(torch.arange(30.0)).view(5, 6)
    lab = ShapeXray("the cat sat on it", three_heads(), lambda text: (text.split(), vectors))
    found: dict[str, Any] = {"state": lab.state}
    tokens = torch.arange(5)[:, None].repeat(1, 6)
    for name, made in lab.passes.items():
        holders, weights = made.holders.tolist(), made.weights.tolist()
        shares = [[[sum(weights[head][query][key] for key in range(5) if holders[head][key][0] == token)
                    for token in range(5)] for query in range(5)] for head in range(3)]
        found[name] = {"holders": holders, "shares": shares, "split": torch_splits(tokens, name).tolist(),
                       "lost": lost_without(made, name, lab.attention.out.weight.detach())}
    return found


def close(one: Any, two: Any) -> bool:
    """Whether two cases agree, numbers to a thousandth."""
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(close(value, two[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(two) and all(map(close, one, two))
    return abs(one - two) < 1e-3 if isinstance(one, float) or isinstance(two, float) else one == two


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases()) + "\n", encoding="utf-8")
