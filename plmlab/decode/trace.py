"""Trace of a beam search (束搜索的过程): every step, with all the candidates considered."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from plmlab.decode.autoregressive import AutoregressiveModel
from plmlab.decode.beam import Beam, side_by_side
from plmlab.decode.hypothesis import DecodingRequest, Hypothesis
from plmlab.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class Step:
    """One step of a beam search.

    ``weighed`` are the candidates, best first: (row of the extended hypothesis, the hypothesis with one more token).
    ``open`` are the open hypotheses after the step (none when the search has finished), and ``finished`` the best
    finished ones so far, best first.
    """

    weighed: list[tuple[int, Hypothesis]]
    open: list[Hypothesis]
    finished: list[Hypothesis]


@torch.no_grad()
def beam_search_trace(model: AutoregressiveModel[Any], prompt: Int[Tensor, "batch time"], vocab: Vocabulary, *,
                      length: int, beam: int = 4, alpha: float = 0.0, banned: Collection[int] | None = None,
                      ) -> Iterator[Step]:
    """Yield the steps of `beam_search` from one prompt; ``finished`` of the last step is its result. The arguments and
    errors are those of `beam_search`; also raises ValueError for more than one prompt."""
    task = DecodingRequest(prompt, vocab, length, banned)
    if len(prompt) != 1:
        raise ValueError(f"got {len(prompt)} prompts, but a search tree has one: give prompt[:1]")
    search = Beam(beam, alpha, length, vocab.end)
    for _ in side_by_side(model, task, [search]):
        yield Step(search.weighed, search.open, search.finished)
