"""What heads do, on gold labels: how often does a head look where a known relation points? (Clark et al. 2019, §4)"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.interpret import watch


class Link(NamedTuple):
    """In text ``row`` of a batch, position ``source`` is linked with the positions from ``start`` to before ``end``."""

    row: int
    source: int
    start: int
    end: int


def head_scores(model: nn.Module, batch: Batch, links: Sequence[Link], special: Sequence[int],
                ) -> Float[Tensor, "layer head"]:
    """The share of links that each head finds: of all positions but itself and the special tokens (their ids), the
    source looks most at one of the linked ones.

    ``model`` is ours, or one of its parts, and reads the batch. ValueError where there is no link.
    """
    _some(links)
    return share_found(most_attended(model, batch, special), links)


@torch.no_grad()
def most_attended(model: nn.Module, batch: Batch, special: Sequence[int]) -> Int[Tensor, "layer text head query"]:
    """The position that each position looks most at, for each head: of all but itself and the special tokens (their
    ids, padding's among them)."""
    with watch(model, "*attention.weights") as seen:
        model(batch)
    itself = torch.eye(batch.size[1], dtype=torch.bool, device=batch.tokens.device)
    barred = itself | torch.isin(batch.tokens, torch.tensor(list(special), device=batch.tokens.device))[:, None]
    return torch.stack([weights.masked_fill(barred[:, None], -1).argmax(-1) for weights in seen.attention()])


def share_found(most: Int[Tensor, "layer text head query"], links: Sequence[Link]) -> Float[Tensor, "layer head"]:
    """The share of links whose source looks most at one of the linked positions; ``most`` is that of
    `most_attended`."""
    _some(links)
    rows, sources, starts, ends = torch.tensor(links, device=most.device).unbind(1)
    looks = most[:, rows, :, sources]
    return ((looks >= starts[:, None, None]) & (looks < ends[:, None, None])).float().mean(0)


def offset_score(links: Sequence[Link], reach: int = 12) -> tuple[int, float]:
    """The best that looking always so many positions on (or back, below 0) could do: the offset, and its share of
    links."""
    _some(links)
    return _best({offset: [link.start <= link.source + offset < link.end for link in links]
                  for offset in range(-reach, reach + 1) if offset})


def position_score(links: Sequence[Link]) -> tuple[int, float]:
    """The best that looking always at one position of the text could do: the position, and its share of links."""
    _some(links)
    return _best({position: [link.start <= position < link.end for link in links]
                  for position in range(max(link.end for link in links))})


def bystanders(batch: Batch, links: Sequence[Link], special: Sequence[int]) -> list[Link]:
    """For each link, links to the same positions from all other words of its text: if those find them too, a head knows
    where something stands, and not whose it is."""
    tokens, barred = batch.tokens.tolist(), set(special)
    return [Link(link.row, position, link.start, link.end) for link in links for position,
            token in enumerate(tokens[link.row])
            if token not in barred and position != link.source and not link.start <= position < link.end]


def _best(found: dict[int, list[bool]]) -> tuple[int, float]:
    place = max(found, key=lambda place: sum(found[place]))
    return place, sum(found[place]) / len(found[place])


def _some(links: Sequence[Link]) -> None:
    if not links:
        raise ValueError("there are no links to find; give at least one")
