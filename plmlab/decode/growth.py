"""Beam search seen at work (束搜索的过程): every step that it takes, with all next steps that it weighed."""

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

    ``weighed`` are the likeliest next steps, the best first: (row of the open text that it goes on from, the text with
    one more token). ``open`` are the texts that are open afterwards, none when the search is over, and ``finished`` the
    best that are finished by then, the best first.
    """

    weighed: list[tuple[int, Hypothesis]]
    open: list[Hypothesis]
    finished: list[Hypothesis]


@torch.no_grad()
def growth(model: AutoregressiveModel[Any], prompt: Int[Tensor, "batch time"], vocab: Vocabulary, *, length: int,
           beam: int = 4, alpha: float = 0.0, banned: Collection[int] | None = None) -> Iterator[Step]:
    """The steps of `beam_search` from one prompt; the last one's ``finished`` is what that gives. Arguments and errors
    are those of `beam_search`, and a ValueError for several prompts."""
    task = DecodingRequest(prompt, vocab, length, banned)
    if len(prompt) != 1:
        raise ValueError(f"{len(prompt)} prompts were given, and a tree grows from one: give prompt[:1]")
    search = Beam(beam, alpha, length, vocab.end)
    for _ in side_by_side(model, task, [search]):
        yield Step(search.weighed, search.open, search.finished)
