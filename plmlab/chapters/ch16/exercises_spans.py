"""Exercise 16.6: the chance of an answer that a reader points at, wherever it stands in a document."""

import torch
from jaxtyping import Float
from torch import Generator, Tensor, randn

from plmlab.chapters.ch16 import mistakes_spans
from plmlab.exercises.exercise import Exercise, Probes


def answer_log_chance(
    scores: Float[Tensor, "time time"], body: list[int], answer: list[int], longest: int,
) -> Float[Tensor, ""]:
    """log p(y|z,x): how likely a reader points at the answer y in the body of document z, in nats.

    ``body`` and ``answer`` are tokens, which are numbers. ``scores[i, j]`` is the reader's score of the
    span from slot i of the body to slot j, both included. A span is 1 to ``longest`` slots long. The
    other numbers of the table mean nothing: where j stands before i, or too far behind it.
    The softmax over all spans gives the chance of each. The chance of the answer is the sum over all
    spans that spell it, token by token, for an answer may stand in a body several times. If no span
    spells it, its chance is 0, and the logarithm is −∞.
    """
    spans = [(i, j) for i in range(len(body)) for j in range(i, min(i + longest, len(body)))]
    chances = torch.stack([scores[span] for span in spans]).log_softmax(0)
    right = torch.tensor([body[i:j + 1] == answer for i, j in spans])
    return chances.masked_fill(~right, float("-inf")).logsumexp(0)


def draw_bodies(rng: Generator) -> Probes:
    """Inputs for 16.6: name → (scores, body, answer, longest)."""
    def drawn(body: list[int], answer: list[int], longest: int, scale: float = 1.5, shift: float = 0.0,
              ) -> tuple[object, ...]:
        return scale * randn(len(body), len(body), generator=rng) + shift, body, answer, longest

    return {
        "three slots, the answer is the second": (
            torch.tensor([[1.0, 0.0, 3.0], [2.0, 2.0, 1.0], [0.5, 1.0, 0.0]]), [7, 8, 9], [8], 2),
        "the answer stands there twice": drawn([7, 9, 8, 7, 9], [7, 9], 3),
        "three times, one of them at the end": drawn([8, 7, 8, 9, 7, 8], [8], 2),
        "the answer overlaps with itself": drawn([7, 7, 7, 8], [7, 7], 2),
        "the first and the last token are right, the one between is not": drawn(
            [7, 8, 9, 7, 10, 9, 8], [7, 10, 9], 4),
        "the right tokens, in another order": drawn([9, 7, 8, 7, 9], [7, 9], 3),
        "the answer is not there": drawn([7, 8, 9, 8], [8, 7], 2),
        "the answer is longer than a span": drawn([7, 8, 9, 8], [8, 9, 8], 2),
        "the answer is as long as the longest span": drawn([9, 7, 8, 9, 10, 7, 8, 9], [7, 8, 9], 3),
        "the answer is the whole body": drawn([7, 8, 9], [7, 8, 9], 5),
        "one slot": drawn([7], [7], 3),
        "scores in the hundreds, to both sides": drawn([8, 7, 9, 7, 8], [7], 3, 300.0),
        "another span has all the chance": (torch.tensor([[0.0, 150.0], [3.0, -120.0]]), [7, 8], [8], 2),
        "all scores below −200": drawn([8, 9, 7, 8, 9], [8, 9], 2, shift=-250.0),
    }


EXERCISES = (
    Exercise(
        "16.6", "the chance of an answer", answer_log_chance, draw_bodies,
        mistakes=mistakes_spans.SPANS,
        hints=(
            "The first input: write down the spans of one and two slots. How many are they, and which numbers of the "
            "table are their scores? Which numbers of the table are never looked at?",
            "Two sums over spans, and one is a part of the other: e^score over all spans, and over those that spell "
            "the answer. The chance is the second divided by the first. Go through all spans once, and ask of each "
            "whether its tokens are the answer's.",
            "body[i:j + 1] are the tokens from i to j, and lists can be compared with ==. torch.stack makes a tensor "
            "of a list of numbers in tensors. .log_softmax(0), then −∞ for the others by masked_fill, then "
            ".logsumexp(0), which gives −∞ if all are −∞.",
        ),
    ),
)
