"""An encoder-decoder's example as one square: what the encoder reads, what the decoder reads, and who sees whom."""

from dataclasses import replace

import torch
from jaxtyping import Bool
from torch import Tensor

from plmlab.example import Example, PairExample
from plmlab.visibility import Rule, Visibility

SIDES = ("source", "target")
NEVER = "the source is read to its end before the target is written: no slot of the encoder sees the decoder."


def side_by_side(pair: PairExample) -> Example:
    """Both halves in a row, as one Example that is only drawn."""
    source, target = pair.source, pair.target
    return Example(
        tokens=torch.cat([source.tokens, target.tokens]),
        positions=torch.cat([source.positions, target.positions], dim=1),
        segments=torch.cat([source.segments, target.segments]),
        visible=blocks(source.visible, pair.cross, target.visible),
        targets=torch.cat([source.targets, target.targets]),
    )


def blocks(encoder: Visibility, across: Visibility, decoder: Visibility) -> Visibility:
    """Four blocks of queries × keys as one square: source × source as the encoder has it, target × source across,
    target × target as the decoder has it, and source × target never."""
    count, total = across.shape[1], sum(across.shape)
    first = torch.arange(total) < count
    never = Rule("never", "", first, ~first, torch.zeros(total, dtype=torch.long), torch.ones(total, dtype=torch.long),
                 unless=NEVER)
    placed = [("encoder", encoder, 0, 0), ("across", across, count, 0), ("decoder", decoder, count, count)]
    rules = [rule for name, visible, query, key in placed for rule in _moved(name, visible, query, key, total)]
    return Visibility((*rules, never))


def _moved(name: str, visible: Visibility, query: int, key: int, total: int) -> list[Rule]:
    """The rules of one block in a square of ``total`` slots, from that query and key on; the last says why what no
    other covers is closed."""
    queries, keys = visible.shape

    def placed(part: Tensor, start: int) -> Tensor:
        whole = torch.zeros(total, dtype=part.dtype)
        whole[start:start + len(part)] = part
        return whole

    def everyone(size: int) -> Bool[Tensor, "time"]:
        return torch.ones(size, dtype=torch.bool)

    closed = Rule.between("closed", "", everyone(queries), everyone(keys))
    closed = replace(closed, key_rank=closed.key_rank + 1, unless=visible.otherwise)
    return [replace(rule, name=f"{name}: {rule.name}", queries=placed(rule.queries, query),
                    keys=placed(rule.keys, key), query_rank=placed(rule.query_rank, query),
                    key_rank=placed(rule.key_rank, key), unless=rule.unless or visible.otherwise)
            for rule in (*visible.rules, closed)]


def edited(pair: PairExample, query: int, key: int, look: bool) -> PairExample:
    """The pair with one cell of the square set by hand; a ValueError for a cell where no path is."""
    count = len(pair.source.tokens)
    if query < count <= key:
        raise ValueError(f"cell ({query}, {key}) cannot be opened: {NEVER}")
    if query < count:
        return replace(pair, source=replace(pair.source, visible=pair.source.visible.edited(query, key, look)))
    if key < count:
        return replace(pair, cross=pair.cross.edited(query - count, key, look))
    visible = pair.target.visible.edited(query - count, key - count, look)
    return replace(pair, target=replace(pair.target, visible=visible))


def names_of_pair(tokens: list[str], count: int) -> list[str]:
    """What the slots are called, of which the first ``count`` are the source's: a token of both sides is told by its
    side, one that a side holds twice by its slot."""
    def name(slot: int, token: str) -> str:
        if tokens.count(token) == 1:
            return token
        start, end = (0, count) if slot < count else (count, len(tokens))
        side = SIDES[slot >= count]
        return f"{token} ({side})" if tokens[start:end].count(token) == 1 else f"{token} ({side} slot {slot - start})"

    return [name(slot, token) for slot, token in enumerate(tokens)]
