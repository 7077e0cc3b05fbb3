"""How far a push of the state reaches in a network as it is: at the start of training, and after it.

Notes for students say about 7 steps for an RNN and about 100 for an LSTM.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn

from plmlab import world
from plmlab.chapters.ch01.long_memories import ChronoLSTMCell, ForgetBiasLSTMCell
from plmlab.chapters.ch01.pushes import reach, steps_until
from plmlab.layers.cells import Cell, GRUCell, IdentityRNNCell, LSTMCell, RNNCell
from plmlab.layers.recurrent import Recurrent
from plmlab.models.recurrent import RecurrentLanguageModel
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

SEEDS, UNITS, STEPS = (0, 1, 2), 100, 200


class OrthogonalRNNCell(RNNCell):
    """A plain RNN whose U begins as a random rotation (Saxe et al. 2014), as Keras begins it."""

    def reset_parameters(self) -> None:
        """As an RNN's, but for U."""
        super().reset_parameters()
        nn.init.orthogonal_(self.weight_hh)


UNTRAINED: dict[str, type[Cell]] = {
    "RNN, as PyTorch begins it": RNNCell, "RNN, orthogonal U": OrthogonalRNNCell, "IRNN": IdentityRNNCell,
    "LSTM, as PyTorch begins it": LSTMCell, "LSTM, forget bias 1": ForgetBiasLSTMCell,
    "LSTM, chrono (1 to 200)": ChronoLSTMCell, "GRU": GRUCell}


@torch.no_grad()
def cut(network: Recurrent) -> None:
    """U becomes 0, so that a memory is all that goes from one step to the next."""
    for cell in network.cells:
        cell.weight_hh.zero_()


def untrained(change: Callable[[Recurrent], None] = lambda network: None) -> dict[str, list[int | None]]:
    """Cell → for each of three seeds, after how many steps of noise less than a hundredth of a push is left (of the
    largest that was seen of it), once a fresh network was changed."""
    found: dict[str, list[int | None]] = {}
    for name, cell in UNTRAINED.items():
        found[name] = []
        for seed in SEEDS:
            torch.manual_seed(seed)
            choices: dict[str, Any] = {"longest": 200} if cell is ChronoLSTMCell else {}
            network, x = Recurrent(cell, 10, UNITS, **choices).double(), torch.randn(8, STEPS, 10, dtype=torch.float64)
            change(network)
            found[name].append(steps_until(reach(network, x, torch.Generator().manual_seed(seed))))
    return found


def running_text(rows: int = 8, length: int = 200) -> Int[Tensor, "row time"]:
    """Sentences of the full world's test one after the other, each after its [START]."""
    found = []
    for seed in range(rows):
        row: list[int] = []
        for words in world.full().text("test", seed=seed):
            row += [world_tokenizer().vocab.need("start"), *ids(words)]
            if len(row) >= length:
                break
        found.append(row[:length])
    return torch.tensor(found)


def while_reading(model: RecurrentLanguageModel, tokens: Int[Tensor, "row time"]) -> int | None:
    """After how many tokens less than a hundredth of a push is left in a language model; None where more is left at
    the end."""
    recurrent, x = deepcopy(model.recurrent).double(), model.token(tokens).detach().double()
    return steps_until(reach(recurrent, x, torch.Generator().manual_seed(0)))
