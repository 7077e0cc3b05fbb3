"""Exact search (精确搜索): the most likely text, by branch and bound over prefixes."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from plmlab.decode.autoregressive import AutoregressiveModel
from plmlab.decode.beam import beam_search
from plmlab.decode.hypothesis import DecodingRequest, Hypothesis
from plmlab.text.vocabulary import Vocabulary

BEAM = 4


class SearchTooWide(ValueError):
    """Raised if more prefixes remain than ``limit`` allows."""


@dataclass(frozen=True)
class ExactResult:
    """Result of `exact_search`: the ``best`` (most likely) texts, best first, and the number of prefixes evaluated.

    ``visited[t]`` is the number of prefixes of t tokens on which the model was evaluated; ``visited[0]``, which is 1,
    is the prompt.
    """

    best: list[Hypothesis]
    visited: list[int]


@torch.no_grad()
def exact_search(model: AutoregressiveModel[Any], prompt: Int[Tensor, "batch time"], vocab: Vocabulary, *,
                 length: int, count: int = 1, banned: Collection[int] | None = None,
                 limit: int = 100_000) -> ExactResult:
    """Find the ``count`` most likely texts after a single prompt that end with [END] or have ``length`` tokens.

    The probability of a prefix can only decrease as it grows. Prefixes that are not more likely than the ``count``-th
    best text so far can therefore be pruned without losing a result (Stahlberg and Byrne 2019, Algorithm 2, who search
    depth-first; here all prefixes of one length are evaluated in one batch). This is a beam search limited by a bound
    instead of a width: prefixes of one length are mutually exclusive, so that fewer than 1/p of them can be more likely
    than p. A small `beam_search` gives the first bound; its texts remain candidates, so that rounding cannot lose them.
    Texts whose log-probabilities differ by less than the rounding error may be in either order. Raises ValueError in
    the cases listed at `greedy`, for several prompts, and for a count below 1; `SearchTooWide` if more than ``limit``
    prefixes, all of them in memory, remain at one length.
    """
    task = DecodingRequest(prompt, vocab, length, banned)
    if len(prompt) != 1:
        raise ValueError(f"got {len(prompt)} prompts, but exact search takes one; call it once per prompt")
    if count < 1:
        raise ValueError(f"count={count}: give 1 or more")
    best = beam_search(model, prompt, vocab, length=length, beam=max(count, BEAM), banned=banned)[0][:count]
    state, inputs = task.start(model), prompt
    prefixes, before = torch.empty(1, 0, dtype=torch.long), torch.zeros(1, dtype=torch.float64)
    visited = []
    while True:
        visited.append(len(prefixes))
        totals = task.next_logprobs(model, inputs, state).cpu().double() + before[:, None]
        finishes = torch.full(totals.shape[1:], len(visited) == length)
        if vocab.end is not None:
            finishes[vocab.end] = True
        best = ranked(best, prefixes, finishes.nonzero()[:, 0], totals[:, finishes], count)
        bound = best[-1].logprob if len(best) == count else float("-inf")
        rows, tokens = ((totals > bound) & ~finishes).nonzero(as_tuple=True)
        if len(rows) > limit:
            raise SearchTooWide(f"{len(rows):,} prefixes of {len(visited)} tokens remain, more than limit={limit:,}"
                                ": give a smaller length or count, or a higher limit")
        if len(rows) == 0:
            return ExactResult(best, visited)
        prefixes, before = torch.cat([prefixes[rows], tokens[:, None]], dim=1), totals[rows, tokens]
        state.select(rows.to(prompt.device))
        inputs = tokens[:, None].to(prompt.device)


def ranked(best: list[Hypothesis], prefixes: Int[Tensor, "open time"], last: Int[Tensor, "token"],
           totals: Float[Tensor, "open token"], count: int) -> list[Hypothesis]:
    """The ``count`` most likely among the texts in ``best`` and the new ones, a prefix plus a ``last`` token with
    log-probability ``totals`` (nats). A text already in ``best`` keeps its log-probability."""
    top = totals.flatten().topk(min(count, totals.numel()))
    texts = {}
    for index, total in zip(top.indices.tolist(), top.values.tolist(), strict=True):
        if total > float("-inf"):
            row, column = divmod(index, len(last))
            tokens = (*prefixes[row].tolist(), int(last[column]))
            texts[tokens] = Hypothesis(tokens, total)
    texts |= {text.tokens: text for text in best}
    return sorted(texts.values(), key=lambda text: text.logprob, reverse=True)[:count]
