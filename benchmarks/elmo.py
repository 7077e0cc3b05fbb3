"""ELMo's two directions beside the same of torch's LSTMs: ``python benchmarks/elmo.py [ROUNDS]`` prints tables."""

import sys
from collections.abc import Callable
from dataclasses import replace

import torch
from rounds import race, table
from torch import nn

from plmlab.models.elmo import BiLMConfig, LSTMStack

SIZES = {"model 96, hidden 192; 64 texts of 16 positions": (BiLMConfig(model=96, hidden=192), 64, 16),
         "model 512, hidden 4,096, the released size; 4 texts of 8 positions": (BiLMConfig(), 4, 8)}
FEWER = 3
"""By how much fewer rounds the released size gets."""


class TorchDirection(nn.Module):
    """The LSTMs of a `LSTMStack` without clipping, each of torch."""

    def __init__(self, config: BiLMConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.LSTM(config.model, config.hidden, proj_size=config.model, batch_first=True)
                                    for _ in range(config.layers))

    def forward(self, x: torch.Tensor, lengths: None, carried: None) -> tuple[list[torch.Tensor], list[object]]:
        """What each layer shows at each position, and its states after the last."""
        shown, last = [], []
        for place, layer in enumerate(self.layers):
            said, state = layer(x)
            x = said + x if place else said
            shown.append(x)
            last.append(state)
        return shown, last


def update(sides: nn.ModuleList, x: torch.Tensor) -> Callable[[], None]:
    """A function that reads the texts from both sides and computes all gradients."""
    def run() -> None:
        sides.zero_grad()
        sum(side(x, None, None)[0][-1].square().mean() for side in sides).backward()
    return run


def main(rounds: int) -> None:
    """Print who is how fast at each size."""
    torch.set_num_threads(1)
    for size, (config, batch, time) in SIZES.items():
        x, free = torch.randn(batch, time, config.model), replace(config, clip=None)
        sides: dict[str, tuple[type[nn.Module], BiLMConfig]] = {
            "torch.nn.LSTM": (TorchDirection, free), "plmlab": (LSTMStack, free),
            f"plmlab, clipped at {config.clip:g}": (LSTMStack, config)}
        runners = {name: update(nn.ModuleList(kind(how) for _ in range(2)), x) for name, (kind, how) in sides.items()}
        print(f"\n{size}\n\n{table(race(runners, rounds=rounds), batch * time)}", flush=True)
        rounds = max(1, rounds // FEWER)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 24)
