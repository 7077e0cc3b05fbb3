"""Decoding one token after the other: greedily, or by sampling with a temperature and cuts."""

from collections.abc import Callable, Collection
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from plmlab.decode.autoregressive import AutoregressiveModel
from plmlab.decode.hypothesis import DecodingRequest, Hypothesis
from plmlab.text.vocabulary import Vocabulary


def greedy(model: AutoregressiveModel[Any], prompt: Int[Tensor, "batch time"], vocab: Vocabulary, *, length: int,
           banned: Collection[int] | None = None) -> list[Hypothesis]:
    """For each prompt, the likeliest token, and then the likeliest after that, until [END] or ``length`` tokens.

    That need not be the likeliest text. ``banned`` ids are never written: those of all special tokens, if None.
    ValueError for an empty prompt, a length below 1, a model in training mode, a vocabulary larger than the model's, or
    one that is banned whole.
    """
    return write(model, DecodingRequest(prompt, vocab, length, banned), lambda logprobs: logprobs.argmax(-1))


def sample(model: AutoregressiveModel[Any], prompt: Int[Tensor, "batch time"], vocab: Vocabulary, *, length: int,
           generator: torch.Generator, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None,
           banned: Collection[int] | None = None) -> list[Hypothesis]:
    """For each prompt, a text drawn token by token from `distribution`, until [END] or ``length`` tokens.

    ``generator`` is of the model's device. The other arguments and the errors are those of `distribution` and `greedy`.
    """
    def draw(logprobs: Tensor) -> Tensor:
        chances = distribution(logprobs, temperature, top_k, top_p)
        return torch.multinomial(chances, 1, generator=generator)[:, 0]

    return write(model, DecodingRequest(prompt, vocab, length, banned), draw)


def distribution(logits: Float[Tensor, "*batch vocab"], temperature: float = 1.0, top_k: int | None = None,
                 top_p: float | None = None) -> Float[Tensor, "*batch vocab"]:
    """The distribution that a token is drawn from: softmax(logits / temperature), cut, and scaled up to 1 again.

    ``top_k`` keeps the k likeliest tokens (Fan et al. 2018), and those that tie with the last of them. ``top_p`` then
    keeps the smallest set of likeliest tokens that holds at least this share of what is left (the nucleus; Holtzman et
    al. 2020). Logits of −inf stay without a chance. ValueError for a temperature that is not above 0, a k below 1, or a
    p that is not above 0 and at most 1.
    """
    if not temperature > 0:
        raise ValueError(f"temperature={temperature}: it divides the logits and must be above 0; for the limit at 0, "
                         "the likeliest token each time, use greedy")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k={top_k}: keep 1 token or more (1 is greedy), or all with top_k=None")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p={top_p}: the share to keep is above 0 and at most 1")
    scaled = (logits - logits.amax(-1, keepdim=True)) / temperature
    if top_k is not None and top_k < logits.shape[-1]:
        scaled = scaled.masked_fill(scaled < scaled.topk(top_k).values[..., -1:], float("-inf"))
    chances = scaled.softmax(-1)
    if top_p is None or top_p == 1:
        return chances
    ordered, order = chances.sort(-1, descending=True)
    likelier = ordered.cumsum(-1) - ordered
    nucleus = torch.zeros_like(chances).scatter(-1, order, ordered.where(likelier < top_p, 0.0))
    return nucleus / nucleus.sum(-1, keepdim=True)


@torch.no_grad()
def write(model: AutoregressiveModel[Any], task: DecodingRequest,
          choose: Callable[[Tensor], Tensor]) -> list[Hypothesis]:
    """Write a task's texts token by token: ``choose`` makes of log-probabilities [batch vocab] one id for each row. A
    text that has ended leaves the batch."""
    written = [Hypothesis() for _ in task.prompt]
    open = list(range(len(written)))
    state, read = task.start(model), task.prompt
    for _ in range(task.length):
        logprobs = task.next_logprobs(model, read, state)
        chosen = choose(logprobs)
        gained = logprobs.gather(-1, chosen[:, None])[:, 0].tolist()
        for text, token, logprob in zip(open, chosen.tolist(), gained, strict=True):
            written[text] = written[text].extend(token, logprob)
        going = [row for row, token in enumerate(chosen.tolist()) if token != task.vocab.end]
        if not going:
            break
        if len(going) < len(open):
            rows = torch.tensor(going, device=chosen.device)
            state.select(rows)
            chosen, open = chosen[rows], [open[row] for row in going]
        read = chosen[:, None]
    return written
