"""Token-by-token decoding: greedy, or sampling with temperature, top-k and top-p."""

from collections.abc import Callable, Collection
from statistics import fmean
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from plmlab.decode.autoregressive import AutoregressiveModel, ConditionedDecoder
from plmlab.decode.hypothesis import DecodingRequest, Hypothesis
from plmlab.example import IGNORE, PairBatch
from plmlab.text.vocabulary import Vocabulary


def greedy(model: AutoregressiveModel[Any], prompt: Int[Tensor, "batch time"], vocab: Vocabulary, *, length: int,
           banned: Collection[int] | None = None) -> list[Hypothesis]:
    """Greedy decoding: the most likely token at each step, until [END] or ``length`` tokens; one text per prompt.

    The result is not necessarily the most likely text. ``banned`` ids are never generated; None bans all special
    tokens. Raises ValueError for an empty prompt, a length below 1, a model in training mode, a vocabulary larger than
    the model's, or if all ids are banned.
    """
    return write(model, DecodingRequest(prompt, vocab, length, banned), lambda logprobs: logprobs.argmax(-1))


def greedy_texts(model: AutoregressiveModel[Any], count: int, vocab: Vocabulary, *, length: int,
                 ) -> list[tuple[int, ...]]:
    """Greedy decoding of ``count`` texts from [START], such as one for each source of an encoder–decoder; without
    [END]. Raises ValueError as `greedy` does."""
    start = torch.full((count, 1), vocab.need("start"))
    return [tuple(token for token in text.tokens if token != vocab.end)
            for text in greedy(model, start, vocab, length=length)]


def exact_match(model: Any, batch: PairBatch, vocab: Vocabulary, *, length: int) -> float:
    """Fraction of the sources of a batch for which an encoder–decoder's `greedy_texts` equal the targets."""
    texts = greedy_texts(ConditionedDecoder(model, batch.source), batch.size[0], vocab, length=length)
    targets = [tuple(token for token in row if token not in (IGNORE, vocab.end)) for row in batch.targets.tolist()]
    return fmean(text == target for text, target in zip(texts, targets, strict=True))


def sample(model: AutoregressiveModel[Any], prompt: Int[Tensor, "batch time"], vocab: Vocabulary, *, length: int,
           generator: torch.Generator, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None,
           banned: Collection[int] | None = None) -> list[Hypothesis]:
    """Decoding by sampling: draw each token from `distribution`, until [END] or ``length`` tokens; one text per prompt.

    ``generator`` must be on the model's device. The other arguments and errors are those of `distribution` and
    `greedy`.
    """
    def draw(logprobs: Tensor) -> Tensor:
        probs = distribution(logprobs, temperature, top_k, top_p)
        return torch.multinomial(probs, 1, generator=generator)[:, 0]

    return write(model, DecodingRequest(prompt, vocab, length, banned), draw)


def distribution(logits: Float[Tensor, "*batch vocab"], temperature: float = 1.0, top_k: int | None = None,
                 top_p: float | None = None) -> Float[Tensor, "*batch vocab"]:
    """Sampling distribution: softmax(logits / temperature), truncated and renormalized.

    ``top_k`` keeps the k most likely tokens (Fan et al. 2018), and any that tie with the last of them. ``top_p`` then
    keeps the smallest set of most likely tokens whose share of the remaining probability is at least ``top_p`` (nucleus
    sampling; Holtzman et al. 2020). Tokens with logit −inf keep probability 0. Raises ValueError unless the temperature
    is above 0, ``top_k`` is at least 1 and 0 < ``top_p`` ≤ 1.
    """
    if not temperature > 0:
        raise ValueError(f"temperature={temperature}: it divides the logits and must be above 0; use greedy for the "
                         "limit at 0")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k={top_k}: keep at least 1 token (1 is greedy), or all with top_k=None")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p={top_p}: the probability to keep must be above 0 and at most 1")
    scaled = (logits - logits.amax(-1, keepdim=True)) / temperature
    if top_k is not None and top_k < logits.shape[-1]:
        scaled = scaled.masked_fill(scaled < scaled.topk(top_k).values[..., -1:], float("-inf"))
    probs = scaled.softmax(-1)
    if top_p is None or top_p == 1:
        return probs
    ordered, order = probs.sort(-1, descending=True)
    mass_before = ordered.cumsum(-1) - ordered
    nucleus = torch.zeros_like(probs).scatter(-1, order, ordered.where(mass_before < top_p, 0.0))
    return nucleus / nucleus.sum(-1, keepdim=True)


@torch.no_grad()
def write(model: AutoregressiveModel[Any], task: DecodingRequest,
          choose: Callable[[Tensor], Tensor]) -> list[Hypothesis]:
    """Generate the texts of a request token by token. ``choose`` maps log-probabilities [batch vocab] to one id per
    row. Finished texts are removed from the batch."""
    generated = [Hypothesis() for _ in task.prompt]
    open = list(range(len(generated)))
    state, inputs = task.start(model), task.prompt
    for _ in range(task.length):
        logprobs = task.next_logprobs(model, inputs, state)
        chosen = choose(logprobs)
        chosen_logprobs = logprobs.gather(-1, chosen[:, None])[:, 0].tolist()
        for text, token, logprob in zip(open, chosen.tolist(), chosen_logprobs, strict=True):
            generated[text] = generated[text].extend(token, logprob)
        unfinished = [row for row, token in enumerate(chosen.tolist()) if token != task.vocab.end]
        if not unfinished:
            break
        if len(unfinished) < len(open):
            rows = torch.tensor(unfinished, device=chosen.device)
            state.select(rows)
            chosen, open = chosen[rows], [open[row] for row in unfinished]
        inputs = chosen[:, None]
    return generated
