"""Exercises of chapter 03: language models and decoding, from perplexity to exact search."""

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, randint, randn

from plmlab.chapters.ch03 import exercises_search
from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def perplexity_of(logits: Float[Tensor, "batch time vocab"], targets: Int[Tensor, "batch time"]) -> float:
    """The perplexity of a language model: the number of equally likely tokens with the same mean loss.

    logits[i, t] is the model's prediction at position t of text i, and targets[i, t] is the correct token
    there. A target of −100 is ignored. Compute −log p(target), with the natural logarithm, and its mean over
    all other targets of the batch, equally weighted. The perplexity is e to that mean. Two targets with
    probabilities 1/2 and 1/8 have perplexity 4. The result must be correct for logits in the hundreds.
    """
    counted = targets != -100
    logprobs = logits[counted].log_softmax(-1)
    said = logprobs.gather(-1, targets[counted][:, None])
    return float((-said.mean()).exp())


def draw_logits(rng: Generator) -> Probes:
    """Inputs for 03.1: name → (logits `[batch time vocab]`, targets, −100 where there is no loss)."""
    def drawn(vocab: int, time: int, *asked: range) -> tuple[Tensor, Tensor]:
        targets = torch.full((len(asked), time), -100)
        for text, positions in zip(targets, asked, strict=True):
            text[list(positions)] = randint(vocab, (len(positions),), generator=rng)
        targets[0, asked[0][0]] = 0
        return 2 * randn(len(asked), time, vocab, generator=rng), targets

    hundreds = 300 * randn(2, 6, 5, generator=rng)
    most = hundreds.argmax(-1)
    hundreds[1, 2] = torch.tensor([-130.0, 100, -180, -100, 0])
    most[1, 2], most[0, 5] = 4, -100
    far, targets = drawn(6, 5, range(5), range(2, 5))
    return {
        "probabilities 1/2 and 1/8": (torch.tensor([[[0.5, 0.25, 0.125, 0.125], [0.25, 0.5, 0.125, 0.125]]]).log(),
                                   torch.tensor([[0, 2]])),
        "three texts of different lengths": drawn(7, 5, range(5), range(1), range(3)),
        "padding before and within the text": drawn(4, 6, range(3, 6), range(0, 6, 2)),
        "equal numbers of texts, positions and tokens": drawn(4, 4, range(4), range(2), range(3), range(1)),
        "logits in the hundreds": (hundreds, most),
        "all logits far below 0": (far - 150, targets),
    }


EXERCISES = (
    Exercise(
        "03.1", "perplexity", perplexity_of, draw_logits,
        mistakes={
            "the softmax is applied twice: cross_entropy expects logits and applies it itself":
                edit(".log_softmax", ".softmax(-1).log_softmax"),
            "the logarithm is missing: this is e to the mean of −p, not of −log p (nll_loss takes no logarithm)":
                edit("log_softmax", "softmax"),
            "2 is raised to a loss in nats: use e with the natural logarithm, 2 with the logarithm to base 2":
                edit(".exp()", ".exp2()"),
            "this is the mean of 1/p over the tokens; take the mean of the logarithms first, then the exponential":
                edit("(-said.mean()).exp()", "(-said).exp().mean()"),
            "the mean is taken per text, so that a short text has the same weight as a long one":
                edit("-said.mean()", "text_by_text(logits, targets)"),
            "the mean divides by all positions, including those with −100": edit("said.mean()",
                                                                           "said.sum() / targets.numel()"),
            "a view to [batch vocab time] mixes positions and tokens: .transpose(1, 2) swaps two axes, .view does not":
                edit("logits[counted]", "cut_across(logits)[counted]"),
            "a probability underflows to 0, and its logarithm is −∞: use .log_softmax of the logits":
                edit("log_softmax(-1)", "softmax(-1).log()"),
            "exp of a large logit overflows to ∞, and of a large negative one underflows to 0: use .logsumexp":
                edit("logits[counted].log_softmax(-1)",
                     "logits[counted] - logits[counted].exp().sum(-1, keepdim=True).log()"),
            "a maximum that starts at 0 stays 0 if all logits are negative: start at −∞, or use .log_softmax":
                edit("logprobs = logits[counted].log_softmax(-1)",
                     "rest = logits[counted] - largest_from_zero(logits[counted])\n"
                     "    logprobs = rest - rest.exp().sum(-1, keepdim=True).log()"),
        },
        hints=(
            "Four equally likely tokens have probability 1/4 each. What is −log of that, and e to that? And if one "
            "text has 9 targets and another has 1, what is the weight of each target?",
            "Ignore which text a position belongs to: collect all positions with a target. Compute the "
            "log-probabilities, select that of each target, take their mean, then e to minus the mean.",
            "targets != -100 is a mask, and logits[mask] is [counted vocab]. .log_softmax(-1) is finite for large "
            "logits. .gather(-1, ids[:, None]) selects one entry per row. Or use torch.nn.functional.cross_entropy, "
            "which ignores −100 by default. .exp() is e to the power.",
        ),
    ),
    *exercises_search.EXERCISES,
)
