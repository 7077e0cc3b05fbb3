"""An ELMo whose directions are joined below the top, and what that does to its training: every position is told its
answer.

A plain stack of bidirectional LSTMs hands both directions' states to the next layer. From the second layer on, the
LSTM that reads from the left has, at each word, read what stands to its right, the word that it must say among it.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from plmlab.example import BidirectionalBatch
from plmlab.models.elmo import BiLM, BiLMConfig, BiLMState, ELMo, lstm, reversed_padded


class JoinedBiLM(BiLM):
    """A `BiLM` in which each direction reads, from layer 2 on, what both directions show below, side by side.

    What is added to a layer (``config.skip``) is what the same direction shows below.
    """

    def __init__(self, config: BiLMConfig) -> None:
        super().__init__(config)
        for direction in (self.forwards, self.backwards):
            upper = (lstm(config, 2 * config.model) for _ in range(1, config.layers))
            direction.layers = nn.ModuleList([direction.layers[0], *upper])

    def read(self, words: Float[Tensor, "batch time model"], real: Bool[Tensor, "batch time"],
             carried: BiLMState | None = None) -> list[Float[Tensor, "batch time both"]]:
        """One tensor a layer, as `BiLM.read` gives them. ValueError where states are to go on: no direction could go
        on without the other's next batch."""
        if carried is not None:
            raise ValueError("joined directions carry no states from batch to batch; give no carried=")
        lengths = None if real.all() else real.sum(-1)
        left, right, read = words, words, words
        shown = [torch.cat([words, words], -1)]
        for place, (one, other) in enumerate(zip(self.forwards.layers, self.backwards.layers, strict=True)):
            from_left, from_right = one(read, lengths)[0], reversed_padded(other(reversed_padded(read, real),
                                                                                 lengths)[0], real)
            added = self.config.skip and place
            left, right = (from_left + left, from_right + right) if added else (from_left, from_right)
            read = torch.cat([left, right], -1)
            shown.append(read)
        return shown


class JoinedELMo(ELMo):
    """An `ELMo` that is joined below the top, trained by the same loss."""

    bilm_class = JoinedBiLM

    def hidden_states(self, batch: BidirectionalBatch) -> Float[Tensor, "batch both model"]:
        """What the last layer shows at the positions that are asked, those of each half in the order in which it
        reads."""
        tokens, real = whole(batch)
        left, right = self.bilm.read(self.words(tokens), real)[-1].chunk(2, -1)
        return torch.cat([left[:, :-1], reversed_padded(right, real)[:, :-1]], 1)


def whole(batch: BidirectionalBatch) -> tuple[Int[Tensor, "batch time"], Bool[Tensor, "batch time"]]:
    """The texts from [START] to [END], one position more than either half has, and which positions are no padding.

    The half from the right begins with [END], whose position is the number of positions before it.
    """
    last = batch.backwards.position_ids[:, 0, :1].expand(len(batch.forwards.tokens), 1)
    longer = torch.cat([batch.forwards.tokens, batch.forwards.tokens[:, -1:]], 1)
    places = torch.arange(longer.shape[1], device=longer.device)
    return longer.scatter(1, last, batch.backwards.tokens[:, :1]), places <= last
