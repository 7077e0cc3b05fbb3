"""The number of steps for which a perturbation of the initial state persists, in untrained and in trained networks.

Lecture notes often give about 7 steps for an RNN and about 100 for an LSTM.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn

from plmlab import world
from plmlab.chapters.ch01.last_state_model import ChronoLSTMCell, ForgetBiasLSTMCell
from plmlab.chapters.ch01.perturbations import perturbation_size, steps_until_below
from plmlab.layers.cells import Cell, GRUCell, IdentityRNNCell, LSTMCell, RNNCell
from plmlab.layers.recurrent import Recurrent
from plmlab.models.recurrent import RecurrentLanguageModel
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

SEEDS, UNITS, STEPS = (0, 1, 2), 100, 200


class OrthogonalRNNCell(RNNCell):
    """A plain RNN whose U is initialized as a random orthogonal matrix (Saxe et al. 2014), the default in Keras."""

    def reset_parameters(self) -> None:
        """Initialize like a plain RNN, except for U."""
        super().reset_parameters()
        nn.init.orthogonal_(self.weight_hh)


INITIALIZATIONS: dict[str, type[Cell]] = {
    "RNN, default": RNNCell, "RNN, orthogonal U": OrthogonalRNNCell, "IRNN": IdentityRNNCell,
    "LSTM, default": LSTMCell, "LSTM, forget bias 1": ForgetBiasLSTMCell,
    "LSTM, chrono (1 to 200)": ChronoLSTMCell, "GRU": GRUCell}


@torch.no_grad()
def zero_recurrent_weights(network: Recurrent) -> None:
    """Set U to 0 in place, so that only the cell state carries information from step to step."""
    for cell in network.cells:
        cell.weight_hh.zero_()


def untrained_horizons(change: Callable[[Recurrent], None] = lambda network: None) -> dict[str, list[int | None]]:
    """Perturbation horizons of untrained networks: a mapping from each cell to its horizons for three seeds.

    The horizon is the number of noise steps after which the effect of the perturbation stays below 1 % of its maximum;
    None if the effect is still larger at the end. ``change`` modifies each new network in place before the measurement.
    """
    horizons: dict[str, list[int | None]] = {}
    for name, cell in INITIALIZATIONS.items():
        horizons[name] = []
        for seed in SEEDS:
            torch.manual_seed(seed)
            options: dict[str, Any] = {"longest": 200} if cell is ChronoLSTMCell else {}
            network, x = Recurrent(cell, 10, UNITS, **options).double(), torch.randn(8, STEPS, 10, dtype=torch.float64)
            change(network)
            horizons[name].append(steps_until_below(perturbation_size(network, x, torch.Generator().manual_seed(seed))))
    return horizons


def running_text(rows: int = 8, length: int = 200) -> Int[Tensor, "row time"]:
    """Token ids of concatenated sentences from the full world's test split, each preceded by [START]."""
    texts = []
    for seed in range(rows):
        row: list[int] = []
        for words in world.full().text("test", seed=seed):
            row += [world_tokenizer().vocab.need("start"), *ids(words)]
            if len(row) >= length:
                break
        texts.append(row[:length])
    return torch.tensor(texts)


def language_model_horizon(model: RecurrentLanguageModel, tokens: Int[Tensor, "row time"]) -> int | None:
    """Number of tokens after which the effect of a perturbation on a language model stays below 1 % of its maximum;
    None if the effect is still larger at the end."""
    recurrent, x = deepcopy(model.recurrent).double(), model.token(tokens).detach().double()
    return steps_until_below(perturbation_size(recurrent, x, torch.Generator().manual_seed(0)))
