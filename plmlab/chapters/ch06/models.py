"""The models compared in chapter 06: a decoder-only Transformer with sinusoidal positions, and LSTMs."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch
from plmlab.layers.positions import Sinusoidal
from plmlab.models.gpt import GPT2, Embeddings, GPTConfig


class Sinusoids(Embeddings):
    """Token embeddings times √d plus sinusoidal positional encodings, as in the paper (§3.4, §3.5); there is no maximum
    length."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__(config)
        self.position = Sinusoidal(config.model)  # type: ignore[assignment]

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Input embeddings."""
        tokens = self.token(batch.tokens)
        return self.dropout(tokens * tokens.shape[-1]**0.5 + self.position(batch.position_ids[:, 0]))


class SinusoidalGPT2(GPT2):
    """A GPT-2 with the sinusoidal positional encoding of the paper."""

    embeddings_class = Sinusoids


class LSTM(nn.Module):
    """An LSTM language model, in which information about a word n steps back has passed through n recurrent steps.

    With PyTorch's default initialization the forget gates are initially near ½, so that 1/2ⁿ of the cell state is left
    after n steps. If ``memory`` is given, chrono initialization sets each unit's time constant to between 1 and
    ``memory`` words (Tallec and Ollivier 2018).
    """

    def __init__(self, vocab: int, width: int, layers: int, memory: int | None = None) -> None:
        super().__init__()
        self.token = nn.Embedding(vocab, width)
        nn.init.normal_(self.token.weight, std=0.1)
        self.steps = nn.LSTM(width, width, layers, batch_first=True)
        if memory is not None:
            for layer in range(layers):
                self.remember(getattr(self.steps, f"bias_ih_l{layer}"), getattr(self.steps, f"bias_hh_l{layer}"),
                              memory)

    @staticmethod
    @torch.no_grad()
    def remember(bias: Tensor, other: Tensor, memory: int) -> None:
        """Chrono-initialize a layer: the forget bias is log u and the input bias −log u, with u uniform on [1,
        ``memory``]."""
        width = len(bias) // 4
        bias.zero_()
        other.zero_()
        bias[width:2 * width] = torch.empty(width).uniform_(1, memory).log()
        bias[:width] = -bias[width:2 * width]

    def forward(self, batch: Batch) -> Float[Tensor, "batch time vocab"]:
        """Next-word logits at each position."""
        return F.linear(self.steps(self.token(batch.tokens))[0], self.token.weight)

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean cross-entropy in nats per target."""
        return F.cross_entropy(self(batch).flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE)
