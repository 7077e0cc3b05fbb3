"""Exercises of chapter 19: six invented abstracts, each with one error, and the functions that reveal it."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor, rand, randint, randn

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def first_mismatch(factors: list[list[str]]) -> int:
    """The first matrix product of a chain that cannot be computed.

    *Abstract:* "Our gate multiplies the attention weights, one per source position, by the output matrix, and needs no
    values." An attention weight matrix has the axes query and source, the output matrix model and vocab.

    ``factors`` are the axes of matrices A₁, A₂, …, each a list of two names; equal names have equal sizes. The product
    is computed from left to right. Return the index, from 0, of the first factor by which the product of all factors
    before it cannot be multiplied, or −1 if the whole product can be computed. A single factor is a product.
    """
    for i in range(1, len(factors)):
        if factors[i - 1][1] != factors[i][0]:
            return i
    return -1


def draw_chains(rng: Generator) -> Probes:
    """Inputs for 19.1: name → (factors,)."""
    attention, values, output = ["query", "source"], ["source", "model"], ["model", "vocab"]
    return {"one matrix": ([attention],), "the abstract": ([attention, output],),
            "with values": ([attention, values, output],), "values transposed": ([attention, values[::-1], output],),
            "the last product": ([attention, values, attention],), "two errors": ([values, values, attention, output],),
            "square": ([["model", "model"], ["model", "model"]],)}


def leaking(depends: Bool[Tensor, "time time"], shift: int) -> Bool[Tensor, " time"]:
    """Positions whose prediction depends on its own target, or on a later token.

    *Abstract:* "Our bidirectional decoder predicts every next token in one pass. Its perplexity is 1.02."

    ``depends[t, k]`` is True if the prediction at position t changes when the input token k changes. The target of
    position t is the input token t + ``shift``: 1 for a next-token model, 0 for a model that predicts the token at its
    own position. Return True for each position t that depends on some token k ≥ t + shift.
    """
    return depends.triu(shift).any(1)


def draw_dependences(rng: Generator) -> Probes:
    """Inputs for 19.2: name → (depends, shift)."""
    def drawn(time: int, share: float) -> Tensor:
        return rand(time, time, generator=rng) < share
    return {"one position": (torch.ones(1, 1).bool(), 1), "causal": (torch.ones(4, 4).bool().tril(), 1),
            "bidirectional": (torch.ones(4, 4).bool(), 1), "sees its own token": (torch.ones(3, 3).bool().tril(), 0),
            "some dependences": (drawn(6, 0.2), 1), "own position": (drawn(5, 0.2), 0), "upper": (drawn(5, 0.5).T, 1)}


def gain_over_majority(predicted: Int[Tensor, " example"], targets: Int[Tensor, " example"],
                       training: Int[Tensor, " text"]) -> float:
    """Accuracy minus that of always predicting the most frequent class of the *training* data.

    *Abstract:* "Our model detects spam with an accuracy of 91 %." In the training and test data, 92 % are no spam.

    Classes are ids from 0. If several classes are equally frequent in training, the baseline predicts the smallest id.
    It may not know the test targets, except for its accuracy. Return a number between −1 and 1.
    """
    majority = int(training.bincount().argmax())
    return float((predicted == targets).float().mean() - (targets == majority).float().mean())


def draw_predictions(rng: Generator) -> Probes:
    """Inputs for 19.3: name → (predicted, targets, training)."""
    def drawn(high: int, size: int) -> Tensor:
        return randint(0, high, (size,), generator=rng)
    spam = torch.tensor([0] * 23 + [1] * 2)
    return {"one example": (torch.tensor([1]), torch.tensor([1]), torch.tensor([0, 0, 1])),
            "the abstract": (spam.roll(1), spam, spam.repeat(2)), "a tie": (drawn(3, 7), drawn(3, 7), torch.arange(3)),
            "another majority": (drawn(2, 6), torch.tensor([1, 1, 1, 1, 0, 2]), torch.tensor([2, 2, 0])),
            "four classes": (drawn(4, 12), drawn(4, 12), torch.tensor([3, 1, 3, 0]))}


def nats_per_word(bits: Float[Tensor, " text"], characters: Int[Tensor, " text"], words: Int[Tensor, " text"]) -> float:
    """Convert losses in bits per character to one loss in nats per word.

    *Abstract:* "With a loss of 1.2, our character model beats a word model with a loss of 4.1."

    Text i has a loss of ``bits[i]`` bits per character, on average over its ``characters[i]`` characters, and
    ``words[i]`` words. Return the loss of all texts in nats per word: their total loss divided by the number of all
    words. One bit is ln 2 nats.
    """
    return float((bits * characters).sum() * torch.tensor(2.0).log() / words.sum())


def draw_losses(rng: Generator) -> Probes:
    """Inputs for 19.4: name → (bits, characters, words)."""
    def drawn(texts: int) -> tuple[Tensor, Tensor, Tensor]:
        return (3 * rand(texts, generator=rng), randint(50, 400, (texts,), generator=rng),
                randint(5, 40, (texts,), generator=rng))
    return {"one text": (torch.tensor([1.2]), torch.tensor([600]), torch.tensor([100])), "two texts": drawn(2),
            "five texts": drawn(5)}


def separation(ours: Float[Tensor, " seed"], baseline: Float[Tensor, " run"]) -> float:
    """The score of our worst seed minus that of the baseline's best seed.

    *Abstract:* "Our best run reaches 81.4, compared with an average of 79.8 for the baseline."

    Scores are between 0 and 100; higher is better. A run that diverged has the score 0 and counts like the
    others. The result is positive only if every seed of ours is above every seed of theirs.
    """
    return float(ours.min() - baseline.max())


def draw_scores(rng: Generator) -> Probes:
    """Inputs for 19.5: name → (ours, baseline)."""
    return {"one seed": (torch.tensor([81.0]), torch.tensor([80.0])),
            "the abstract": (torch.tensor([78.9, 81.4, 79.3]), torch.tensor([79.6, 79.8, 80.0])),
            "more seeds": (80 + randn(5, generator=rng), 78 + randn(3, generator=rng)),
            "a baseline run diverged": (torch.tensor([70.0, 72.0]), torch.tensor([0.0, 69.0, 60.0])),
            "a run of ours diverged": (torch.tensor([0.0, 72.0]), torch.tensor([69.0]))}


def at_equal_budget(ours: Float[Tensor, "point 2"], baseline: Float[Tensor, "other 2"]) -> Float[Tensor, "2"]:
    """The scores of two models after the same number of training tokens.

    *Abstract:* "After 300 billion tokens, our model scores 71, above the published 68 of a model of the same size",
    which was trained on 100 billion tokens.

    Each row is a point of a learning curve, (tokens, score), with increasing tokens. The budget is the largest number
    of tokens that *both* have reached. Return (our score, the baseline's score), each at its last point within the
    budget. Both have a point within it.
    """
    budget = min(ours[-1, 0], baseline[-1, 0])
    return torch.stack([curve[curve[:, 0] <= budget][-1, 1] for curve in (ours, baseline)])


def draw_curves(rng: Generator) -> Probes:
    """Inputs for 19.6: name → (ours, baseline)."""
    def drawn(points: int, step: float) -> Tensor:
        return torch.stack([step * torch.arange(1, points + 1), 50 + 20 * rand(points, generator=rng)], 1)
    return {"one point": (torch.tensor([[100.0, 71.0]]), torch.tensor([[100.0, 68.0]])),
            "the abstract": (torch.tensor([[100.0, 66.0], [200.0, 69.0], [300.0, 71.0]]),
                             torch.tensor([[50.0, 61.0], [100.0, 68.0]])),
            "ours is shorter": (drawn(3, 20.0), drawn(4, 30.0)), "other points": (drawn(7, 30.0), drawn(5, 25.0))}


EXERCISES = (
    Exercise(
        "19.1", "shapes: a product that cannot be computed", first_mismatch, draw_chains,
        mistakes={
            "the index of the left factor is returned; the right one is meant": edit("return i", "return i - 1"),
            "the last mismatch is returned, not the first":
                edit("range(1, len(factors))", "range(len(factors) - 1, 0, -1)"),
            "the first axes are compared: the inner axes are the last of the left and the first of the right factor":
                edit("[i - 1][1]", "[i - 1][0]"),
            "the last product is not checked": edit("range(1, len(factors))", "range(1, len(factors) - 1)"),
        },
        hints=("Which two axes must be equal in the product of a [query source] and a [source model] matrix?",
               "The product of all earlier factors has the last axis of the factor before. Compare it with the first "
               "axis of the next factor.", "Loop over range(1, len(factors)); return inside the loop, −1 after it.")),
    Exercise(
        "19.2", "information: a target leak", leaking, draw_dependences,
        mistakes={
            "the target itself is left out: k = t + shift counts, too": edit("triu(shift)", "triu(shift + 1)"),
            "the shift is ignored": edit("triu(shift)", "triu(1)"),
            "earlier tokens count as leaks: triu, not tril": edit("triu(shift)", "tril(shift)"),
            "these are the tokens that leak; the positions that depend on them are asked for": edit("any(1)", "any(0)"),
            "every dependence counts as a leak": edit("depends.triu(shift)", "depends"),
        },
        hints=("In a next-token model, which input token is the target of position 2? May position 2 depend on it?",
               "Keep the entries on and above a diagonal. Which diagonal holds the targets?",
               "tensor.triu(d) keeps the entries with k ≥ t + d; .any(1) reduces the tokens k.")),
    Exercise(
        "19.3", "baseline: the most frequent class", gain_over_majority, draw_predictions,
        mistakes={
            "the majority class is that of the test targets: a baseline may not know them":
                edit("training.bincount()", "targets.bincount()"),
            "this is the model's accuracy; subtract the baseline's":
                edit(" - (targets == majority).float().mean()", ""),
            "the sign is wrong: model minus baseline": edit("return float(", "return -float("),
            "the baseline's accuracy is measured on the training data":
                edit("(targets == majority)", "(training == majority)"),
            "this is the share of predictions that are the majority class, not of correct ones":
                edit("(targets == majority)", "(predicted == majority)"),
        },
        hints=("What is the accuracy on the test data of a program that always answers \"no spam\"?",
               "Count the classes in the training data, and take the most frequent. Compare it with each target.",
               "tensor.bincount() counts ids from 0; .argmax() gives the first of the largest.")),
    Exercise(
        "19.4", "unit: bits per character and nats per word", nats_per_word, draw_losses,
        mistakes={
            "the loss is in bits: multiply by ln 2": edit(" * torch.tensor(2.0).log()", ""),
            "divided by ln 2; nats are fewer than bits": edit("* torch", "/ torch"),
            "the loss is per character: divide by the number of words": edit("words.sum()", "characters.sum()"),
            "the losses per word of the texts are averaged; a long text has more words":
                edit("(bits * characters).sum()", "(bits * characters / words).mean()", " / words.sum()", ""),
            "the losses of the texts are averaged without their lengths":
                edit("(bits * characters).sum()", "bits.mean() * characters.sum()"),
        },
        hints=("A text of 600 characters and 100 words has 1.2 bits per character. How many bits has the whole text?",
               "Losses add up: compute the total in bits, convert it to nats, and divide by all words.",
               "(bits * characters).sum() is the total in bits; "
               "torch.tensor(2.0).log() is the number of nats per bit.")),
    Exercise(
        "19.5", "seed: the best run against an average", separation, draw_scores,
        mistakes={
            "the best seed of ours is compared with the best of the baseline": edit("min", "max"),
            "the best seed of ours is compared with the baseline's average": edit("max", "mean", "min", "max"),
            "the averages are compared, which hides the spread": edit("min", "mean", "max", "mean"),
            "our diverged runs are left out; they count": edit("ours.min", "ours[ours > 0].min"),
            "worst is compared with worst": edit("max", "min"),
        },
        hints=("In the second input, how many of our runs are above all runs of the baseline?",
               "Every seed of ours is above every seed of theirs if the lowest is above the highest.",
               ".min() and .max() give one element; float() converts it.")),
    Exercise(
        "19.6", "budget: more training tokens", at_equal_budget, draw_curves,
        mistakes={
            "the last scores are compared, after different numbers of tokens":
                edit("curve[curve[:, 0] <= budget][-1, 1]", "curve[-1, 1]"),
            "the best score within the budget is taken; the last one was asked for":
                edit("[-1, 1]", "[:, 1].max()"),
            "the point at the budget itself is left out": edit(
                "<= budget", "< max(budget, curve[0, 0] + 1)"),
            "points are compared by their index, not by their tokens": edit(
                "curve[curve[:, 0] <= budget][-1, 1]", "curve[:min(len(ours), len(baseline))][-1, 1]"),
            "the pair is in reverse order": edit("(ours, baseline)]", "(baseline, ours)]"),
        },
        hints=("After how many tokens have both models of the abstract a score?",
               "The budget is the smaller of the two last numbers of tokens. Leave out all later points.",
               "curve[curve[:, 0] <= budget] keeps rows; [-1, 1] is the score of the last of them.")),
)
