"""Diverse beam search (多样束搜索): a beam in groups, each of which is kept from taking what those before it took."""

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
    """For each prompt, up to ``beam`` texts, found by ``groups`` beam searches that keep out of each other's way.

    Each group is a `beam_search` of width ``beam`` / ``groups``. At each step the groups choose in turn, and a next
    step loses ``strength`` nats for each text in which an earlier group has just taken the same token (Vijayakumar et
    al. 2016, eq. 3 and Algorithm 1, with Hamming diversity; they find 0.2 to 0.8 good, §5.1). That counts in this
    choice alone, as in eq. 3, where the authors' program lets it add up in a text's score: ``logprob`` is the model's
    own, and by it, with ``alpha``, finished texts are ranked as in `beam_search`.

    The texts come group by group, each group's best first. So the first are those of a beam search of the groups'
    width; and groups may have found the same. ValueError where `beam_search` raises one, for a beam that is no multiple
    of the groups, for less than one group, and for a strength below 0.
    """
    if groups < 1 or beam % groups:
        raise ValueError(f"beam={beam}, groups={groups}: each group keeps beam / groups texts open, which must be a "
                         "whole number; one group is plain beam search")
    if not 0 <= strength < float("inf"):
        raise ValueError(f"strength={strength}: what it costs to repeat a token must be 0 (nothing) or more")
    width, searches = beam // groups, []
    for _ in prompt:
        theirs: list[Group] = []
        for _ in range(groups):
            theirs.append(Group(width, alpha, length, vocab.end, earlier=tuple(theirs), strength=strength))
        searches += theirs
    for _ in side_by_side(model, DecodingRequest(prompt, vocab, length, banned), searches):
        pass
    return [[text for search in searches[first:first + groups] for text in search.best()]
            for first in range(0, len(searches), groups)]


@dataclass
class Group(Beam):
    """A group of the beam. Those ``earlier`` have made the step already that it is about to make: a token costs
    ``strength`` nats in rank for each text in which they have just taken it, be that text open or finished by it."""

    earlier: Sequence[Beam] = ()
    strength: float = 0.0

    def rank(self, totals: Float[Tensor, "open vocab"]) -> Float[Tensor, "open vocab"]:
        """What next steps are ranked by: log-probabilities in nats, less what their tokens cost."""
        taken = [text.tokens[-1] for search in self.earlier for text in search.taken]
        cost = torch.bincount(torch.tensor(taken, dtype=torch.long), minlength=totals.shape[1])
        return totals - self.strength * cost
