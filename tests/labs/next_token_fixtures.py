"""What decoding says of some logits, for JavaScript to agree with: ``python tests/labs/next_token_fixtures.py``."""

import json
from pathlib import Path
from typing import Any

import torch

from plmlab.decode import distribution

FILE = Path(__file__).with_name("next_token_fixtures.json")
SETTINGS: list[tuple[float, int | None, float]] = [
    (1.0, None, 1.0), (0.3, None, 1.0), (2.5, None, 1.0), (1.0, 3, 1.0), (1.0, 1, 1.0), (1.0, 500, 1.0),
    (1.0, None, 0.9), (1.0, None, 0.05), (1.7, 12, 0.8), (0.6, 5, 0.95)]


def cases() -> list[dict[str, Any]]:
    """Logits from the highest to the lowest, some of them equal, and what is drawn from under each setting."""
    generator = torch.Generator().manual_seed(7)
    spread = torch.randn(40, generator=generator) * 3
    ties = torch.tensor([2.0, 1.0, 1.0, 1.0, 0.5, -3.0])
    found = []
    for logits in (spread.sort(descending=True).values, ties, torch.tensor([1e4, 1e4 - 2, -1e4]), torch.zeros(1)):
        for temperature, top_k, top_p in SETTINGS:
            chances = distribution(logits.double(), temperature, top_k, top_p)
            found.append({"logits": logits.tolist(), "temperature": temperature, "topK": top_k, "topP": top_p,
                          "chances": chances.tolist()})
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases()) + "\n", encoding="utf-8")
