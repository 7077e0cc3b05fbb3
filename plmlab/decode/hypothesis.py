"""`DecodingRequest`, the input of decoding, and `Hypothesis`, the result: token ids with their log-probability."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import torch
from jaxtyping import Float, Int
from torch import Tensor

from plmlab.decode.autoregressive import AutoregressiveModel
from plmlab.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class Hypothesis:
    """The tokens generated after a prompt, including [END] if it was generated, and their log-probability.

    ``logprob`` is Σ log p(token | previous tokens) in nats under the model itself, regardless of temperature, top-k,
    top-p or banned tokens.
    """

    tokens: tuple[int, ...] = ()
    logprob: float = 0.0

    def extend(self, token: int, logprob: float) -> Self:
        """Extend the hypothesis by one token with this ``logprob`` (nats)."""
        return type(self)((*self.tokens, token), self.logprob + logprob)


@dataclass(frozen=True)
class DecodingRequest:
    """A decoding request: continue ``prompt`` until [END], with at most ``length`` tokens.

    ``banned`` ids are never generated; None bans the special ids of ``vocab`` except [END]. If [END] is banned, every
    text has ``length`` tokens. Raises ValueError if the prompt is empty, the length is below 1, or all ids are banned.
    """

    prompt: Int[Tensor, "batch time"]
    vocab: Vocabulary
    length: int
    banned: Collection[int] | None = None

    def __post_init__(self) -> None:
        if self.prompt.numel() == 0:
            raise ValueError("the prompt is empty; a model needs at least one token to continue: "
                             "begin with [START], as in torch.tensor([[vocab.start]])")
        if self.length < 1:
            raise ValueError(f"length={self.length}: the maximum number of tokens must be 1 or more")
        if len(self.allowed) == 0:
            raise ValueError(f"all {self.vocab.size} tokens are banned; allow at least one")

    @cached_property
    def allowed(self) -> Int[Tensor, "token"]:
        """The ids that can be generated, in ascending order."""
        banned = self.vocab.special - {self.vocab.end} if self.banned is None else {*self.banned}
        return torch.tensor([id for id in range(self.vocab.size) if id not in banned], dtype=torch.long)

    def start(self, model: AutoregressiveModel[Any]) -> Any:
        """Create an empty state of the model. Raises ValueError if the model is in training mode."""
        if getattr(model, "training", False):
            raise ValueError("the model is in training mode, where dropout changes its predictions: "
                             "call model.eval() first")
        return model.start()

    def next_logprobs(self, model: AutoregressiveModel[Any], tokens: Int[Tensor, "batch time"], state: Any,
                      ) -> Float[Tensor, "batch vocab"]:
        """Append ``tokens`` and return next-token log-probabilities in nats, with −∞ for banned tokens and without
        renormalization. Raises ValueError if the vocabulary is larger than the model's."""
        logprobs = model.step(tokens, state).log_softmax(-1)
        if logprobs.shape[-1] < self.vocab.size:
            raise ValueError(f"the model has {logprobs.shape[-1]} tokens, but the vocabulary has {self.vocab.size}: "
                             "give the vocabulary of the tokenizer that the model was trained with")
        banned = torch.ones(logprobs.shape[-1], dtype=torch.bool)
        banned[self.allowed] = False
        return logprobs.masked_fill(banned.to(logprobs.device), float("-inf"))
