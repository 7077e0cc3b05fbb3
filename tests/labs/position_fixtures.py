"""What Python says of positions, for JavaScript to agree with: ``python tests/labs/position_fixtures.py`` writes it."""

import json
from pathlib import Path
from typing import Any

import torch
from plotly.colors import sequential

from plmlab.labs.position.lab import quantised
from plmlab.layers.positions import sinusoid
from plmlab.layers.relative import ShawAttention

FILE = Path(__file__).with_name("position_fixtures.json")


def encodings() -> list[dict[str, Any]]:
    """Sinusoids of several shapes, with the dot products of all pairs p ≤ q."""
    found = []
    for length, width, base in ((3, 4, 10_000.0), (24, 10, 10_000.0), (12, 6, 30.0)):
        table = sinusoid(torch.arange(length), width, base).double()
        dots = table @ table.T
        found.append({"length": length, "width": width, "base": base, "values": table.flatten().tolist(),
                      "dots": [[p, q, dots[p, q].item()] for p in range(length) for q in range(p, length)]})
    return found


def clocks() -> list[dict[str, Any]]:
    """Hands at three positions, [position, dimension, sine, cosine, angle to the hand some positions back]."""
    found = []
    for width, base, back in ((64, 10_000.0, 3), (10, 30.0, 9), (4, 10_000.0, 1)):
        hands = sinusoid(torch.arange(40), width, base).double().unflatten(-1, (-1, 2))
        (sin, cos), (sin_back, cos_back) = hands[back:].unbind(-1), hands[:-back].unbind(-1)
        angles = torch.atan2(sin * cos_back - cos * sin_back, sin * sin_back + cos * cos_back)
        found.append({"width": width, "base": base, "back": back, "hands": [
            [place, 2 * i, *hands[place, i].tolist(), angles[place - back, i].item()]
            for place in (back, 17, 39) for i in range(width // 2)]})
    return found


def distances() -> list[dict[str, Any]]:
    """The rows of a relative attention's table."""
    return [{"length": length, "window": window,
             "rows": ShawAttention(8, 2, window=window).distance(length, length).flatten().tolist()}
            for length, window in ((6, 2), (5, 9), (9, 1))]


def table() -> dict[str, Any]:
    """A learned table, and what is left of it in a byte a number; one dimension never moves."""
    generator = torch.Generator().manual_seed(3)
    values = torch.randn(7, 5, generator=generator) * torch.tensor([1, 0.01, 5, 0, 2.0])
    packed, scales = quantised(values)
    return {"values": values.flatten().tolist(), "bytes": list(packed), **scales}


def cases() -> dict[str, Any]:
    """All of it."""
    return {"encodings": encodings(), "clocks": clocks(), "distances": distances(), "table": table(),
            "cividis": sequential.Cividis}


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases()) + "\n", encoding="utf-8")
