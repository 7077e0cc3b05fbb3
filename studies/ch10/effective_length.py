"""The relative effective context length (Dai et al. 2019, appendix C): how long a context some models make use of.

Of a group of models, each asked with the same number of words before a target. A model's length is where one step more
takes less than a hundredth off the perplexity that the best of the group reached with the shorter context. Only targets
count that are hard there: the share r whose price is highest.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from plmlab.chapters.ch10 import recalling
from plmlab.chapters.ch10.arms import ARMS, SEEDS, new
from plmlab.chapters.ch10.exercises import relative_gain
from plmlab.example import Batch
from plmlab.models.transformer_xl import TransformerXL
from plmlab.recipes import Parts, seed_summary
from studies.ch10.arms import STUDY, UPDATES

STEP, LONGEST = 16, 144
"""Δ, and the longest context."""
SHARES = (0.1, 0.5, 1.0)
LEAST = 0.01
"""A step more must gain so much."""
TEXTS = 60
GROUP: dict[str, tuple[str, dict[str, int]]] = {
    "memory": ("memory", {}), "longer memory": ("memory", {"memory": LONGEST}), "none": ("none", {}),
    "window": ("window", {}), "absolute window": ("absolute window", {}),
}
"""Whose lengths are told: the arm that it is, and what is changed of its lengths when it is asked."""


@torch.no_grad()
def prices(model: TransformerXL, rows: Int[Tensor, "text word"], context: int) -> Float[Tensor, "time"]:
    """The price of each target, the words from `LONGEST` on, with just ``context`` words before it. What has no memory
    reads a text's last segment alone."""
    most = context if model.config.memory else min(context, model.config.segment)
    found = []
    for end in range(LONGEST, rows.shape[1]):
        logits = model(Batch.continuing(rows[:, end - most:end], 0))[:, -1]
        found.append(-logits.log_softmax(-1).gather(-1, rows[:, end, None])[:, 0])
    return torch.cat(found)


def effective_lengths(told: Mapping[str, Mapping[int, Float[Tensor, "time"]]], share: float) -> dict[str, int]:
    """Model → its relative effective context length; ``told``: model → context, in equal steps → the price of each
    target. The longest context is given where even the last step gains."""
    contexts = sorted(next(iter(told.values())))
    found = {}
    for name in told:
        found[name] = contexts[-1]
        for short, long in pairwise(contexts):
            if relative_gain(torch.stack([one[short] for one in told.values()]), told[name][long], share) < LEAST:
                found[name] = short
                break
    return found


def lengths(folder: str, learned: bool, seed: int) -> dict[str, dict[str, int]]:
    """Share r → model → its length, among the models of one seed; if they have not ``learned``, with random weights."""
    rows = recalling.ids(recalling.texts("test_set")[:TEXTS])
    told = {}
    for name, (arm, changes) in GROUP.items():
        model = STUDY.trained(folder, arm, updates=UPDATES, seed=seed) if learned else new(arm, seed).eval()
        model = model.remembering(**changes)
        told[name] = {context: prices(model, rows, context) for context in range(STEP, LONGEST + 1, STEP)}
    return {str(share): effective_lengths(told, share) for share in SHARES}


def direct(name: str) -> int:
    """How many positions the last position of a segment sees at once, itself among them."""
    arm, changes = GROUP[name]
    return min(LONGEST, ARMS[arm].segment + changes.get("memory", ARMS[arm].memory))


def measure(parts: Parts) -> dict[str, Any]:
    """``step``, ``longest``; how much each model sees ``direct``ly; and share r → model → its length, with spread, of
    the ``trained`` models and of ``untrained`` ones, which make use of nothing."""
    folder = str(parts.folder)
    runs = parts(lengths, [(folder, learned, seed) for learned in (True, False) for seed in SEEDS])

    def told(learned: bool) -> dict[str, Any]:
        return {str(share): {name: seed_summary({seed: runs[folder, learned, seed][str(share)][name] for seed in SEEDS})
                             for name in GROUP} for share in SHARES}
    return {"step": STEP, "longest": LONGEST, "direct": {name: direct(name) for name in GROUP},
            "trained": told(True), "untrained": told(False)}
