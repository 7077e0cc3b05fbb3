"""What can be changed in the scores of a model that tells distances in four terms: a term away, or a known mistake."""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from plmlab.layers.hooks import Change
from plmlab.layers.relative import TERMS

POSITIONS = ("content_position", "global_position")
"""Those of them that hang on distances."""


def unshifted(segment: int | None = None, memory: int = 0) -> Change:
    """An intervention that makes a term as if no memory stood before the segment (the mistake that x-transformers' pull
    request 103 mends).

    Queries and keys are both counted from 0, though the first query stands behind the whole memory: query i and key j
    are taken to be i − j apart, and what seems to come later counts as distance 0. The queries are one segment, the
    memory before it among the keys; where ``segment`` is given they are a whole text, read in one pass.
    """
    def change(term: Float[Tensor, "batch head query key"]) -> Float[Tensor, "batch head query key"]:
        query, key = term.shape[-2:]
        place = torch.arange(key - query, key, device=term.device)[:, None]
        begin = place - place % segment if segment else place[:1]
        oldest = (begin - memory).clamp(min=0) if segment else 0
        j = torch.arange(key, device=term.device) - oldest
        place_of_that_distance = place - (place - begin - j).clamp(min=0)
        return term.gather(-1, place_of_that_distance.clamp(min=0).expand_as(term))
    return change


MISTAKE = "unshifted"
WITHOUT = (*TERMS, MISTAKE)
"""What can be taken from the scores of every layer: a term, or from distances the memory's length."""
WAYS = ("", *WITHOUT)
"""As the model is, and under each of these."""


def by_row(ways: Sequence[str], mistaken: Change) -> dict[str, Change]:
    """An intervention in a batch whose rows are read each in a way of its own; ``mistaken`` is how `unshifted` acts
    there."""
    changes: dict[str, dict[int, Change]] = {}
    for row, way in enumerate(ways):
        terms = POSITIONS if way == MISTAKE else (way,) if way else ()
        for term in terms:
            changes.setdefault(f"layers.*.attention.{term}", {})[row] = mistaken if way == MISTAKE else torch.zeros_like
    return {point: _in_rows(rows) for point, rows in changes.items()}


def _in_rows(rows: Mapping[int, Change]) -> Change:
    def change(term: Float[Tensor, "batch head query key"]) -> Float[Tensor, "batch head query key"]:
        changed = term.clone()
        for row, one in rows.items():
            changed[row:row + 1] = one(term[row:row + 1])
        return changed
    return change


def blinded(cut: Bool[Tensor, "*batch key"], queries: int) -> Bool[Tensor, "*batch query key"]:
    """The pairs that a cut closes: no query looks at the keys that are cut, itself excepted. The queries are the last
    of the keys."""
    key = cut.shape[-1]
    return cut[..., None, :] & ~torch.eye(key, dtype=torch.bool, device=cut.device)[key - queries:]


def blind(cut: Bool[Tensor, "batch key"]) -> Change:
    """An intervention on scores: in each row the keys that are cut are `blinded`."""
    def change(scores: Float[Tensor, "batch head query key"]) -> Float[Tensor, "batch head query key"]:
        return scores.masked_fill(blinded(cut, scores.shape[2])[:, None], float("-inf"))
    return change
