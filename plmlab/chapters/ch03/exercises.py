"""Exercises of chapter 03: language models and decoding, from perplexity to exact search."""

from math import log

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, rand, randint, randn

from plmlab.chapters.ch03 import exercises_search
from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def perplexity_of(logits: Float[Tensor, "batch time vocab"], targets: Int[Tensor, "batch time"]) -> float:
    """Among how many equally likely tokens a model might as well be choosing: its perplexity.

    logits[i, t] are what the model says in position t of text i, and targets[i, t] is the token that is
    right there. A target of −100 is no token: it does not count. Take −log p(target), with the
    natural logarithm, and its mean over all targets of the batch that count, each as much as any
    other. The perplexity is e to that mean. Two targets, one with the chance 1/2 and the other with
    1/8, come to 4. Logits in the hundreds must do no harm.
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
        "chances of 1/2 and 1/8": (torch.tensor([[[0.5, 0.25, 0.125, 0.125], [0.25, 0.5, 0.125, 0.125]]]).log(),
                                   torch.tensor([[0, 2]])),
        "three texts of different lengths": drawn(7, 5, range(5), range(1), range(3)),
        "padding before the text, and within": drawn(4, 6, range(3, 6), range(0, 6, 2)),
        "as many texts as positions and tokens": drawn(4, 4, range(4), range(2), range(3), range(1)),
        "logits in the hundreds": (hundreds, most),
        "all logits far below 0": (far - 150, targets),
    }


def bits_per_character(nats: Float[Tensor, "time"], text: str) -> float:
    """How many bits a model needs for each character of a text.

    ``nats`` has −log p of each token that the text was cut into, by the natural logarithm. One
    tokenizer makes many tokens of a text, another makes few, so that means over tokens cannot be
    compared. The text has the same characters for all: add up what the whole text costs, in bits, and
    divide by the number of its characters. A bit is log 2 ≈ 0.693 nats. Spaces, punctuation and line
    breaks are characters too, and so is each 汉字. "a cat" as two tokens that cost 2.77 and 4.16 nats,
    which are 4 and 6 bits, comes to 10 bits / 5 characters = 2.
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
        "a token that costs 120 nats": (torch.tensor([1.5, 120.0, 0.25]), "a zyzzyva"),
    }


def kneser_ney(counts: Float[Tensor, "first second"], discount: float) -> Float[Tensor, "first second"]:
    """The chance of each second word after each first, by Kneser and Ney's interpolation.

    ``counts`` says how often each pair of words comes in a text. ``discount`` d is above 0 and below 1.
    The chance is max(count − d, 0) / n, plus d · kinds / n · follows(second). For each row, n is the
    sum of its counts, and kinds is how many different words follow this first word. follows(second) is
    the number of different first words that this word comes after, divided by the number of all
    different pairs. A first word that never comes has follows itself as its row.
    For counts [[3, 1], [0, 2]] and d = 0.5, follows is [1/3, 2/3], and the first row is
    [2.5/4 + 0.5·2/4·1/3, 0.5/4 + 0.5·2/4·2/3] = [0.708, 0.292].
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
        "Francisco comes often, but only after San":
            (torch.tensor([[0.0, 9, 0], [2, 0, 1], [1, 0, 3], [1, 0, 1]]), 0.75),
        "as many first words as second": (drawn(5, 5), 0.75),
        "words that never come": (never, 0.6),
        "often, and another discount": (drawn(3, 6, most=200), 0.2),
        "a single first word": (torch.tensor([[4.0, 0, 1, 1]]), 0.9),
    }


EXERCISES = (
    Exercise(
        "03.1", "a perplexity", perplexity_of, draw_logits,
        mistakes={
            "the softmax is taken twice: cross_entropy wants the logits, and takes the softmax itself":
                edit(".log_softmax", ".softmax(-1).log_softmax"),
            "the logarithm is missing: this is e to the mean of −p, not of −log p (nll_loss takes no logarithm)":
                edit("log_softmax", "softmax"),
            "2 is raised to a loss in nats: a natural logarithm goes with e, a logarithm to base 2 with 2":
                edit(".exp()", ".exp2()"),
            "this is the mean of 1/p, token by token; take the mean of the logarithms first, and then e to it":
                edit("(-said.mean()).exp()", "(-said).exp().mean()"),
            "the mean is taken text by text: a short text then counts as much as a long one":
                edit("-said.mean()", "text_by_text(logits, targets)"),
            "the mean divides by all positions, those with −100 too": edit("said.mean()",
                                                                           "said.sum() / targets.numel()"),
            "a view to [batch vocab time] mixes positions and tokens: .transpose(1, 2) swaps two axes, .view does not":
                edit("logits[counted]", "cut_across(logits)[counted]"),
            "a probability underflows to 0, and its logarithm is −∞: take .log_softmax of the logits":
                edit("log_softmax(-1)", "softmax(-1).log()"),
            "exp of a large logit is infinite, and of one far below 0 it is 0: .logsumexp knows how to add them up":
                edit("logits[counted].log_softmax(-1)",
                     "logits[counted] - logits[counted].exp().sum(-1, keepdim=True).log()"),
            "a maximum that starts at 0 stays 0 where all logits are negative: start at −∞, or take .log_softmax":
                edit("logprobs = logits[counted].log_softmax(-1)",
                     "rest = logits[counted] - largest_from_zero(logits[counted])\n"
                     "    logprobs = rest - rest.exp().sum(-1, keepdim=True).log()"),
        },
        hints=(
            "Four tokens that are equally likely have the chance 1/4 each. What is −log of that, and e to it? And if "
            "one text has 9 targets and another has 1, how much does each target count?",
            "Forget which text a position belongs to: lay all positions that count in one long row. Log-probabilities, "
            "one of each position, their mean, and e to minus it, in this order.",
            "targets != -100 is a mask, and logits[mask] are [counted vocab]. .log_softmax(-1) keeps large logits "
            "finite. .gather(-1, ids[:, None]) takes a number of each row. Or torch.nn.functional.cross_entropy, which "
            "leaves −100 out by itself. .exp() is e to the power.",
        ),
    ),
    Exercise(
        "03.2", "bits for a character", bits_per_character, draw_costs,
        mistakes={
            "this is divided by the number of tokens; tokenizers differ in that, and not in the number of characters":
                edit("len(text)", "len(nats)"),
            "this is the mean over the tokens, divided by the characters; the whole text's cost is divided by them":
                edit("sum", "mean"),
            "these are nats: a bit is log 2 of them, so divide by that": edit(" / torch.tensor(2.0).log()", ""),
            "a second logarithm is taken: the losses are logarithms already, and a bit is log 2 of a nat":
                edit("nats.sum() / torch.tensor(2.0).log()", "nats.log2().sum()"),
            "e^−120 is 0 in float32, and its logarithm is −∞: divide the nats by log 2, without going back to chances":
                edit("nats.sum() / torch.tensor(2.0).log()", "-(-nats).exp().log2().sum()"),
            "the bits are cut to whole numbers: // is not /": edit("bits / len", "bits // len"),
            "these are bits for each byte, of which a 汉字 has three: len(text) counts characters":
                edit("len(text)", "len(text.encode())"),
            "these are bits for each word": edit("len(text)", "len(text.split())"),
            "spaces are not counted; they are characters too": edit("len(text)", 'len(text.replace(" ", ""))'),
            "the text is stripped: the spaces and line breaks at its ends are characters too":
                edit("len(text)", "len(text.strip())"),
        },
        hints=(
            "A text costs 10 bits as two tokens. Another tokenizer makes five tokens of it, which cost 2 bits each. "
            "Which of the two models is better, and by which number can one see that?",
            "Three steps: the cost of the whole text in nats, that in bits, and that for each character. The number of "
            "tokens is in none of them.",
            ".sum() adds up. math.log(2), or torch.log of a tensor, says how many nats a bit is. len(text) counts the "
            "characters of a text, not its bytes.",
        ),
    ),
    Exercise(
        "03.3", "Kneser and Ney", kneser_ney, draw_pairs,
        mistakes={
            "`follows` is how often a word comes; it is after how many different words it comes":
                edit("seen.sum(0) / seen.sum()", "counts.sum(0) / counts.sum()"),
            "`follows` adds up rows, .sum(1), how many words follow each; it is after how many each comes, .sum(0)":
                edit("seen.sum(0)", "seen.sum(1)"),
            "what a row has lost goes to all words alike; it goes to them by `follows`":
                edit("seen.sum(0) / seen.sum()", "torch.full(counts.shape[1:], 1 / counts.shape[1])"),
            "the discount is taken from zeros too, and chances fall below 0: .clamp(min=0) is missing":
                edit(".clamp(min=0)", ""),
            "count - d / n is count − (d / n): count − d stands in parentheses of its own":
                edit("(counts - discount).clamp(min=0) / n", "(counts - discount / n).clamp(min=0)"),
            "every row shares out d / n; it is d / n for each different word that follows":
                edit(" * seen.sum(1, keepdim=True)", ""),
            "this is backing off: `follows` counts only where a pair never comes; interpolation adds it everywhere":
                edit("kept + left * follows", "torch.where(seen, kept, left * follows)"),
            "n and kinds lie along the columns: .sum(1) needs keepdim=True":
                edit("counts.sum(1, keepdim=True)", "counts.sum(1)", "seen.sum(1, keepdim=True)", "seen.sum(1)"),
            "0 divided by 0 is NaN: a first word that never comes has `follows` as its row":
                edit("torch.where(n > 0, kept + left * follows, follows)", "kept + left * follows"),
            "a first word that never comes has zeros; its row is `follows`": edit("follows, follows)", "follows, 0.0)"),
        },
        properties={
            "a chance lies beyond 0 and 1": lambda out, *_: bool(((out >= -1e-4) & (out <= 1 + 1e-4)).all()),
            "the chances of a row do not add up to 1": lambda out, *_: bool(((out.sum(1) - 1).abs() < 1e-3).all()),
        },
        hints=(
            '"Francisco" comes nine times, but only ever after "San"; "the" comes three times, after three words. '
            "Which of the two would you rather expect after a word that you have never seen? And how much does each "
            "row lose, if every count in it that is above 0 loses d?",
            "Make a table of what has been seen at all, True or False. Its sums down the columns say after how many "
            "words each one comes, its sums along the rows how many different words follow. What a row loses is given "
            "to all words again, by `follows`. Where n is 0, look again.",
            "(counts > 0).sum(0) adds up columns, .sum(1, keepdim=True) rows, as a column that fits to the table. "
            ".clamp(min=0) keeps numbers from falling below 0. torch.where(n > 0, table, row) takes the row where the "
            "table would be 0 / 0.",
        ),
    ),
    *exercises_search.EXERCISES,
)
