"""Exercises 18.1 and 18.2, KnowBERT: the entity vector of a mention, and the margin loss of the linker."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor, ones_like, randn, randperm, tensor

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def link_mentions(
    scores: Float[Tensor, "mention candidate"], candidates: Int[Tensor, "mention candidate"],
    candidate_mask: Bool[Tensor, "mention candidate"], vectors: Float[Tensor, "entity width"], threshold: float,
) -> Float[Tensor, "mention width"]:
    """The entity vector that KnowBERT's linker computes for each mention, without layer normalization.

    ``candidates[m, c]`` is the id of an entity, whose vector is this row of ``vectors``. Mentions differ in the number
    of candidates: ``candidate_mask`` is False at padding, whose id is 0 and whose score is arbitrary. Only candidates
    with a score of at least ``threshold`` (δ) have a weight: the softmax over the scores of these candidates. The
    result is the sum of their vectors with these weights. If a mention has no candidate with a weight, or no candidate
    at all, it is the vector of NULL, the entity with id 0. NULL may also be an ordinary candidate. Scores may be so
    large that exp overflows.
    """
    kept = candidate_mask & (scores >= threshold)
    weights = scores.masked_fill(~kept, -torch.inf).softmax(1)
    mean = torch.einsum("mc,mcw->mw", weights, vectors[candidates])
    return mean.where(kept.any(1, keepdim=True), vectors[0])


def margin_loss(
    scores: Float[Tensor, "mention candidate"], candidates: Int[Tensor, "mention candidate"],
    candidate_mask: Bool[Tensor, "mention candidate"], gold: Int[Tensor, "mention"], margin: float = 0.2,
) -> Float[Tensor, ""]:
    """The margin loss of KnowBERT's linker.

    Each candidate has a hinge of its own: max(0, γ − ψ) if it is the gold entity of its mention, and max(0, γ + ψ) if
    it is not, where ψ is its score and γ is ``margin``. The loss is the mean over the candidates of all labelled
    mentions together, as in the authors' code; the paper sums them. The first three arguments are those of 18.1;
    padding does not count. ``gold`` has the id of the correct entity, or −100 for a mention without a label, whose
    candidates do not count. The gold entity may be NULL, with id 0. If it is not among the candidates, all of them are
    wrong. If no candidate counts, the loss is a tensor that contains 0.
    """
    labelled = candidate_mask & (gold != -100)[:, None]
    sign = torch.where(candidates == gold[:, None], -1.0, 1.0)
    hinges = (margin + sign * scores).clamp(min=0).masked_fill(~labelled, 0)
    return hinges.sum() / labelled.sum().clamp(min=1)


def drawn(rng: Generator, sizes: list[int], shift: float = 0.0, scale: float = 1.0, rest: float = 3.0,
          ) -> tuple[Tensor, ...]:
    """Random (scores, candidates, mask) of mentions with these numbers of candidates; ``rest`` is padding's score."""
    mask = torch.arange(max(sizes)) < tensor(sizes)[:, None]
    ids = torch.stack([1 + randperm(8, generator=rng)[:max(sizes)] for _ in sizes])
    return (shift + scale * randn(mask.shape, generator=rng)).masked_fill(~mask, rest), ids.masked_fill(~mask, 0), mask


def given(rows: list[list[float]], ids: list[list[int]]) -> tuple[Tensor, ...]:
    """(scores, candidates, mask) without padding."""
    return tensor(rows), tensor(ids), ones_like(tensor(ids)).bool()


def draw_links(rng: Generator) -> Probes:
    """Inputs for 18.1: name → (scores, candidates, mask, entity vectors, threshold)."""
    corners, vectors = tensor([[9.0, 9.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), randn(9, 4, generator=rng)
    return {
        "two of three candidates": (*given([[1.0, -1.0, 2.0]], [[1, 3, 2]]), corners, 0.0),
        "none, then one, reaches the threshold": (*given([[-1.0, -2.0], [-1.0, 1.0]], [[1, 2], [2, 3]]), corners, 0.0),
        "scores equal to the threshold, and NULL as a candidate": (
            *given([[0.5, 1.5, 0.25], [0.25, 0.75, 0.5]], [[4, 7, 2], [5, 2, 0]]), vectors, 0.5),
        "one to five candidates": (*drawn(rng, [2, 5, 1, 4]), vectors, 0.0),
        "padding has the highest scores": (*drawn(rng, [1, 3, 2], rest=500), vectors, -0.5),
        "no candidate, none above the threshold, one": (*drawn(rng, [0, 2, 1], -3.0), vectors, -3.0),
        "a threshold of −150, and scores near it": (*drawn(rng, [4, 2, 3], -150.0), vectors, -150.0),
        "a threshold of 1": (*drawn(rng, [4, 4, 3], 1.0), vectors, 1.0),
        "as many mentions as candidates and features": (*drawn(rng, [3, 3, 3]), vectors[:, 1:], -0.25),
        "scores of hundreds": (*drawn(rng, [4, 3, 1, 2], scale=200.0), vectors, -150.0),
    }


def draw_labelled(rng: Generator) -> Probes:
    """Inputs for 18.2: name → (scores, candidates, mask, gold entities, margin)."""
    def first(sizes: list[int], margin: float = 0.2, **how: float) -> tuple[object, ...]:
        """The first candidate of each mention is correct."""
        return *(made := drawn(rng, sizes, **how)), made[1][:, 0], margin

    return {
        "one mention with two candidates": (*given([[0.5, -0.1]], [[3, 5]]), tensor([3]), 0.2),
        "a wrong candidate has a high score": (*given([[90.0, 70.0, -1.0]], [[1, 4, 2]]), tensor([1]), 0.2),
        "the gold entity is NULL": (*given([[0.3, -0.4], [0.1, 0.6]], [[2, 0], [7, 4]]), tensor([0, 0]), 0.2),
        "the gold entity is none of the candidates": (*drawn(rng, [2, 4, 3], rest=-4), tensor([9, 9, 0]), 0.2),
        "one to five candidates": first([2, 5, 1, 4]), "padding has the lowest scores": first([1, 4, 2], rest=-50),
        "mentions without a label": (*drawn(rng, [3, 2, 4]), tensor([-100, 5, -100]), 0.2),
        "no label": (*drawn(rng, [2, 3]), tensor([-100, -100]), 0.2), "a margin of 1": first([3, 4, 2], 1.0),
        "all scores are negative": first([3, 3, 1], shift=-3.0), "as many mentions as candidates": first([3, 3, 3]),
    }


LINK = Exercise("18.1", "linking a mention", link_mentions, draw_links, mistakes={
    "the softmax includes the candidates below the threshold; set their scores to −∞ before it":
        edit("(~kept, -torch.inf).softmax(1)", "(~candidate_mask, -torch.inf).softmax(1) * kept"),
    "padding counts as a candidate: use `candidate_mask`": edit("candidate_mask & ", ""),
    "a mention whose candidates are all below the threshold gets zeros, not the vector of NULL":
        edit(", vectors[0])", ", torch.zeros_like(mean))"),
    "a softmax over no candidate is NaN; use NULL": edit(".where(kept.any(1, keepdim=True), vectors[0])", ""),
    "the threshold is compared with the probability; it is a threshold of the score":
        edit("(scores >=", "(scores.masked_fill(~candidate_mask, -torch.inf).softmax(1) >="),
    "the other scores become 0, and exp(0) = 1: they must become −∞": edit("(~kept, -torch.inf)", "(~kept, 0.0)"),
    "only the best candidate counts; the result is a weighted mean":
        edit(".softmax(1)", ".argmax(1, keepdim=True).eq(torch.arange(scores.shape[1])).float()"),
}, hints=(
    "Which candidates of the first input reach the threshold, and with which weights? And in the second input?",
    "Combine both conditions into one mask; the softmax must ignore everything else. A row without any True is a case "
    "of its own: whatever the softmax gives there is replaced.",
    "scores.masked_fill(~kept, -torch.inf).softmax(1) gives the weights. vectors[candidates] is [mention candidate "
    "width]. mean.where(kept.any(1, keepdim=True), vectors[0]) replaces rows."))

MARGIN = Exercise("18.2", "the margin loss", margin_loss, draw_labelled, mistakes={
    "the sum over the wrong candidates is within the hinge of the gold entity; each has a hinge of its own":
        edit("hinges.sum()", "hinges.where(sign > 0, (margin - scores) * labelled).sum(1).clamp(min=0).sum()"),
    "wrong candidates are compared with the gold entity, as in a ranking loss; compare each score with γ": edit(
        "sign * scores)", "scores - (scores * (sign < 0) * labelled).sum(1, keepdim=True)) * (sign > 0)"),
    "the signs are exchanged: the score of the gold entity should be high": edit("-1.0, 1.0", "1.0, -1.0"),
    "this is the sum; the loss is the mean over the candidates": edit(" / labelled.sum().clamp(min=1)", ""),
    "the mean is over the mentions; it is over their candidates": edit("labelled.sum()", "labelled.any(1).sum()"),
    "padding counts as candidates: use `candidate_mask`": edit("candidate_mask & ", "(candidates >= 0) & "),
    "mentions without a label count; leave them out": edit(" & (gold != -100)[:, None]", ""),
    "mentions whose gold entity is no candidate are left out; all their candidates are wrong":
        edit("(gold != -100)[:, None]", "((candidates == gold[:, None]) & candidate_mask).any(1, keepdim=True)"),
    "the mean over no candidate is NaN; the loss is 0": edit(".clamp(min=1)", ""),
}, hints=(
    "In the second input, the first candidate is correct. Which hinges are 0? Does its score change the others?",
    "Compute a matrix with one hinge per candidate. The two kinds differ only in the sign of the score. Then set the "
    "hinges that do not count to 0, add up, and divide by how many count.",
    "candidates == gold[:, None] marks the gold entities. (margin + sign * scores).clamp(min=0) are the hinges. "
    "masked_fill(~labelled, 0) removes those that do not count, and labelled.sum().clamp(min=1) is at least 1."))
