"""`DecodingRequest`, what decoding is asked, and `Hypothesis`, what it gives back: ids with their log-probability."""

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
    """What was written after a prompt, [END] included where it was reached; and the log-probability of that.

    ``logprob`` is Σ log p(token | all before it) in nats, under the model itself: neither temperature nor a
    cut nor what was banned changes it.
    """

    tokens: tuple[int, ...] = ()
    logprob: float = 0.0

    def extend(self, token: int, logprob: float) -> Self:
        """The same text with one more token, whose ``logprob`` in nats is added."""
        return type(self)((*self.tokens, token), self.logprob + logprob)


@dataclass(frozen=True)
class DecodingRequest:
    """What every way of decoding is asked: after ``prompt``, write up to ``length`` tokens, or until [END].

    ``banned`` ids are never written; None bans the special ids of ``vocab``, all but [END]. Where [END] is banned,
    every text has ``length`` tokens. ValueError for an empty prompt, a length below 1, and where every id is banned.
    """

    prompt: Int[Tensor, "batch time"]
    vocab: Vocabulary
    length: int
    banned: Collection[int] | None = None

    def __post_init__(self) -> None:
        if self.prompt.numel() == 0:
            raise ValueError("the prompt is empty, and a model can only say what comes next after something: "
                             "begin with [START], as in torch.tensor([[vocab.start]])")
        if self.length < 1:
            raise ValueError(f"length={self.length}: the most tokens to write must be 1 or more")
        if len(self.allowed) == 0:
            raise ValueError(f"all {self.vocab.size} tokens are banned; leave at least one to be written")

    @cached_property
    def allowed(self) -> Int[Tensor, "token"]:
        """The ids that may be written, ascending."""
        banned = self.vocab.special - {self.vocab.end} if self.banned is None else {*self.banned}
        return torch.tensor([id for id in range(self.vocab.size) if id not in banned], dtype=torch.long)

    def start(self, model: AutoregressiveModel[Any]) -> Any:
        """A fresh state of the model; a ValueError where the model is in training mode, in which dropout is on."""
        if getattr(model, "training", False):
            raise ValueError("the model is in training mode, where dropout changes what it says: "
                             "call model.eval() first")
        return model.start()

    def next_logprobs(self, model: AutoregressiveModel[Any], tokens: Int[Tensor, "batch time"], state: Any,
                      ) -> Float[Tensor, "batch vocab"]:
        """Read ``tokens`` and give each next token's log-probability in nats, −∞ for those that may not be written;
        their share goes to no others. ValueError where the vocabulary is larger than the model's."""
        logprobs = model.step(tokens, state).log_softmax(-1)
        if logprobs.shape[-1] < self.vocab.size:
            raise ValueError(f"the model names {logprobs.shape[-1]} tokens and the vocabulary has {self.vocab.size}: "
                             "give the vocabulary of the tokenizer that the model was trained with")
        banned = torch.ones(logprobs.shape[-1], dtype=torch.bool)
        banned[self.allowed] = False
        return logprobs.masked_fill(banned.to(logprobs.device), float("-inf"))
