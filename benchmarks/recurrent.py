"""Our recurrent layers compared with PyTorch's, forward and backward: ``python benchmarks/recurrent.py [ROUNDS]``."""

import sys
from collections.abc import Callable

import torch
from rounds import race, table
from torch import nn

from plmlab.interpret import watch
from plmlab.layers.cells import Cell, CoupledLSTMCell, GRUCell, LSTMCell, PeepholeLSTMCell, RNNCell, TorchGRUCell
from plmlab.layers.recurrent import Recurrent

BATCH, TIME, WIDTH, LAYERS = 32, 64, 128, 2
PAIRS: dict[type[Cell], type[nn.RNNBase]] = {RNNCell: nn.RNN, LSTMCell: nn.LSTM, TorchGRUCell: nn.GRU}
WRITTEN_OUT = (LSTMCell, PeepholeLSTMCell, CoupledLSTMCell, GRUCell)


def update(model: nn.Module, x: torch.Tensor, *more: object) -> Callable[[], None]:
    """A function that makes a forward pass over the texts and computes all gradients."""
    def run() -> None:
        model.zero_grad()
        model(x, *more)[0].square().mean().backward()
    return run


def watched(run: Callable[[], None], model: nn.Module) -> Callable[[], None]:
    """The same under ``watch``."""
    def both() -> None:
        with watch(model):
            run()
    return both


def main(rounds: int) -> None:
    """Print speeds for texts of full length and padded ones, and for cells that are unrolled in Python."""
    torch.set_num_threads(1)
    x, lengths = torch.randn(BATCH, TIME, WIDTH), torch.randint(1, TIME + 1, (BATCH,))
    for cell, kind in PAIRS.items():
        ours = Recurrent(cell, WIDTH, WIDTH, LAYERS)
        theirs = kind(WIDTH, WIDTH, LAYERS, batch_first=True)
        print(f"\n{kind.__name__}\n")
        print(table(race({"torch": update(theirs, x), "plmlab": update(ours, x),
                          "plmlab, padded": update(ours, x, lengths)}, rounds=rounds), BATCH * TIME))
    runners = {"torch.nn.LSTM": update(nn.LSTM(WIDTH, WIDTH, LAYERS, batch_first=True), x)}
    for cell in WRITTEN_OUT:
        model = Recurrent(cell, WIDTH, WIDTH, LAYERS)
        runners[cell.__name__ + ", watched"] = watched(update(model, x), model)
    print("\nUnrolled in Python\n")
    print(table(race(runners, rounds=max(1, rounds // 4)), BATCH * TIME))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 24)
