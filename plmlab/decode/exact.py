"""Exact search (精确搜索): the likeliest text of all, found by dropping every prefix that can no longer win."""

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
    """More prefixes could still win than were allowed."""


@dataclass(frozen=True)
class Exact:
    """What `exact_search` found: the likeliest texts, the best first, and how many prefixes it read for that.

    ``visited[t]`` is how many prefixes of t tokens the model was asked to go on with; the first, 1, is the prompt.
    """

    best: list[Hypothesis]
    visited: list[int]


@torch.no_grad()
def exact_search(model: AutoregressiveModel[Any], prompt: Int[Tensor, "batch time"], vocab: Vocabulary, *,
                 length: int, count: int = 1, banned: Collection[int] | None = None, limit: int = 100_000) -> Exact:
    """The ``count`` likeliest of all texts after the one prompt that end with [END] or have ``length`` tokens.

    A prefix only loses probability as it grows. So those that are no likelier than the ``count``-th best text found so
    far are dropped, and nothing is lost (Stahlberg and Byrne 2019, Algorithm 2, who go into the depth; here all
    prefixes of a length are read at once). It is a beam whose width is no number but a bound: prefixes of one length
    exclude each other, so that fewer than 1/p of them can be likelier than p. A small `beam_search` gives the first
    bound, and its texts stay in the race, lest rounding lose them; log-probabilities closer than rounding may stand in
    either order. ValueError where `greedy` raises one, for several prompts and for a count below 1; `SearchTooWide`
    where more than ``limit`` prefixes, all of them in memory, would have to be read at one depth.
    """
    task = DecodingRequest(prompt, vocab, length, banned)
    if len(prompt) != 1:
        raise ValueError(f"{len(prompt)} prompts were given, and this search is from one: give them one by one")
    if count < 1:
        raise ValueError(f"count={count}: ask for 1 text or more")
    best = beam_search(model, prompt, vocab, length=length, beam=max(count, BEAM), banned=banned)[0][:count]
    state, read = task.start(model), prompt
    prefixes, before = torch.empty(1, 0, dtype=torch.long), torch.zeros(1, dtype=torch.float64)
    visited = []
    while True:
        visited.append(len(prefixes))
        totals = task.next_logprobs(model, read, state).cpu().double() + before[:, None]
        finishes = torch.full(totals.shape[1:], len(visited) == length)
        if vocab.end is not None:
            finishes[vocab.end] = True
        best = ranked(best, prefixes, finishes.nonzero()[:, 0], totals[:, finishes], count)
        bound = best[-1].logprob if len(best) == count else float("-inf")
        rows, tokens = ((totals > bound) & ~finishes).nonzero(as_tuple=True)
        if len(rows) > limit:
            raise SearchTooWide(f"{len(rows):,} prefixes of {len(visited)} tokens could still win, and limit={limit:,}"
                                ": ask for a shorter length or for fewer texts, or give a higher limit")
        if len(rows) == 0:
            return Exact(best, visited)
        prefixes, before = torch.cat([prefixes[rows], tokens[:, None]], dim=1), totals[rows, tokens]
        state.select(rows.to(prompt.device))
        read = tokens[:, None].to(prompt.device)


def ranked(best: list[Hypothesis], prefixes: Int[Tensor, "open time"], last: Int[Tensor, "token"],
           totals: Float[Tensor, "open token"], count: int) -> list[Hypothesis]:
    """The ``count`` likeliest of the ``best`` so far and of the texts made of a prefix and a ``last`` token, whose
    log-probabilities in nats are ``totals``. A text that was found before keeps its figure."""
    found = totals.flatten().topk(min(count, totals.numel()))
    texts = {}
    for place, total in zip(found.indices.tolist(), found.values.tolist(), strict=True):
        if total > float("-inf"):
            row, column = divmod(place, len(last))
            tokens = (*prefixes[row].tolist(), int(last[column]))
            texts[tokens] = Hypothesis(tokens, total)
    texts |= {text.tokens: text for text in best}
    return sorted(texts.values(), key=lambda text: text.logprob, reverse=True)[:count]
