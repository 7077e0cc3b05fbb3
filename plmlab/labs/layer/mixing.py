"""Layers mixed by three shares, and what the nearest stored neighbour then tells: the sense of a word, or its form."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from plmlab.labs.layer.reading import Layers
from plmlab.labs.layer.store import Store

SCORES = ("sense", "sense elsewhere", "form", "form elsewhere")
"""What is asked of the nearest neighbour: has it the same sense (among those of the word's own form), has it the same
form (among all); each among all sentences, or only elsewhere, in sentences of another pattern."""
TIED = 1e-6
"""Neighbours whose cosines differ by less are equally near."""
STEPS = 6
"""A side of the triangle has so many steps from point to point; the mean of three layers is one of them."""


def mixed(vectors: Layers, shares: Sequence[float]) -> Float[Tensor, "row both"]:
    """Σⱼ sⱼ hⱼ, in double precision; layers and shares are equally many."""
    return torch.einsum("l,rlb->rb", torch.tensor(shares, dtype=torch.float64), vectors.double())


@dataclass(frozen=True)
class Question:
    """For one of `SCORES`: which stored neighbours may be taken (``taken``), which of them are right (``right``), both
    [asked, known]; which occurrences count (``counted``), and the share that chance gets right."""

    taken: Bool[Tensor, "asked known"]
    right: Bool[Tensor, "asked known"]
    counted: Bool[Tensor, "row"]
    chance: float


def questions(store: Store) -> dict[str, Question]:
    """All of `SCORES`.

    For the sense an occurrence counts whose word form is stored with its sense and with another one (elsewhere: where
    both stand in other patterns); chance is its word's most frequent sense. For the form it counts where its form is
    stored; chance is a neighbour drawn by lot.
    """
    known, asked = store.sentences.known, store.sentences.asked
    form, sense, pattern = (_same([getattr(row, name) for row in asked], [getattr(row, name) for row in known])
                            for name in ("word", "sense", "pattern"))
    frequent = torch.tensor([store.sentences.frequent.get(row.word) == row.sense for row in asked])
    everywhere = torch.ones_like(form)
    found = {}
    for where, among in (("", everywhere), (" elsewhere", ~pattern)):
        taken = among & form
        counted = (taken & sense).any(1) & (taken & ~sense).any(1)
        found[f"sense{where}"] = Question(taken, sense, counted, _mean(frequent[counted].double()))
        counted = taken.any(1)
        by_lot = (among & form).sum(1).double() / among.sum(1).clamp(min=1)
        found[f"form{where}"] = Question(among, form, counted, _mean(by_lot[counted]))
    return {name: found[name] for name in SCORES}


def scores(store: Store, asked: dict[str, Question], shares: Sequence[float]) -> dict[str, float]:
    """The share that is right of the nearest neighbours by cosine under a mix; of neighbours equally near, the mean."""
    near = F.normalize(mixed(store.asked, shares), dim=-1) @ F.normalize(mixed(store.known, shares), dim=-1).T
    found = {}
    for name, question in asked.items():
        some = near[question.counted].masked_fill(~question.taken[question.counted], -2.0)
        nearest = (some >= some.amax(1, keepdim=True) - TIED).double() if len(some) else some
        right = (nearest * question.right[question.counted]).sum(1) / nearest.sum(1)
        found[name] = _mean(right)
    return found


def lattice() -> list[tuple[float, ...]]:
    """Points of the triangle of shares, evenly spaced, its corners, edges and middle among them."""
    return [(i / STEPS, j / STEPS, (STEPS - i - j) / STEPS) for i in range(STEPS + 1) for j in range(STEPS + 1 - i)]


def scored(store: Store) -> dict[str, Any]:
    """What JavaScript is told: chance and how many count, for each of `SCORES`, and all of them at each point of the
    lattice."""
    asked = questions(store)
    return {"chance": {name: question.chance for name, question in asked.items()},
            "counted": {name: int(question.counted.sum()) for name, question in asked.items()},
            "points": [{"shares": list(shares)} | scores(store, asked, shares) for shares in lattice()]}


def _same(one: Sequence[str], other: Sequence[str]) -> Bool[Tensor, "asked known"]:
    names = {name: i for i, name in enumerate(dict.fromkeys([*one, *other]))}
    return torch.tensor([names[name] for name in one])[:, None] == torch.tensor([names[name] for name in other])


def _mean(values: Float[Tensor, "row"]) -> float:
    """0 where nothing counts."""
    return float(values.mean()) if len(values) else 0.0
