"""ELMo's bidirectional language model (双向语言模型; Peters et al. 2018): one LSTM reads a text from the left, another
from the right, and neither sees what the other does.

Both read the same vectors of words, made of characters. What stands at a word's slot is one vector a layer: layer 0 is
the word's own, twice, layer j the two directions' states side by side.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab.layers.cells import Cell, ClippedLSTMCell, LSTMCell
from plmlab.layers.charcnn import ELMO, CharCNN, Filters
from plmlab.layers.hooks import HookPoint
from plmlab.layers.recurrent import Carried, Recurrent
from plmlab.text.characters import CODES

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh}


@dataclass(frozen=True)
class BiLMConfig:
    """The size of a bidirectional language model.

    ``model`` is the width of a word's vector and of a direction's state; ``hidden`` that of an LSTM's memory, which is
    projected to ``model``. ``clip``: memory and state stay within ±clip; None where nothing is cut. ``skip``: from the
    second layer on what a layer reads is added to what it shows.
    """

    model: int = 512
    hidden: int = 4096
    layers: int = 2
    clip: float | None = 3.0
    skip: bool = True
    embedding: int = 16
    filters: Filters = ELMO
    highways: int = 2
    activation: str = "relu"

    @classmethod
    def tiny(cls) -> Self:
        """Trains in seconds on two cores."""
        return cls(model=32, hidden=64, clip=None, embedding=8, filters=((1, 8), (2, 16), (3, 32)), highways=1)

    @classmethod
    def base(cls) -> Self:
        """The released model of 93.6 million parameters, its softmax left out."""
        return cls()


class Direction(nn.Module):
    """The LSTMs that read from one side, each what the one below shows.

    Points: ``layers.N.layers.0.hidden`` is what layer N shows, before what it has read is added.
    """

    def __init__(self, config: BiLMConfig) -> None:
        super().__init__()
        self.skip = config.skip
        cell: type[Cell] = LSTMCell if config.clip is None else ClippedLSTMCell
        choices: dict[str, Any] = {} if config.clip is None else {"clip": config.clip}
        if config.model != config.hidden:
            choices["projected"] = config.model
        self.layers = nn.ModuleList(Recurrent(cell, config.model, config.hidden, **choices)
                                    for _ in range(config.layers))

    def forward(self, x: Float[Tensor, "batch time model"], lengths: Int[Tensor, "batch"] | None,
                carried: Sequence[Carried] | None) -> tuple[list[Float[Tensor, "batch time model"]], list[Carried]]:
        """What each layer shows at each slot, and its states after the last."""
        shown, last = [], []
        for place, layer in enumerate(self.layers):
            said, state = layer(x, lengths, None if carried is None else carried[place])
            x = said + x if self.skip and place else said
            shown.append(x)
            last.append(state)
        return shown, last


class BiLM(nn.Module):
    """Characters → a word's vector → from the left and from the right, layer by layer.

    Points: ``embedded`` is the word's vector.
    """

    def __init__(self, config: BiLMConfig) -> None:
        super().__init__()
        if config.activation not in ACTIVATIONS:
            raise ValueError(f"an activation is one of {', '.join(ACTIVATIONS)}; {config.activation!r} was given")
        self.config = config
        self.token = CharCNN(CODES, config.embedding, config.filters, config.highways, config.model,
                             ACTIVATIONS[config.activation]())
        self.embedded = HookPoint()
        self.forwards, self.backwards = Direction(config), Direction(config)

    def forward(self, codes: Int[Tensor, "batch time character"], carried: "BiLMState | None" = None,
                ) -> list[Float[Tensor, "batch time both"]]:
        """One tensor a layer, from the word's own vector up, both directions side by side: from the left first. A slot
        of padding, whose codes are 0, shows zeros from layer 1 on. ``carried`` are the states that the last batch has
        left; they go on."""
        real = (codes > 0).any(-1)
        lengths = None if real.all() else real.sum(-1)
        words = self.embedded(self.token(codes))
        before = carried or BiLMState()
        left, before.forwards = self.forwards(words, lengths, before.forwards)
        right, before.backwards = self.backwards(turned(words, real), lengths, before.backwards)
        return [torch.cat([words, words], -1), *(torch.cat([one, turned(other, real)], -1)
                                                 for one, other in zip(left, right, strict=True))]


@dataclass
class BiLMState:
    """What a bidirectional language model carries from batch to batch: the states of all layers, a direction each; None
    before the first."""

    forwards: list[Carried] | None = None
    backwards: list[Carried] | None = None

    def reset(self) -> None:
        """Forget all."""
        self.forwards = self.backwards = None


def turned(x: Float[Tensor, "batch time width"], real: Tensor) -> Float[Tensor, "batch time width"]:
    """Each text with its real slots from the last to the first; padding stays where it is."""
    places = torch.arange(x.shape[1], device=x.device).expand(x.shape[:2])
    moved = torch.where(real, real.sum(-1, keepdim=True) - 1 - places, places)
    return x.gather(1, moved[..., None].expand_as(x))
