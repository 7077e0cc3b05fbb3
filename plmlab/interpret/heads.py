"""Comparison of attention heads with gold relations: how often does a head attend to the related word? (Clark et al.
2019, §4)"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.interpret import watch


class Link(NamedTuple):
    """A gold link in text ``row`` of a batch, from position ``source`` to the span ``start`` to ``end`` (exclusive)."""

    row: int
    source: int
    start: int
    end: int


def head_scores(model: nn.Module, batch: Batch, links: Sequence[Link], special: Sequence[int],
                ) -> Float[Tensor, "layer head"]:
    """Accuracy of each head: the proportion of links whose source attends most to a position in the linked span.

    The source itself and the ``special`` token ids are excluded. ``model`` is one of our models, or a part of one, and
    is called on the batch. Raises ValueError if there are no links.
    """
    _some(links)
    return head_accuracy(argmax_attention(model, batch, special), links)


@torch.no_grad()
def argmax_attention(model: nn.Module, batch: Batch, special: Sequence[int]) -> Int[Tensor, "layer text head query"]:
    """The position with the largest attention weight in each head and for each query, excluding the query itself and
    the ``special`` token ids (which must include padding)."""
    with watch(model, "*attention.weights") as seen:
        model(batch)
    itself = torch.eye(batch.size[1], dtype=torch.bool, device=batch.tokens.device)
    excluded = itself | torch.isin(batch.tokens, torch.tensor(list(special), device=batch.tokens.device))[:, None]
    return torch.stack([weights.masked_fill(excluded[:, None], -1).argmax(-1) for weights in seen.attention()])


def head_accuracy(most: Int[Tensor, "layer text head query"], links: Sequence[Link]) -> Float[Tensor, "layer head"]:
    """Proportion of links whose source attends most to the linked span; ``most`` is the result of
    `argmax_attention`."""
    _some(links)
    rows, sources, starts, ends = torch.tensor(links, device=most.device).unbind(1)
    keys = most[:, rows, :, sources]
    return ((keys >= starts[:, None, None]) & (keys < ends[:, None, None])).float().mean(0)


def fixed_offset_baseline(links: Sequence[Link], reach: int = 12) -> tuple[int, float]:
    """Fixed-offset baseline: the relative offset with the highest accuracy (negative: to the left), and that
    accuracy."""
    _some(links)
    return _best({offset: [link.start <= link.source + offset < link.end for link in links]
                  for offset in range(-reach, reach + 1) if offset})


def fixed_position_baseline(links: Sequence[Link]) -> tuple[int, float]:
    """Fixed-position baseline: the absolute position with the highest accuracy, and that accuracy."""
    _some(links)
    return _best({position: [link.start <= position < link.end for link in links]
                  for position in range(max(link.end for link in links))})


def control_links(batch: Batch, links: Sequence[Link], special: Sequence[int]) -> list[Link]:
    """Control links: for each link, links to its span from all other words of the text. A head that is also accurate on
    these has located the span but not the relation."""
    tokens, excluded = batch.tokens.tolist(), set(special)
    return [Link(link.row, i, link.start, link.end) for link in links for i, token in enumerate(tokens[link.row])
            if token not in excluded and i != link.source and not link.start <= i < link.end]


def _best(correct: dict[int, list[bool]]) -> tuple[int, float]:
    best = max(correct, key=lambda key: sum(correct[key]))
    return best, sum(correct[best]) / len(correct[best])


def _some(links: Sequence[Link]) -> None:
    if not links:
        raise ValueError("the list of links is empty; give at least one")
