"""Exercises 03.4 to 03.6: search, from one step of beam search to the most likely text."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import SupportsInt

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, rand, randint, randn

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


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


def from_each(scores: Tensor, logprobs: Tensor, width: int) -> tuple[Tensor, ...]:
    """Beam step for each hypothesis separately: its best ``width`` extensions."""
    steps = [beam_step(scores[[row]], logprobs[[row]], width) for row in range(len(scores))]
    rows, tokens, sums = (torch.cat(parts) for parts in zip(*steps, strict=True))
    return rows + torch.tensor([row for row, step in enumerate(steps) for _ in step[0]]), tokens, sums


def there(out: tuple[Tensor, ...], logprobs: Tensor) -> bool:
    """Whether all rows and token ids are within the table's range."""
    return all(bool(((part >= 0) & (part < size)).all()) for part, size in zip(out, logprobs.shape, strict=False))


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


Asked = Callable[[tuple[int, ...]], Tensor]
Found = tuple[tuple[int, ...], float]


def beam_of_two(next_logprobs: Asked, end: int, length: int) -> Found:
    """Beam search of width 2 over open and finished hypotheses."""
    kept: list[Found] = [((), 0.0)]
    for _ in range(length):
        grown = [found for found in kept if found[0][-1:] == (end,)]
        grown += [((*text, token), total + logprob) for text, total in kept if text[-1:] != (end,)
                  for token, logprob in enumerate(next_logprobs(text).tolist())]
        kept = sorted(grown, key=lambda found: -found[1])[:2]
    return kept[0]


def deep(
    go: Callable[[float, float, float], bool] = lambda longer, before, best: longer > best,
    counts: Callable[[tuple[int, ...], int], bool] = lambda text, end: True, least: float = -torch.inf,
) -> Callable[[Asked, int, int], Found]:
    """Depth-first search with a configurable flaw: the pruning test ``go`` (of the log-probabilities of the extended
    text, of the text, and of the best so far), which finished texts count, and the initial best value ``least``. """
    def answer(next_logprobs: Asked, end: int, length: int) -> Found:
        best: Found = (), least

        def search(text: tuple[int, ...], total: float) -> None:
            nonlocal best
            if text[-1:] == (end,) or len(text) == length:
                if counts(text, end) and total > best[1]:
                    best = text, total
                return
            for token, logprob in enumerate(next_logprobs(text).tolist()):
                if go(total + logprob, total, best[1]):
                    search((*text, token), total + logprob)

        search((), 0.0)
        return best
    return answer


class CannotWin(ValueError):
    """The model was called with a finished text, or with one that is less likely than a known finished text."""


@dataclass
class LittleModel:
    """The language model of 03.6: ``rows`` maps every unfinished text to the log-probabilities of its next token.

    A call with a text returns that row `[vocab]`. Raises CannotWin if the text is finished, or if it is less likely
    than a finished text that a previous call with a shorter text, not a prefix of this one, has revealed. This allows
    depth-first and breadth-first search, with rows visited in any order. """

    rows: dict[tuple[int, ...], tuple[float, ...]]
    end: int
    length: int
    asked: list[tuple[int, ...]] = field(default_factory=list, compare=False, repr=False)

    def __call__(self, text: Iterable[SupportsInt]) -> Float[Tensor, "vocab"]:
        """Log-probabilities of the next token."""
        begun = tuple(map(int, text))
        if begun not in self.rows:
            raise CannotWin(f"next_logprobs was called with {begun}, which is finished or contains an unknown token")
        elsewhere = [other for other in self.asked if len(other) < len(begun) and begun[: len(other)] != other]
        best = max((text for other in elsewhere for text in self.finished(other)), key=self.logprob, default=begun)
        if self.logprob(begun) < self.logprob(best) - 1e-4:
            raise CannotWin(f"next_logprobs was called with {begun}, whose log-probability is "
                            f"{self.logprob(begun):.2f}: {best} is finished and has {self.logprob(best):.2f}")
        self.asked.append(begun)
        return torch.tensor(self.rows[begun])

    def finished(self, text: tuple[int, ...]) -> list[tuple[int, ...]]:
        """The finished texts that extend a text by one token."""
        return [(*text, token) for token in range(len(self.rows[text]))
                if token == self.end or len(text) == self.length - 1]

    def logprob(self, text: tuple[int, ...]) -> float:
        """Log-probability of a text in nats."""
        return sum((self.rows[text[:position]][token] for position, token in enumerate(text)), 0.0)


def draw_models(rng: Generator) -> Probes:
    """Inputs for 03.6: name → (next_logprobs, id of the end token, maximum length)."""
    def drawn(seed: int, vocab: int, end: int, length: int) -> tuple[LittleModel, int, int]:
        """A random model; the seeds are chosen so that beam search of width 1 or 2 misses its best text."""
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
        "03.4", "one step of beam search", beam_step, draw_beams,
        mistakes={
            "the best of each open text are taken, `width` of each; take the `width` best of all": from_each,
            "each open text goes on with its best token only; two that are kept may come from one text":
                edit(".flatten()", "\n    sums = sums.where(sums == sums.amax(1, keepdim=True), -torch.inf).flatten()"),
            "// and % have changed places: // by the vocabulary is the row, % is the token":
                edit("best.indices // vocab, best.indices % vocab", "best.indices % vocab, best.indices // vocab"),
            "the places are divided by the number of open texts; a row of the table is as long as the vocabulary":
                edit("logprobs.shape[1]", "len(scores)"),
            "the table is laid on its side before it becomes one row, so that // and % find wrong places":
                edit("flatten", "T.flatten"),
            "the scores so far are left out: only the new token counts":
                edit("(scores[:, None] + logprobs)", "logprobs"),
            "the scores lie along the tokens; scores[:, None] gives each row its own":
                edit("scores[:, None]", "scores"),
            "the chance of a long text underflows to 0, so that none is left: add logarithms, and never take exp of "
            "them": edit("scores[:, None] + logprobs).", "scores[:, None].exp() * logprobs.exp()).log()."),
            "topk cannot give more than there are: ask for min(width, …)":
                edit("min(width, int(sums.isfinite().sum()))", "width"),
            "steps with a sum of −∞ are kept, which cannot be written":
                edit("int(sums.isfinite().sum())", "sums.numel()"),
        },
        properties={
            "a row or a token is not there: they are counted from 0":
                lambda out, scores, logprobs, width: there(out, logprobs),
            "a sum is not the score of its row plus the log-probability of its token":
                lambda out, scores, logprobs, width: there(out, logprobs) and torch.allclose(
                    out[2].float(), (scores[:, None] + logprobs)[out[0].long(), out[1].long()], atol=1e-3),
            "the sums are not in order: the largest comes first": lambda out, *_: bool((out[2].diff() <= 1e-4).all()),
        },
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
        mistakes={
            "the log-probability is multiplied by the penalty: being below 0, it falls for a long text; divide":
                edit("logprobs / (", "logprobs * ("),
            "the prompt's tokens are counted; only what was written counts": edit("lengths - prompt", "lengths"),
            "this is the mean for each token; the penalty is ((5 + n) / 6)**alpha":
                edit("((5 + written) / 6) ** alpha", "written"),
            "the penalty is n**alpha; it is ((5 + n) / 6)**alpha": edit("((5 + written) / 6)", "written"),
            "only the 6 is raised: ** binds tighter than /, so (5 + n) / 6 stands in parentheses of its own":
                edit("/ 6) ** alpha", "/ 6 ** alpha)"),
            "only n is divided by 6: 5 + n stands in parentheses": edit("(5 + written) / 6", "5 + written / 6"),
            "alpha multiplies the score; it is a power, ** and not *, and that of the penalty":
                edit("** alpha", "* alpha"),
            "the whole score is raised, and a number below 0 has no such power: only the penalty has":
                edit("logprobs / ((5 + written) / 6)", "(logprobs / ((5 + written) / 6))"),
            "of equal texts the later stands first: a row that is turned round, .flip or [::-1], turns those round too":
                edit("descending=True, ", "", "order, ordered", "order.flip(0), ordered.flip(0)"),
            "these are ranks, the place that each text comes to; asked is which text stands at each place":
                edit("return order", "return order.argsort()"),
        },
        properties={
            "the order does not name each text once": lambda out, logprobs, *_: torch.equal(
                out[0].sort().values.long(), torch.arange(len(logprobs))),
            "a score is above 0: a log-probability is below, and so is what it is divided to":
                lambda out, *_: bool((out[1] <= 1e-4).all()),
            "the scores are not in order: the largest comes first": lambda out, *_: bool((out[1].diff() <= 1e-4).all()),
        },
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
        mistakes={
            "the likeliest token is taken at each step; a likely beginning may have no likely end":
                edit("heapq.heappop(texts)", "heapq.heappop(texts)\n        texts.clear()"),
            "this keeps two texts after each token: beam search, which may drop the beginning of the best": beam_of_two,
            "this asks about texts that cannot win any more: a text that is less likely than a finished one only loses "
            "more": deep(lambda longer, before, best: longer > -torch.inf),
            "the text before the new token is compared with the best; compare the one with it":
                deep(lambda longer, before, best: before > best),
            "a maximum that starts at 0 finds nothing, for every log-probability is below 0: begin with −∞":
                deep(least=0.0),
            "the end at once is left out: it is a text as any other": deep(counts=lambda text, end: text != (end,)),
            "a text that is cut at its full length is left out: it is finished, too":
                deep(counts=lambda text, end: text[-1] == end),
            "the end is taken to be 0; it is `end`": edit("(end,)", "(0,)"),
            "the first finished text that comes up is taken; a likelier one may still come":
                edit("            heapq.heappush", "            if token == end or len(text) == length - 1:\n"
                     "                return (*text, token), logprob - cost\n            heapq.heappush"),
            "heapq gives the smallest first, and that is the least likely: store minus the log-probability":
                edit("-cost", "cost", "cost - logprob", "cost + logprob"),
        },
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
