"""Exercises of chapter 03: language models and decoding, from a perplexity to the likeliest text of all."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import product
from math import log
from typing import SupportsInt

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, rand, randint, randn

from plmlab.chapters.ch03 import mistakes, mistakes_search
from plmlab.exercises.exercise import Exercise, Probes


def perplexity_of(logits: Float[Tensor, "batch time vocab"], targets: Int[Tensor, "batch time"]) -> float:
    """Among how many equally likely tokens a model might as well be choosing: its perplexity.

    logits[i, t] are what the model says in slot t of text i, and targets[i, t] is the token that is
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
    """Inputs for 03.1: name → (logits [batch time vocab], targets with −100 where there is none)."""
    def drawn(vocab: int, time: int, *asked: range) -> tuple[Tensor, Tensor]:
        targets = torch.full((len(asked), time), -100)
        for text, slots in zip(targets, asked, strict=True):
            text[list(slots)] = randint(vocab, (len(slots),), generator=rng)
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
        "as many texts as slots and tokens": drawn(4, 4, range(4), range(2), range(3), range(1)),
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
    """Inputs for 03.2: name → (the nats of each token, the text)."""
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


def beam_step(
    scores: Float[Tensor, "open"], logprobs: Float[Tensor, "open vocab"], width: int,
) -> tuple[Int[Tensor, "rows"], Int[Tensor, "rows"], Float[Tensor, "rows"]]:
    """One step of beam search: the ``width`` best of all ways to go on.

    scores[i] is the log-probability of open text i so far, and logprobs[i, v] that of token v after it.
    Any open text may go on with any token, and the log-probability of that is the sum. Keep the
    ``width`` best of them all, whichever texts they come from. Give three tensors, the best first: the
    open text that each goes on from (its row), the token, and the sum. A sum of −∞ cannot be written,
    and is left out; where fewer than ``width`` are left, give them all.
    Scores [−1, −3], with the chances 0.6, 0.3, 0.1 after the first text and 0.8, 0.1, 0.1 after the second, and
    a width of 2, give rows [0, 0], tokens [0, 1] and sums [−1.51, −2.20].
    """
    sums = (scores[:, None] + logprobs).flatten()
    best = sums.topk(min(width, int(sums.isfinite().sum())))
    vocab = logprobs.shape[1]
    return best.indices // vocab, best.indices % vocab, best.values


def draw_beams(rng: Generator) -> Probes:
    """Inputs for 03.4: name → (scores, logprobs, width)."""
    def drawn(open: int, vocab: int, width: int) -> tuple[Tensor, Tensor, int]:
        return -3 * rand(open, generator=rng) - 1, (1.5 * randn(open, vocab, generator=rng)).log_softmax(-1), width

    scores, logprobs, _ = drawn(3, 4, 8)
    logprobs[0, 1:], logprobs[1, 0], logprobs[2, :2] = -torch.inf, -torch.inf, -torch.inf
    far, after, _ = drawn(4, 6, 5)
    return {
        "two texts, three tokens, two kept":
            (torch.tensor([-1.0, -3.0]), torch.tensor([[0.6, 0.3, 0.1], [0.8, 0.1, 0.1]]).log(), 2),
        "three texts, five tokens, four kept": drawn(3, 5, 4),
        "as many texts as tokens": drawn(4, 4, 4),
        "the first step: one text is open": (torch.zeros(1), drawn(1, 6, 3)[1], 3),
        "one kept": drawn(5, 3, 1),
        "tokens that may not be written": (scores, logprobs, 8),
        "wider than what there is": drawn(2, 3, 10),
        "long texts, far below 0": (far - 160, after, 5),
    }


def rank_by_length_penalty(
    logprobs: Float[Tensor, "batch"], lengths: Int[Tensor, "batch"], prompt: int, alpha: float,
) -> tuple[Int[Tensor, "batch"], Float[Tensor, "batch"]]:
    """The order of some finished texts, the best first, and their scores in that order.

    logprobs[i] is the log-probability of what was written in text i. ``lengths`` counts the tokens of the
    whole texts, of which the first ``prompt`` were given and not written. The score is the
    log-probability, divided by ((5 + n) / 6)**alpha, where n counts the tokens that were written (Wu et al.
    2016). The order holds places in ``logprobs``. Of equal texts the one given earlier stands first.
    With a prompt of 2, log-probabilities [−4, −6] of lengths [5, 15] and alpha = 1 have the scores −3 and
    −2: give ([1, 0], [−2, −3]).
    """
    written = lengths - prompt
    scores = logprobs / ((5 + written) / 6) ** alpha
    ordered, order = scores.sort(descending=True, stable=True)
    return order, ordered


def draw_texts(rng: Generator) -> Probes:
    """Inputs for 03.5: name → (logprobs, lengths, tokens of the prompt, alpha)."""
    def drawn(texts: int, prompt: int, alpha: float) -> tuple[Tensor, Tensor, int, float]:
        written = randint(1, 25, (texts,), generator=rng)
        return -(0.5 + rand(texts, generator=rng)) * written ** 0.7, written + prompt, prompt, alpha

    equal, lengths, _, _ = drawn(6, 4, 0.7)
    return {
        "two texts": (torch.tensor([-4.0, -6.0]), torch.tensor([5, 15]), 2, 1.0),
        "seven texts": drawn(7, 3, 0.6),
        "a long prompt": drawn(8, 30, 0.8),
        "no prompt": drawn(5, 0, 0.7),
        "alpha = 0": drawn(6, 5, 0.0),
        "texts that come twice": (equal[[0, 1, 2, 0, 3, 1, 4]], lengths[[0, 1, 2, 0, 3, 1, 4]], 4, 0.7),
        "a single text": drawn(1, 6, 0.9),
    }


def likeliest_text(
    next_logprobs: "Callable[[tuple[int, ...]], Tensor]", end: int, length: int,
) -> tuple[tuple[int, ...], float]:
    """The likeliest of all texts that a language model can write, and its log-probability.

    A text is a tuple of tokens, and () is where it begins. next_logprobs(text) gives a tensor [vocab]: the
    log-probability of each token that may come next. A text is finished when its last token is ``end``, also
    if that is its only one, or when it has ``length`` tokens, ``end`` counted. Its log-probability is the sum
    over all of its tokens. Give the finished text with the largest sum, and that sum.
    There are too many texts to try all, and each call takes a large model a while. But a text only
    loses as it grows. So do not ask about one that is less likely than a finished text you have come upon,
    nor about one that is finished: here next_logprobs raises an error then. Let 0 be the end. If 0, 1, 2
    have the chances 0.1, 0.5, 0.4 at first, 0.3, 0.35, 0.35 after (1,) and 0.9, 0.05, 0.05 after (2,), and
    the length is 2, it is (2, 0), with log 0.36.
    """
    import heapq
    texts: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    while True:
        cost, text = heapq.heappop(texts)
        if text[-1:] == (end,) or len(text) == length:
            return text, -cost
        for token, logprob in enumerate(next_logprobs(text).tolist()):
            heapq.heappush(texts, (cost - logprob, (*text, token)))


class CannotWin(ValueError):
    """A model was asked about a text that is finished, or less likely than a finished one it has shown."""


@dataclass
class LittleModel:
    """What 03.6 asks: ``rows`` has the log-probabilities of all next tokens for every text that is not finished.

    Called with a text, it gives that row [vocab]. CannotWin if the text is finished; or if it is less likely than a
    finished text which was shown by the row of a shorter text that it does not begin with. So whoever goes into the
    depth, and whoever reads all texts of a length before the next, may look at the rows in any order.
    """

    rows: dict[tuple[int, ...], tuple[float, ...]]
    end: int
    length: int
    asked: list[tuple[int, ...]] = field(default_factory=list, compare=False, repr=False)

    def __call__(self, text: Iterable[SupportsInt]) -> Float[Tensor, "vocab"]:
        """The log-probability of each token that may come next."""
        begun = tuple(map(int, text))
        if begun not in self.rows:
            raise CannotWin(f"next_logprobs was asked about {begun}, which is finished or has an unknown token")
        elsewhere = [other for other in self.asked if len(other) < len(begun) and begun[: len(other)] != other]
        best = max((text for other in elsewhere for text in self.finished(other)), key=self.logprob, default=begun)
        if self.logprob(begun) < self.logprob(best) - 1e-4:
            raise CannotWin(f"next_logprobs was asked about {begun}, with a log-probability of "
                            f"{self.logprob(begun):.2f}: {best} is finished and has {self.logprob(best):.2f}")
        self.asked.append(begun)
        return torch.tensor(self.rows[begun])

    def finished(self, text: tuple[int, ...]) -> list[tuple[int, ...]]:
        """The texts, one token longer, that are finished."""
        return [(*text, token) for token in range(len(self.rows[text]))
                if token == self.end or len(text) == self.length - 1]

    def logprob(self, text: tuple[int, ...]) -> float:
        """The sum over a text's tokens, in nats."""
        return sum((self.rows[text[:slot]][token] for slot, token in enumerate(text)), 0.0)


def draw_models(rng: Generator) -> Probes:
    """Inputs for 03.6: name → (next_logprobs, the end's token, the longest length)."""
    def drawn(seed: int, vocab: int, end: int, length: int) -> tuple[LittleModel, int, int]:
        """A model whose best text is not found by beam search with a width of 1 or 2: the seeds were chosen so."""
        rng.manual_seed(seed)
        less = torch.eye(vocab)[end]
        rows = {text: tuple((randn(vocab, generator=rng) - less).log_softmax(-1).tolist())
                for size in range(length) for text in product(sorted({*range(vocab)} - {end}), repeat=size)}
        return LittleModel(rows, end, length), end, length

    def made(end: int, length: int, chances: dict[tuple[int, ...], list[float]]) -> tuple[LittleModel, int, int]:
        return LittleModel({text: tuple(torch.tensor(row).log().tolist()) for text, row in chances.items()},
                           end, length), end, length

    return {
        "two tokens at most": made(0, 2, {(): [0.1, 0.5, 0.4], (1,): [0.3, 0.35, 0.35], (2,): [0.9, 0.05, 0.05]}),
        "one token, and one that is impossible": made(1, 1, {(): [0.2, 0.35, 0.0, 0.45]}),
        "three tokens at most": drawn(20, 4, 1, 3),
        "the end at once": drawn(1, 4, 0, 4),
        "the end is the last token": drawn(30, 4, 3, 4),
        "the end is in the middle": drawn(1165, 3, 1, 5),
        "a text cut at its full length": drawn(18, 4, 2, 4),
    }


EXERCISES = (
    Exercise(
        "03.1", "a perplexity", perplexity_of, draw_logits,
        mistakes=mistakes.PERPLEXITY,
        hints=(
            "Four tokens that are equally likely have the chance 1/4 each. What is −log of that, and e to it? And if "
            "one text has 9 targets and another has 1, how much does each target count?",
            "Forget which text a slot belongs to: lay all slots that count in one long row. Log-probabilities, one of "
            "each slot, their mean, and e to minus it, in this order.",
            "targets != -100 is a mask, and logits[mask] are [counted vocab]. .log_softmax(-1) keeps large logits "
            "finite. .gather(-1, ids[:, None]) takes a number of each row. Or torch.nn.functional.cross_entropy, which "
            "leaves −100 out by itself. .exp() is e to the power.",
        ),
    ),
    Exercise(
        "03.2", "bits for a character", bits_per_character, draw_costs,
        mistakes=mistakes.BITS,
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
        mistakes=mistakes.KNESER_NEY, properties=mistakes.OF_CHANCES,
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
    Exercise(
        "03.4", "one step of beam search", beam_step, draw_beams,
        mistakes=mistakes_search.BEAM, properties=mistakes_search.OF_A_STEP,
        hints=(
            "Two texts are open, and there are three tokens. How many ways to go on are there? May both that are kept "
            "come from the same text?",
            "Lay the table of all sums [open vocab] in one long row and take the best of that. Place 4 of a row that "
            "was [2 3] before: in which row did it stand, and in which column? And how many can be had at all?",
            "scores[:, None] is a column that fits to the table. .flatten() lays rows end to end; .topk(k) gives the "
            "largest, in order, with their places, but no more than there are. // and % by the size of the vocabulary "
            "are row and column. .isfinite() is False for −∞.",
        ),
    ),
    Exercise(
        "03.5", "the length penalty", rank_by_length_penalty, draw_texts,
        mistakes=mistakes_search.RANK, properties=mistakes_search.OF_A_RANK,
        hints=(
            "Log-probabilities are below 0. Is −6 better or worse after it was divided by 3? Which of the tokens in a "
            "text has the model not written?",
            "First the number of written tokens of each text, then the penalty, then the scores; then put them in "
            "order. Mind which parentheses hold what: the power comes last.",
            "x ** alpha raises all numbers of a tensor, and binds tighter than /. x.sort(descending=True, stable=True) "
            "gives the numbers in order and the places they came from; `stable` leaves equal ones as they stood.",
        ),
    ),
    Exercise(
        "03.6", "the likeliest text of all", likeliest_text, draw_models,
        mistakes=mistakes_search.LIKELIEST,
        hints=(
            "You have found a finished text with the log-probability −2. An open one has −2.5. What can become of it, "
            "whatever tokens are added?",
            "Two ways. Go into the depth: a function that goes on with each token in turn and calls itself, but only "
            "if the longer text is still likelier than the best finished one so far. Or keep all texts, open and "
            "finished, in one pile, and always go on with the likeliest: the first finished one that comes up is the "
            "answer. Why?",
            "float(\"-inf\") is what the best begins with. (*text, token) is a text with one token more. Into the "
            "depth: `nonlocal best` lets an inner function change it. With a pile: heapq.heappush and heapq.heappop, "
            "which gives the smallest, so store minus the log-probability in front of each text.",
        ),
    ),
)
