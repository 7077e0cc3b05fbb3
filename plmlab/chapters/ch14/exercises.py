"""Exercises of chapter 14: CogQA (Ding et al. 2019). First System 1, what it is taught and what it points at; then
System 2 in `exercises_graph`, and the whole in `exercises_growth`."""

import torch
from jaxtyping import Float
from torch import Generator, Tensor, randn

from plmlab.chapters.ch14 import exercises_graph, exercises_growth, mistakes
from plmlab.exercises.exercise import Exercise, Probes


def pointing_loss(logits: Float[Tensor, "time"], targets: list[int]) -> Float[Tensor, ""]:
    """System 1's loss at one of its pointers: −Σ gt[i] · log p[i] over all slots i, in nats.

    ``logits`` has one number for each slot of what is read. A softmax over all of them gives p, the
    chance of each slot. ``targets`` are the slots to point at, such as the first words of the next
    hops, each once. If there are k of them, gt is 1/k at each, and 0 elsewhere. If the list is empty,
    there is nothing in the text to point at; then slot 0, which is [CLS], is to be pointed at.
    The logits of padding are −∞. It is never a target.
    """
    return -logits.log_softmax(0)[targets or [0]].mean()


def draw_pointers(rng: Generator) -> Probes:
    """Inputs for 14.1: name → (logits, targets)."""
    def drawn(slots: int, targets: list[int], scale: float = 1.0, shift: float = 0.0, padding: int = 0) -> tuple[
            Tensor, list[int]]:
        logits = scale * randn(slots, generator=rng) + shift
        return torch.cat([logits, torch.full((padding,), float("-inf"))]), targets

    return {
        "three slots, one target": (torch.tensor([1.0, 3.0, 2.0]), [1]),
        "two targets of five slots": drawn(5, [2, 4]),
        "nothing to point at": drawn(6, []),
        "three targets, not in order": drawn(8, [6, 1, 3], 2.0),
        "the last slot is the only target": drawn(4, [3]),
        "one slot": drawn(1, []),
        "padding behind the text": drawn(5, [1, 2], padding=2),
        "nothing to point at, and padding": drawn(3, [], padding=4),
        "logits in the hundreds, to both sides": drawn(7, [2, 5], 150.0),
        "all logits below −100": drawn(6, [4, 3], shift=-150.0),
    }


def pointed_spans(
    starts: Float[Tensor, "time"], ends: Float[Tensor, "time"], most: int, longest: int,
) -> list[tuple[int, int]]:
    """The spans of a paragraph that System 1 points at, those with the largest start first.

    ``starts`` and ``ends`` are the logits of each slot, of being the first and the last of a span. Slot
    0 is [CLS], and the paragraph stands behind it. A span may start at each slot whose start is
    above that of [CLS]; if there are more than ``most`` of them, at the ``most`` largest.
    A span that starts at i ends at the slot with the largest end among i, i + 1, … that makes it at
    most ``longest`` slots long. Two spans may overlap. Give (start, end) of each as in a slice: ``end``
    is the slot behind the last.

    (plmlab's `best_spans` also ends a span with its sentence; this one does not.)
    """
    spans = []
    for start in starts.argsort(descending=True)[:most].tolist():
        if starts[start] > starts[0]:
            spans.append((start, start + int(ends[start:start + longest].argmax()) + 1))
    return spans


def draw_logits(rng: Generator) -> Probes:
    """Inputs for 14.2: name → (starts, ends, most, longest)."""
    def told(starts: list[float], ends: list[float], most: int, longest: int) -> tuple[object, ...]:
        return torch.tensor(starts), torch.tensor(ends), most, longest

    def drawn(slots: int, most: int, longest: int, cls: float, shift: float = 0.0) -> tuple[object, ...]:
        starts, ends = randn(2, slots, generator=rng) + shift
        starts[0] = cls
        return starts, ends, most, longest

    return {
        "one slot is above [CLS]": told([1.0, 0.0, 2.0, -1.0], [0.5, 3.0, 1.0, 2.0], 2, 3),
        "the largest end stands before the start, and the next too far behind": told(
            [1.0, 0.0, 5.0, 0.5, -2.0, -1.0, -3.0], [4.0, 9.0, 2.0, 1.0, 3.0, 6.0, 8.0], 3, 3),
        "more slots are above [CLS] than spans are asked for": told(
            [0.0, 1.2, 4.0, 2.0, 3.0, 0.5], [1.0, 5.0, 1.0, 4.5, 3.0, 2.0], 2, 2),
        "no slot is above [CLS], and one is equal": told([3.0, 1.0, 3.0, 2.5], [0.0, 1.0, 2.0, 3.0], 3, 2),
        "all numbers are negative": told(
            [-4.0, -3.0, -6.0, -1.0, -2.0, -5.0], [-1.0, -5.0, -6.0, -4.0, -2.0, -3.0], 4, 3),
        "spans of one slot": told([0.0, 2.0, -1.0, 3.0, 1.0], [2.0, 0.25, 3.0, -1.5, 1.0], 3, 1),
        "a start at the last slot, and spans that overlap": drawn_to_the_end(),
        "fewer slots than spans are asked for": told([-1.0, 0.5, 1.5], [0.0, 1.0, -2.0], 5, 4),
        "eleven slots": drawn(11, 4, 4, -0.3),
        "thirteen slots, all below 0": drawn(13, 3, 5, -9.5, -9.0),
    }


def drawn_to_the_end() -> tuple[Tensor, Tensor, int, int]:
    """An input for 14.2 where two spans end in one slot, and a third is the last slot."""
    return (torch.tensor([0.5, -1.0, 4.0, 2.0, 0.0, 3.0]), torch.tensor([7.0, 1.0, 0.5, 2.0, 5.0, -3.0]), 4, 3)


EXERCISES = (
    Exercise(
        "14.1", "what System 1 is taught", pointing_loss, draw_pointers,
        mistakes=mistakes.POINTING, properties=mistakes.OF_POINTING,
        hints=(
            "Three slots with the chances 1/2, 1/4 and 1/4. Slots 1 and 2 are the targets. Which number does each add "
            "to the sum, and with which weight? And what is the loss if nothing is to be pointed at?",
            "A sum in which k numbers have the weight 1/k, and all others the weight 0, is the mean of these k. So "
            "take the log-probabilities of all slots first, and pick the targets' from them. An empty list stands for "
            "the list of one slot.",
            "logits.log_softmax(0) is safe for large numbers. A tensor takes a list of places between its brackets, "
            "x[[1, 4]]. An empty list counts as False: `a or b` is b then.",
        ),
    ),
    Exercise(
        "14.2", "the spans of a paragraph", pointed_spans, draw_logits,
        mistakes=mistakes.SPANS,
        hints=(
            "Take the first input on paper. Which slots are above [CLS], and in which slots may a span that starts at "
            "slot 2 end? What does argmax count from, if you cut a piece out of ``ends``?",
            "Go through the slots from the largest start on, as many as are asked for, and pass over those that are "
            "not above slot 0. For each cut out of ``ends`` the slots that the span may end in. The place of the "
            "largest in the piece counts from the piece's beginning.",
            "starts.argsort(descending=True) gives the slots from the largest on, [:most] cuts, .tolist() makes "
            "numbers of them. x[i:i + n] may go beyond the end of x: then it is shorter. int(….argmax()) is a place "
            "that counts from 0.",
        ),
    ),
    *exercises_graph.EXERCISES,
    *exercises_growth.EXERCISES,
)
