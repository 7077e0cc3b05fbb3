"""Interventions on Transformer-XL's attention scores: zero one of the four terms, mask keys, or reproduce a known
bug."""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from plmlab.layers.hooks import Change
from plmlab.layers.relative import TERMS

POSITIONS = ("content_position", "global_position")
"""The two terms that depend on the distance between query and key."""


def unshifted(segment: int | None = None, memory: int = 0) -> Change:
    """An intervention that computes a position term as if there were no memory before the segment (a bug in
    x-transformers, fixed by its pull request 103).

    With the bug, queries and keys are both indexed from 0, although the first query follows the whole memory: the
    distance between query i and key j becomes i − j, and negative distances are clamped to 0. The queries are one
    segment, and the keys also include the memory before the segment; if ``segment`` is given, the queries are a whole
    text processed in one pass.
    """
    def change(term: Float[Tensor, "batch head query key"]) -> Float[Tensor, "batch head query key"]:
        query, key = term.shape[-2:]
        i = torch.arange(key - query, key, device=term.device)[:, None]
        segment_start = i - i % segment if segment else i[:1]
        oldest = (segment_start - memory).clamp(min=0) if segment else 0
        j = torch.arange(key, device=term.device) - oldest
        key_at_wrong_distance = i - (i - segment_start - j).clamp(min=0)
        return term.gather(-1, key_at_wrong_distance.clamp(min=0).expand_as(term))
    return change


MISTAKE = "unshifted"
WITHOUT = (*TERMS, MISTAKE)
"""What can be removed from the scores of every layer: one term, or the memory's length from the distances."""
WAYS = ("", *WITHOUT)
"""The unchanged model (""), and each of the interventions in `WITHOUT`."""


def by_row(interventions: Sequence[str], mistaken: Change) -> dict[str, Change]:
    """Interventions by hook point for a batch in which each row has its own intervention, an entry of `WAYS`;
    ``mistaken`` is the `unshifted` intervention for this batch."""
    changes: dict[str, dict[int, Change]] = {}
    for row, way in enumerate(interventions):
        terms = POSITIONS if way == MISTAKE else (way,) if way else ()
        for term in terms:
            changes.setdefault(f"layers.*.attention.{term}", {})[row] = mistaken if way == MISTAKE else torch.zeros_like
    return {point: _in_rows(rows) for point, rows in changes.items()}


def _in_rows(rows: Mapping[int, Change]) -> Change:
    def change(term: Float[Tensor, "batch head query key"]) -> Float[Tensor, "batch head query key"]:
        changed = term.clone()
        for row, change_row in rows.items():
            changed[row:row + 1] = change_row(term[row:row + 1])
        return changed
    return change


def blinded(cut: Bool[Tensor, "*batch key"], queries: int) -> Bool[Tensor, "*batch query key"]:
    """Mask of the pairs that a cut blocks: no query attends to a cut key other than its own position. The queries are
    the last keys."""
    key = cut.shape[-1]
    return cut[..., None, :] & ~torch.eye(key, dtype=torch.bool, device=cut.device)[key - queries:]


def blind(cut: Bool[Tensor, "batch key"]) -> Change:
    """An intervention on the scores that masks the cut keys of each row (see `blinded`)."""
    def change(scores: Float[Tensor, "batch head query key"]) -> Float[Tensor, "batch head query key"]:
        return scores.masked_fill(blinded(cut, scores.shape[2])[:, None], float("-inf"))
    return change
