"""What heads do, on gold labels: how often does a head look where a known relation points? (Clark et al. 2019, §4)"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.interpret import watch


class Link(NamedTuple):
    """In text ``row`` of a batch, slot ``source`` is linked with the slots from ``start`` to before ``end``."""

    row: int
    source: int
    start: int
    end: int


@torch.no_grad()
def head_scores(model: nn.Module, batch: Batch, links: Sequence[Link], special: Sequence[int],
                ) -> Float[Tensor, "layer head"]:
    """The share of links that each head finds: of all slots but itself and the special tokens (their ids), the source
    looks most at one of the linked ones.

    ``model`` is ours, or one of its parts, and reads the batch. ValueError where there is no link.
    """
    _some(links)
    with watch(model, "*attention.weights") as seen:
        model(batch)
    weights = torch.stack(seen.attention())
    rows, sources, starts, ends = torch.tensor(links, device=weights.device).unbind(1)
    looks = weights[:, rows, :, sources].masked_fill(_barred(batch, rows, sources, special)[:, None, None], -1)
    most = looks.argmax(-1)
    found = (most >= starts[:, None, None]) & (most < ends[:, None, None])
    return found.float().mean(0)


def offset_score(links: Sequence[Link], reach: int = 12) -> tuple[int, float]:
    """The best that looking always so many slots on (or back, below 0) could do: the offset, and its share of links."""
    _some(links)
    return _best({offset: [link.start <= link.source + offset < link.end for link in links]
                  for offset in range(-reach, reach + 1) if offset})


def slot_score(links: Sequence[Link]) -> tuple[int, float]:
    """The best that looking always at one slot of the text could do: the slot, and its share of links."""
    _some(links)
    return _best({slot: [link.start <= slot < link.end for link in links]
                  for slot in range(max(link.end for link in links))})


def bystanders(batch: Batch, links: Sequence[Link], special: Sequence[int]) -> list[Link]:
    """For each link, links to the same slots from all other words of its text: if those find them too, a head knows
    where something stands, and not whose it is."""
    tokens, barred = batch.tokens.tolist(), set(special)
    return [link._replace(source=slot) for link in links for slot, token in enumerate(tokens[link.row])
            if token not in barred and slot != link.source and not link.start <= slot < link.end]


def _best(found: dict[int, list[bool]]) -> tuple[int, float]:
    place = max(found, key=lambda place: sum(found[place]))
    return place, sum(found[place]) / len(found[place])


def _barred(batch: Batch, rows: Tensor, sources: Tensor, special: Sequence[int]) -> Bool[Tensor, "link key"]:
    """Which slots do not count: the special tokens, padding among them, and the source itself."""
    tokens = batch.tokens[rows]
    itself = torch.arange(tokens.shape[1], device=tokens.device) == sources[:, None]
    return itself | torch.isin(tokens, torch.tensor(list(special), device=tokens.device))


def _some(links: Sequence[Link]) -> None:
    if not links:
        raise ValueError("there are no links to find; give at least one")
