"""The item *information*: does a prediction depend on its target or on later tokens? Is the answer in the input?"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from plmlab.chapters.ch19.finding import NOTHING, Finding
from plmlab.example import PairBatch
from plmlab.visibility import AttentionMask

ENOUGH = 1e-6
"""Differences of logits up to this value are rounding."""

Logits = Callable[[Int[Tensor, "time"]], Float[Tensor, "time vocab"]]


@torch.no_grad()
def dependence(logits: Logits, tokens: Int[Tensor, "time"], other: int) -> Bool[Tensor, "time time"]:
    """Whether the logits at position t change if token k is replaced by the token ``other``, [t, k].

    ``logits`` maps the input tokens to the logits at every position. A dependence that no replacement by this token
    shows is not found.
    """
    before, columns = logits(tokens), []
    for k in range(len(tokens)):
        changed = tokens.clone()
        changed[k] = other
        columns.append((logits(changed) - before).abs().amax(1) > ENOUGH)
    return torch.stack(columns, 1)


def of_target(model: torch.nn.Module, batch: PairBatch, causal: bool = True) -> Logits:
    """The logits of an encoder–decoder as a function of its target's tokens, for a batch of one pair; without the
    causal mask if ``causal`` is False."""
    def logits(tokens: Int[Tensor, "time"]) -> Float[Tensor, "time vocab"]:
        target = replace(batch.target, tokens=tokens[None])
        if not causal:
            target = replace(target, visible=AttentionMask())
        return model(replace(batch, target=target))[0]
    return logits


def leaks(depends: Bool[Tensor, "time time"], shift: int = 1) -> list[tuple[int, int]]:
    """The pairs (t, k) in which the prediction at position t depends on an input at position k that is its target or
    comes after it. The target of position t is the input at t + ``shift``."""
    return [(t, k) for t, k in depends.nonzero().tolist() if k >= t + shift]


def check_leaks(claim: str, depends: Bool[Tensor, "time time"], repair: str = NOTHING, shift: int = 1) -> Finding:
    """The finding on whether predictions depend on their targets or later tokens."""
    found = leaks(depends, shift)
    most = sum(range(1, len(depends) + 1 - shift))
    return Finding("information", claim, f"{len(found)} of {most} pairs of a position and its target or a later token",
                   not found, repair)


def labels_of_sample(tokens: Sequence[str]) -> list[tuple[int, str]]:
    """(number of the [MASK], token) of each target of the note's sample code (§4), both from 1.

    Its decoder input is [CLS], one [MASK] per *character* of the target and [SEP], between another [CLS] and [SEP],
    which its tokenization adds. Its labels are the target's tokens alone. The loss compares the outputs without the
    last position to the labels without the first one. [MASK] t, at position t + 1 from 0, is compared to token t + 3.
    """
    return [(t, f"token {t + 3}") for t in range(1, len(tokens) - 2)]


def check_sample(text: str) -> list[Finding]:
    """The findings on the sample code's targets, for a text of words and spaces."""
    words = text.split()
    aligned = labels_of_sample(words)
    return [Finding("information", "§4, [MASK] t predicts token t", f"[MASK] {aligned[0][0]} has {aligned[0][1]}",
                    False, "no shift, or [START] and a shift by one"),
            Finding("information", "§4, the target is not in the input",
                    f"the number of [MASK] is {len(text)}, the length of the target in characters", False,
                    "generate until [END]", "whether a known length was intended")]
