"""Relative effective context length (Dai et al. 2019, appendix C): how much context each of a group of models uses.

Every model of the group predicts each target from the same number of preceding words. The effective length of a model
is the context length at which another step lowers the perplexity by less than 1 % of the best perplexity that the group
reaches with the shorter context. Only the targets that are hard with this shorter context are used: the fraction r with
the highest loss.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from plmlab.chapters.ch10 import recall_task
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
"""Minimum relative gain of another step."""
TEXTS = 60
GROUP: dict[str, tuple[str, dict[str, int]]] = {
    "memory": ("memory", {}), "longer memory": ("memory", {"memory": LONGEST}), "none": ("none", {}),
    "window": ("window", {}), "absolute window": ("absolute window", {}),
}
"""The models compared: the variant, and what is changed of its lengths at inference."""


@torch.no_grad()
def prices(model: TransformerXL, rows: Int[Tensor, "text word"], context: int) -> Float[Tensor, "time"]:
    """The loss on each target, which are the words from `LONGEST` on, given exactly ``context`` preceding words. A
    model without a memory only receives the last segment of this context."""
    most = context if model.config.memory else min(context, model.config.segment)
    found = []
    for end in range(LONGEST, rows.shape[1]):
        logits = model(Batch.continuing(rows[:, end - most:end], 0))[:, -1]
        found.append(-logits.log_softmax(-1).gather(-1, rows[:, end, None])[:, 0])
    return torch.cat(found)


def effective_lengths(told: Mapping[str, Mapping[int, Float[Tensor, "time"]]], share: float) -> dict[str, int]:
    """Map each model to its relative effective context length. ``told`` maps each model and context length, in equal
    steps, to the loss on each target. If even the last step lowers the perplexity enough, the longest context is
    returned."""
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
    """Fraction r → model → relative effective context length, among the models of one seed; with random weights if
    ``learned`` is False.
    """
    rows = recall_task.ids(recall_task.texts("test_set")[:TEXTS])
    told = {}
    for name, (arm, changes) in GROUP.items():
        model = STUDY.trained(folder, arm, updates=UPDATES, seed=seed) if learned else new(arm, seed).eval()
        model = model.remembering(**changes)
        told[name] = {context: prices(model, rows, context) for context in range(STEP, LONGEST + 1, STEP)}
    return {str(share): effective_lengths(told, share) for share in SHARES}


def direct(name: str) -> int:
    """The number of positions that the last position of a segment attends to directly, including itself."""
    arm, changes = GROUP[name]
    return min(LONGEST, ARMS[arm].segment + changes.get("memory", ARMS[arm].memory))


def measure(parts: Parts) -> dict[str, Any]:
    """``step``, ``longest``; the number of positions that each model attends to ``direct``ly; and fraction r → model →
    relative effective context length, with spread, both for the ``trained`` models and for ``untrained`` models, which
    use no context."""
    folder = str(parts.folder)
    runs = parts(lengths, [(folder, learned, seed) for learned in (True, False) for seed in SEEDS])

    def told(learned: bool) -> dict[str, Any]:
        return {str(share): {name: seed_summary({seed: runs[folder, learned, seed][str(share)][name] for seed in SEEDS})
                             for name in GROUP} for share in SHARES}
    return {"step": STEP, "longest": LONGEST, "direct": {name: direct(name) for name in GROUP},
            "trained": told(True), "untrained": told(False)}
