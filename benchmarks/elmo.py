"""ELMo's two directions compared with torch's LSTMs: ``python benchmarks/elmo.py [ROUNDS]`` prints tables."""

import sys
from collections.abc import Callable
from dataclasses import replace

import torch
from rounds import race, table
from torch import nn

from plmlab.models.elmo import BiLMConfig, LSTMStack

SIZES = {"96 dimensions, 192 memory cells; 64 texts of 16 tokens": (BiLMConfig(model=96, hidden=192), 64, 16),
         "512 dimensions, 4,096 memory cells, the released size; 4 texts of 8 tokens": (BiLMConfig(), 4, 8)}
FEWER = 3
"""Factor by which the number of rounds is reduced for the released size."""


class TorchDirection(nn.Module):
    """An `LSTMStack` without clipping, made of torch's LSTMs."""

    def __init__(self, config: BiLMConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.LSTM(config.model, config.hidden, proj_size=config.model, batch_first=True)
                                    for _ in range(config.layers))

    def forward(self, x: torch.Tensor, lengths: None, carried: None) -> tuple[list[torch.Tensor], list[object]]:
        """Outputs of each layer at each position [batch time model], and the layers' final states."""
        outputs, states = [], []
        for index, layer in enumerate(self.layers):
            hidden, state = layer(x)
            x = hidden + x if index else hidden
            outputs.append(x)
            states.append(state)
        return outputs, states


def update(sides: nn.ModuleList, x: torch.Tensor) -> Callable[[], None]:
    """A function that encodes the texts in both directions and computes all gradients."""
    def run() -> None:
        sides.zero_grad()
        sum(side(x, None, None)[0][-1].square().mean() for side in sides).backward()
    return run


def main(rounds: int) -> None:
    """Print a table of speeds for each size."""
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
