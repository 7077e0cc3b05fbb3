"""Diverse beam search (多样束搜索): beam search in groups, each penalized for repeating tokens chosen by earlier
groups."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from plmlab.decode.autoregressive import AutoregressiveModel
from plmlab.decode.beam import Beam, side_by_side
from plmlab.decode.hypothesis import DecodingRequest, Hypothesis
from plmlab.text.vocabulary import Vocabulary


@torch.no_grad()
def diverse_beam_search(model: AutoregressiveModel[Any], prompt: Int[Tensor, "batch time"], vocab: Vocabulary, *,
                        length: int, beam: int, groups: int, strength: float, alpha: float = 0.0,
                        banned: Collection[int] | None = None) -> list[list[Hypothesis]]:
    """Diverse beam search: up to ``beam`` hypotheses per prompt, from ``groups`` mutually penalized beam searches.

    Each group is a `beam_search` of width ``beam`` / ``groups``. At each step the groups choose one after the other. An
    extension is penalized by ``strength`` nats for each hypothesis in which an earlier group has just chosen the same
    token (Vijayakumar et al. 2016, eq. 3 and Algorithm 1, with Hamming diversity; they recommend 0.2 to 0.8, §5.1). As
    in eq. 3, the penalty affects only this choice; in the authors' program it accumulates in the score. ``logprob`` is
    the model's own log-probability, and finished hypotheses are ranked by it and ``alpha`` as in `beam_search`. The
    hypotheses are ordered by group, best first in each group.

    The first group gives the same result as a beam search of that width; different groups may find the same text.
    Raises ValueError in the cases listed at `beam_search`, if the beam is not a multiple of the groups, if there is
    less than one group, or if the strength is below 0.
    """
    if groups < 1 or beam % groups:
        raise ValueError(f"beam={beam}, groups={groups}: the beam must be a multiple of the number of groups; "
                         "one group is plain beam search")
    if not 0 <= strength < float("inf"):
        raise ValueError(f"strength={strength}: the penalty for repeating a token must be 0 (none) or more, and finite")
    width, searches = beam // groups, []
    for _ in prompt:
        group: list[Group] = []
        for _ in range(groups):
            group.append(Group(width, alpha, length, vocab.end, earlier=tuple(group), strength=strength))
        searches += group
    for _ in side_by_side(model, DecodingRequest(prompt, vocab, length, banned), searches):
        pass
    return [[text for search in searches[first:first + groups] for text in search.best()]
            for first in range(0, len(searches), groups)]


@dataclass
class Group(Beam):
    """One group of a diverse beam search. The ``earlier`` groups have already made the current step; a token is
    penalized by ``strength`` nats for each of their hypotheses, open or just finished, that ends in it."""

    earlier: Sequence[Beam] = ()
    strength: float = 0.0

    def rank(self, totals: Float[Tensor, "open vocab"]) -> Float[Tensor, "open vocab"]:
        """Ranking score of the extensions: log-probabilities in nats minus the diversity penalty."""
        taken = [text.tokens[-1] for search in self.earlier for text in search.taken]
        counts = torch.bincount(torch.tensor(taken, dtype=torch.long), minlength=totals.shape[1])
        return totals - self.strength * counts
