"""A scalar mix of three layers, and the accuracy of its nearest neighbours for a word's sense and form."""

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
"""Nearest-neighbour tasks: same sense (among occurrences of the same word form) and same word form (among all
occurrences), each among all sentences or only "elsewhere", in sentences of another pattern."""
TIED = 1e-6
"""Cosines that differ by less count as ties."""
STEPS = 6
"""Number of grid steps along a side of the triangle; divisible by 3, so that the mean of the layers is a grid point."""


def mixed(vectors: Layers, shares: Sequence[float]) -> Float[Tensor, "row both"]:
    """The scalar mix Σⱼ sⱼ hⱼ in double precision, with one weight sⱼ per layer."""
    return torch.einsum("l,rlb->rb", torch.tensor(shares, dtype=torch.float64), vectors.double())


@dataclass(frozen=True)
class Question:
    """One task of `SCORES`: masks of the candidate neighbours (``taken``) and of the correct ones (``right``), both
    ``[asked known]``; a mask of the queries that are evaluated (``counted``); and the accuracy of the chance baseline
    (``chance``)."""

    taken: Bool[Tensor, "asked known"]
    right: Bool[Tensor, "asked known"]
    counted: Bool[Tensor, "row"]
    chance: float


def questions(store: Store) -> dict[str, Question]:
    """All tasks of `SCORES`.

    For the sense, a query is evaluated if its word form is stored both with the query's sense and with another sense
    ("elsewhere": both in other sentence patterns); the chance baseline is the word's most frequent sense. For the form,
    a query is evaluated if its word form is stored; the chance baseline is a random neighbour.
    """
    known, asked = store.sentences.known, store.sentences.asked
    form, sense, pattern = (_same([getattr(row, name) for row in asked], [getattr(row, name) for row in known])
                            for name in ("word", "sense", "pattern"))
    frequent = torch.tensor([store.sentences.frequent.get(row.word) == row.sense for row in asked])
    everywhere = torch.ones_like(form)
    tasks = {}
    for where, among in (("", everywhere), (" elsewhere", ~pattern)):
        taken = among & form
        counted = (taken & sense).any(1) & (taken & ~sense).any(1)
        tasks[f"sense{where}"] = Question(taken, sense, counted, _mean(frequent[counted].double()))
        counted = taken.any(1)
        at_random = (among & form).sum(1).double() / among.sum(1).clamp(min=1)
        tasks[f"form{where}"] = Question(among, form, counted, _mean(at_random[counted]))
    return {name: tasks[name] for name in SCORES}


def scores(store: Store, asked: dict[str, Question], shares: Sequence[float]) -> dict[str, float]:
    """Accuracy of the nearest neighbour by cosine under a scalar mix, by task; tied neighbours are averaged."""
    near = F.normalize(mixed(store.asked, shares), dim=-1) @ F.normalize(mixed(store.known, shares), dim=-1).T
    accuracy = {}
    for name, question in asked.items():
        cosines = near[question.counted].masked_fill(~question.taken[question.counted], -2.0)
        nearest = (cosines >= cosines.amax(1, keepdim=True) - TIED).double() if len(cosines) else cosines
        correct = (nearest * question.right[question.counted]).sum(1) / nearest.sum(1)
        accuracy[name] = _mean(correct)
    return accuracy


def lattice() -> list[tuple[float, ...]]:
    """Evenly spaced layer weights in the triangle, including its corners, edges and centre."""
    return [(i / STEPS, j / STEPS, (STEPS - i - j) / STEPS) for i in range(STEPS + 1) for j in range(STEPS + 1 - i)]


def scored(store: Store) -> dict[str, Any]:
    """The data for JavaScript: for each task of `SCORES`, the chance baseline, the number of queries, and the accuracy
    at each point of the lattice."""
    asked = questions(store)
    return {"chance": {name: question.chance for name, question in asked.items()},
            "counted": {name: int(question.counted.sum()) for name, question in asked.items()},
            "points": [{"shares": list(shares)} | scores(store, asked, shares) for shares in lattice()]}


def _same(one: Sequence[str], other: Sequence[str]) -> Bool[Tensor, "asked known"]:
    names = {name: i for i, name in enumerate(dict.fromkeys([*one, *other]))}
    return torch.tensor([names[name] for name in one])[:, None] == torch.tensor([names[name] for name in other])


def _mean(values: Float[Tensor, "row"]) -> float:
    """The mean, or 0 if there are no values."""
    return float(values.mean()) if len(values) else 0.0
