"""Block masks: one square mask over two concatenated parts, with blocks for self-attention and cross-attention."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

import torch
from jaxtyping import Bool
from torch import Tensor

from plmlab.visibility import Rule, Visibility

Block: TypeAlias = tuple[int, int]
"""(part of the queries, part of the keys)."""


def blocks(sizes: Sequence[int], masks: Mapping[Block, tuple[str, Visibility]], never: Mapping[Block, str],
           ) -> Visibility:
    """One square mask over concatenated parts of the given sizes. ``masks`` maps each block that has a mask to the mask
    and its name, ``never`` each block that is always blocked to the reason."""
    edges = [sum(sizes[:place]) for place in range(len(sizes) + 1)]
    part = [torch.arange(edges[-1]).ge(start) & torch.arange(edges[-1]).lt(end) for start, end in pairwise(edges)]
    rules = [rule for (query, key), (name, visible) in masks.items()
             for rule in _moved(name, visible, edges[query], edges[key], edges[-1])]
    return Visibility((*rules, *(closed("never", part[query], part[key], why)
                                 for (query, key), why in never.items())))


def closed(name: str, queries: Bool[Tensor, "query"], keys: Bool[Tensor, "key"], why: str) -> Rule:
    """A rule that blocks all pairs of these queries and keys, and gives the reason."""
    rule = Rule.between(name, "", queries, keys)
    return replace(rule, key_rank=rule.key_rank + 1, unless=why)


def _moved(name: str, visible: Visibility, query: int, key: int, total: int) -> Iterator[Rule]:
    """The rules of one block, moved to its offset in a square of ``total`` positions; the last rule gives the reason
    for pairs that no other rule covers."""
    queries, keys = visible.shape

    def placed(part: Tensor, start: int) -> Tensor:
        whole = torch.zeros(total, dtype=part.dtype)
        whole[start:start + len(part)] = part
        return whole

    rest = closed("closed", torch.ones(queries, dtype=torch.bool), torch.ones(keys, dtype=torch.bool),
                  visible.otherwise)
    for rule in (*visible.rules, rest):
        yield replace(rule, name=f"{name}: {rule.name}", queries=placed(rule.queries, query),
                      keys=placed(rule.keys, key), query_rank=placed(rule.query_rank, query),
                      key_rank=placed(rule.key_rank, key), unless=rule.unless or visible.otherwise)
