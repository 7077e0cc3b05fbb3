"""Exercises of chapter 03: language models and decoding, from perplexity to exact search."""

from math import log

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, rand, randint, randn

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


def bits_per_character(nats: Float[Tensor, "time"], text: str) -> float:
    """The loss of a model in bits per character of a text.

    ``nats`` is −log p of each token of the text, with the natural logarithm. One tokenizer splits a text into
    many tokens, another into few, so mean losses per token cannot be compared. The number of characters is
    the same for all: sum the losses of the whole text, in bits, and divide by its number of characters. A bit
    is log 2 ≈ 0.693 nats. Spaces, punctuation, line breaks and each 汉字 are characters too. "a cat" as two
    tokens with losses of 2.77 and 4.16 nats, which are 4 and 6 bits, has 10 bits / 5 characters = 2.
    """
    bits = nats.sum() / torch.tensor(2.0).log()
    return float(bits / len(text))


def draw_costs(rng: Generator) -> Probes:
    """Inputs for 03.2: name → (loss of each token in nats, the text)."""
    def costs(tokens: int) -> Tensor:
        return 0.1 + 4 * rand(tokens, generator=rng)

    return {
        "two tokens, five characters": (torch.tensor([4.0, 6.0]) * log(2), "a cat"),
        "a token for each word": (costs(7), "The cat sat on the mat."),
        "accents": (costs(9), "Où est passé l’été ?"),
        "Chinese": (costs(5), "猫坐在垫子上。"),
        "more tokens than characters": (costs(6), "你好"),
        "spaces at both ends, and line breaks": (costs(8), "  so it goes,\n  and goes\n\n"),
        "a token with a loss of 120 nats": (torch.tensor([1.5, 120.0, 0.25]), "a zyzzyva"),
    }


def kneser_ney(counts: Float[Tensor, "first second"], discount: float) -> Float[Tensor, "first second"]:
    """The probability of each second word given each first word, with interpolated Kneser–Ney smoothing.

    ``counts`` is how often each pair of words occurs in a text. ``discount`` d is above 0 and below 1. The
    probability is max(count − d, 0) / n + d · kinds / n · follows(second). For each row, n is the sum of its
    counts, and kinds is the number of different words that follow this first word. follows(second) is the
    number of different first words that precede this word, divided by the number of all different pairs. The
    row of a first word that never occurs is follows. For counts [[3, 1], [0, 2]] and d = 0.5, follows is
    [1/3, 2/3], and the first row is [2.5/4 + 0.5·2/4·1/3, 0.5/4 + 0.5·2/4·2/3] = [0.708, 0.292].
    """
    n, seen = counts.sum(1, keepdim=True), counts > 0
    follows = seen.sum(0) / seen.sum()
    kept = (counts - discount).clamp(min=0) / n
    left = discount * seen.sum(1, keepdim=True) / n
    return torch.where(n > 0, kept + left * follows, follows)


def draw_pairs(rng: Generator) -> Probes:
    """Inputs for 03.3: name → (counts [first second], discount)."""
    def drawn(*shape: int, most: int = 6) -> Tensor:
        return (randint(1, most + 1, shape, generator=rng) * (rand(shape, generator=rng) < 0.6)).float()

    never = drawn(4, 5)
    never[1], never[:, 3] = 0, 0
    never[0, 0], never[2, 4] = 3, 1
    return {
        "two words": (torch.tensor([[3.0, 1], [0, 2]]), 0.5),
        "Francisco is frequent, but only after San":
            (torch.tensor([[0.0, 9, 0], [2, 0, 1], [1, 0, 3], [1, 0, 1]]), 0.75),
        "the same number of first and second words": (drawn(5, 5), 0.75),
        "words that never occur": (never, 0.6),
        "large counts, and another discount": (drawn(3, 6, most=200), 0.2),
        "a single first word": (torch.tensor([[4.0, 0, 1, 1]]), 0.9),
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
    Exercise(
        "03.2", "bits per character", bits_per_character, draw_costs,
        mistakes={
            "this is divided by the number of tokens, which depends on the tokenizer; divide by the number of "
            "characters": edit("len(text)", "len(nats)"),
            "this is the mean over the tokens, divided by the characters; divide the total loss of the text":
                edit("sum", "mean"),
            "these are nats: a bit is log 2 nats, so divide by log 2": edit(" / torch.tensor(2.0).log()", ""),
            "a second logarithm is taken: the losses are already logarithms; divide them by log 2":
                edit("nats.sum() / torch.tensor(2.0).log()", "nats.log2().sum()"),
            "e^−120 underflows in float32, and its logarithm is −∞: divide the nats by log 2, without computing "
            "probabilities": edit("nats.sum() / torch.tensor(2.0).log()", "-(-nats).exp().log2().sum()"),
            "the result is rounded down to an integer: // is not /": edit("bits / len", "bits // len"),
            "these are bits per byte, of which a 汉字 has three: len(text) counts characters":
                edit("len(text)", "len(text.encode())"),
            "these are bits per word": edit("len(text)", "len(text.split())"),
            "spaces are not counted; they are characters too": edit("len(text)", 'len(text.replace(" ", ""))'),
            "the text is stripped: spaces and line breaks at its ends are characters too":
                edit("len(text)", "len(text.strip())"),
        },
        hints=(
            "A text has a loss of 10 bits as two tokens. Another tokenizer splits it into five tokens with a loss of "
            "2 bits each. Which of the two models is better, and which metric shows it?",
            "Three steps: the loss of the whole text in nats, the loss in bits, and the bits per character. None of "
            "them uses the number of tokens.",
            ".sum() is the total. math.log(2), or torch.log of a tensor, is the number of nats per bit. len(text) is "
            "the number of characters of a text, not of bytes.",
        ),
    ),
    Exercise(
        "03.3", "Kneser–Ney smoothing", kneser_ney, draw_pairs,
        mistakes={
            "`follows` counts how often a word occurs; count how many different words precede it":
                edit("seen.sum(0) / seen.sum()", "counts.sum(0) / counts.sum()"),
            "`follows` sums over rows, .sum(1), the words that follow; count the words that precede, .sum(0)":
                edit("seen.sum(0)", "seen.sum(1)"),
            "the discounted mass is distributed uniformly; distribute it by `follows`":
                edit("seen.sum(0) / seen.sum()", "torch.full(counts.shape[1:], 1 / counts.shape[1])"),
            "zeros are discounted too, which makes probabilities negative: .clamp(min=0) is missing":
                edit(".clamp(min=0)", ""),
            "count - d / n is count − (d / n): count − d needs parentheses":
                edit("(counts - discount).clamp(min=0) / n", "(counts - discount / n).clamp(min=0)"),
            "every row redistributes d / n; it is d / n per different word that follows":
                edit(" * seen.sum(1, keepdim=True)", ""),
            "this is back-off: `follows` is used only for unseen pairs; interpolation adds it everywhere":
                edit("kept + left * follows", "torch.where(seen, kept, left * follows)"),
            "n and kinds are along the column axis: .sum(1) needs keepdim=True":
                edit("counts.sum(1, keepdim=True)", "counts.sum(1)", "seen.sum(1, keepdim=True)", "seen.sum(1)"),
            "0 divided by 0 is NaN: the row of a first word that never occurs is `follows`":
                edit("torch.where(n > 0, kept + left * follows, follows)", "kept + left * follows"),
            "the row of a first word that never occurs is zero; it is `follows`":
                edit("follows, follows)", "follows, 0.0)"),
        },
        properties={
            "a probability is outside 0 … 1": lambda out, *_: bool(((out >= -1e-4) & (out <= 1 + 1e-4)).all()),
            "the probabilities of a row do not sum to 1": lambda out, *_: bool(((out.sum(1) - 1).abs() < 1e-3).all()),
        },
        hints=(
            '"Francisco" occurs nine times, but only after "San"; "the" occurs three times, after three different '
            "words. Which is more likely after a word that you have never seen? And how much mass does each row lose "
            "if d is subtracted from every positive count?",
            "Make a boolean matrix of the pairs that occur at all. Its column sums are how many words precede each "
            "word, its row sums how many different words follow. The discounted mass of a row is redistributed to all "
            "words by `follows`. Handle rows with n = 0.",
            "(counts > 0).sum(0) gives column sums, .sum(1, keepdim=True) row sums as a column that broadcasts to the "
            "matrix. .clamp(min=0) is a lower bound of 0. torch.where(n > 0, table, row) takes the row where the "
            "matrix would be 0 / 0.",
        ),
    ),
    *exercises_search.EXERCISES,
)
