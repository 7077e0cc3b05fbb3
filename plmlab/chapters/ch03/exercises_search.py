"""Exercises 03.2 to 03.4: search, from one step of beam search to the most likely text."""

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
    """One step of beam search: the ``width`` best extensions of all hypotheses.

    scores[i] is the log-probability of hypothesis i so far, and logprobs[i, v] that of token v after it. Every
    hypothesis can be extended by every token, and the log-probability of the extension is the sum. Keep the
    ``width`` best of all extensions, regardless of the hypotheses they extend. Return three tensors, sorted
    from best to worst: the row of the hypothesis that is extended, the token, and the sum. An extension with a
    sum of −∞ is impossible and is left out; if fewer than ``width`` are left, return them all. Scores [−1, −3],
    with probabilities 0.6, 0.3, 0.1 after the first hypothesis and 0.8, 0.1, 0.1 after the second, and a width
    of 2, give rows [0, 0], tokens [0, 1] and sums [−1.51, −2.20].
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
    """Inputs for 03.2: name → (scores, logprobs, width)."""
    def drawn(open: int, vocab: int, width: int) -> tuple[Tensor, Tensor, int]:
        return -3 * rand(open, generator=rng) - 1, (1.5 * randn(open, vocab, generator=rng)).log_softmax(-1), width

    scores, logprobs, _ = drawn(3, 4, 8)
    logprobs[0, 1:], logprobs[1, 0], logprobs[2, :2] = -torch.inf, -torch.inf, -torch.inf
    far, after, _ = drawn(4, 6, 5)
    return {
        "two hypotheses, three tokens, two kept":
            (torch.tensor([-1.0, -3.0]), torch.tensor([[0.6, 0.3, 0.1], [0.8, 0.1, 0.1]]).log(), 2),
        "three hypotheses, five tokens, four kept": drawn(3, 5, 4),
        "as many hypotheses as tokens": drawn(4, 4, 4),
        "the first step: one hypothesis": (torch.zeros(1), drawn(1, 6, 3)[1], 3),
        "one kept": drawn(5, 3, 1),
        "impossible tokens": (scores, logprobs, 8),
        "a width above the number of extensions": drawn(2, 3, 10),
        "long texts, far below 0": (far - 160, after, 5),
    }


def rank_by_length_penalty(
    logprobs: Float[Tensor, "batch"], lengths: Int[Tensor, "batch"], prompt: int, alpha: float,
) -> tuple[Int[Tensor, "batch"], Float[Tensor, "batch"]]:
    """Rank finished texts by length-normalized score, best first; return the order and the sorted scores.

    logprobs[i] is the log-probability of the generated tokens of text i. ``lengths`` counts the tokens of the
    whole texts, of which the first ``prompt`` were given and not generated. The score is the log-probability
    divided by ((5 + n) / 6)**alpha, where n is the number of generated tokens (Wu et al. 2016). The order
    holds indices into ``logprobs``. Texts with equal scores keep their order. With a prompt of 2,
    log-probabilities [−4, −6], lengths [5, 15] and alpha = 1, the scores are −3 and −2: return
    ([1, 0], [−2, −3]).
    """
    written = lengths - prompt
    scores = logprobs / ((5 + written) / 6) ** alpha
    ordered, order = scores.sort(descending=True, stable=True)
    return order, ordered


def draw_texts(rng: Generator) -> Probes:
    """Inputs for 03.3: name → (logprobs, lengths, tokens of the prompt, alpha)."""
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
        "texts that occur twice": (equal[[0, 1, 2, 0, 3, 1, 4]], lengths[[0, 1, 2, 0, 3, 1, 4]], 4, 0.7),
        "a single text": drawn(1, 6, 0.9),
    }


def likeliest_text(
    next_logprobs: "Callable[[tuple[int, ...]], Tensor]", end: int, length: int,
) -> tuple[tuple[int, ...], float]:
    """Exact search: the most likely text under a language model, and its log-probability.

    A text is a tuple of tokens, initially (). next_logprobs(text) returns a tensor [vocab]: the
    log-probability of each possible next token. A text is finished when its last token is ``end``, even if
    that is its only one, or when it has ``length`` tokens, ``end`` included. Its log-probability is the sum
    over all of its tokens. Return the finished text with the largest sum, and that sum. There are too many
    texts to try them all, and each call of a large model is slow. But the log-probability of a text never
    increases as it grows. So do not call next_logprobs with a text that is less likely than a known finished
    text, or with a finished text: here it raises an error in both cases. Let 0 be the end. If 0, 1, 2 have
    the probabilities 0.1, 0.5, 0.4 at first, 0.3, 0.35, 0.35 after (1,) and 0.9, 0.05, 0.05 after (2,), and
    the length is 2, the result is (2, 0), with log 0.36.
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
    """The language model of 03.4: ``rows`` maps every unfinished text to the log-probabilities of its next token.

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
    """Inputs for 03.4: name → (next_logprobs, id of the end token, maximum length)."""
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
        "the end token first": drawn(1, 4, 0, 4),
        "the end is the last token": drawn(30, 4, 3, 4),
        "the end is in the middle": drawn(1165, 3, 1, 5),
        "a text of the maximum length": drawn(18, 4, 2, 4),
    }


EXERCISES = (
    Exercise(
        "03.2", "one step of beam search", beam_step, draw_beams,
        mistakes={
            "the `width` best extensions of each hypothesis are taken; take the `width` best of all": from_each,
            "each hypothesis is extended by its best token only; several extensions of one hypothesis may be kept":
                edit(".flatten()", "\n    sums = sums.where(sums == sums.amax(1, keepdim=True), -torch.inf).flatten()"),
            "// and % are swapped: // by the vocabulary size is the row, % is the token":
                edit("best.indices // vocab, best.indices % vocab", "best.indices % vocab, best.indices // vocab"),
            "the indices are divided by the number of hypotheses; divide by the vocabulary size, the length of a row":
                edit("logprobs.shape[1]", "len(scores)"),
            "the matrix is transposed before it is flattened, so that // and % give wrong indices":
                edit("flatten", "T.flatten"),
            "the scores so far are left out: only the new token is scored":
                edit("(scores[:, None] + logprobs)", "logprobs"),
            "the scores are along the token axis; scores[:, None] gives one score per row":
                edit("scores[:, None]", "scores"),
            "the probability of a long text underflows to 0, so that none is left: add log-probabilities, without exp":
                edit("scores[:, None] + logprobs).", "scores[:, None].exp() * logprobs.exp()).log()."),
            "topk cannot return more than there are: use min(width, …)":
                edit("min(width, int(sums.isfinite().sum()))", "width"),
            "extensions with a sum of −∞ are kept, which are impossible":
                edit("int(sums.isfinite().sum())", "sums.numel()"),
        },
        properties={
            "a row or a token is out of range: indices start at 0":
                lambda out, scores, logprobs, width: there(out, logprobs),
            "a sum is not the score of its row plus the log-probability of its token":
                lambda out, scores, logprobs, width: there(out, logprobs) and torch.allclose(
                    out[2].float(), (scores[:, None] + logprobs)[out[0].long(), out[1].long()], atol=1e-3),
            "the sums are not sorted: the largest comes first": lambda out, *_: bool((out[2].diff() <= 1e-4).all()),
        },
        hints=(
            "There are two hypotheses and three tokens. How many extensions are there? Can both that are kept come "
            "from the same hypothesis?",
            "Flatten the matrix of all sums [open vocab] and take the best of that. Index 4 of a flattened [2 3] "
            "matrix: which row and which column was it? And how many finite sums are there at all?",
            "scores[:, None] is a column that broadcasts to the matrix. .flatten() concatenates the rows; .topk(k) "
            "returns the largest, sorted, with their indices, but no more than there are. // and % by the vocabulary "
            "size are row and column. .isfinite() is False for −∞.",
        ),
    ),
    Exercise(
        "03.3", "the length penalty", rank_by_length_penalty, draw_texts,
        mistakes={
            "the log-probability is multiplied by the penalty: it is negative, so a long text gets a lower score; "
            "divide": edit("logprobs / (", "logprobs * ("),
            "the tokens of the prompt are counted; count only the generated ones": edit("lengths - prompt", "lengths"),
            "this is the mean per token; the penalty is ((5 + n) / 6)**alpha":
                edit("((5 + written) / 6) ** alpha", "written"),
            "the penalty is n**alpha; it is ((5 + n) / 6)**alpha": edit("((5 + written) / 6)", "written"),
            "only the 6 is raised: ** binds tighter than /, so (5 + n) / 6 needs parentheses":
                edit("/ 6) ** alpha", "/ 6 ** alpha)"),
            "only n is divided by 6: 5 + n needs parentheses": edit("(5 + written) / 6", "5 + written / 6"),
            "alpha multiplies the score; it is the exponent of the penalty, ** and not *": edit("** alpha", "* alpha"),
            "the whole score is raised to alpha, which is NaN for a negative number: raise only the penalty":
                edit("logprobs / ((5 + written) / 6)", "(logprobs / ((5 + written) / 6))"),
            "texts with equal scores are in reverse order: .flip and [::-1] reverse these too":
                edit("descending=True, ", "", "order, ordered", "order.flip(0), ordered.flip(0)"),
            "these are ranks, the position of each text in the order; return the text at each position":
                edit("return order", "return order.argsort()"),
        },
        properties={
            "the order does not contain each text exactly once": lambda out, logprobs, *_: torch.equal(
                out[0].sort().values.long(), torch.arange(len(logprobs))),
            "a score is positive: a log-probability is negative, and so is its quotient":
                lambda out, *_: bool((out[1] <= 1e-4).all()),
            "the scores are not sorted: the largest comes first": lambda out, *_: bool((out[1].diff() <= 1e-4).all()),
        },
        hints=(
            "Log-probabilities are negative. Is −6 better or worse after division by 3? Which tokens of a text has "
            "the model not generated?",
            "First compute the number of generated tokens of each text, then the penalty, then the scores; then sort "
            "them. Check the parentheses: the power comes last.",
            "x ** alpha raises all entries of a tensor, and binds tighter than /. x.sort(descending=True, "
            "stable=True) returns the sorted values and their indices; `stable` keeps the order of equal ones.",
        ),
    ),
    Exercise(
        "03.4", "exact search: the most likely text", likeliest_text, draw_models,
        mistakes={
            "this is greedy search: a likely beginning may have no likely continuation":
                edit("heapq.heappop(texts)", "heapq.heappop(texts)\n        texts.clear()"),
            "this is beam search with width 2, which may drop the prefix of the best text": beam_of_two,
            "the model is called with texts that cannot win: the log-probability of a text never increases as it grows":
                deep(lambda longer, before, best: longer > -torch.inf),
            "the text without the new token is compared with the best; compare the one with it":
                deep(lambda longer, before, best: before > best),
            "a maximum that starts at 0 finds nothing, because every log-probability is negative: start at −∞":
                deep(least=0.0),
            "the text with only the end token is left out: it is a valid text":
                deep(counts=lambda text, end: text != (end,)),
            "a text of the maximum length is left out: it is finished, too":
                deep(counts=lambda text, end: text[-1] == end),
            "0 is used as the end token; it is `end`": edit("(end,)", "(0,)"),
            "the first finished text that is generated is returned; a more likely one may still follow":
                edit("            heapq.heappush", "            if token == end or len(text) == length - 1:\n"
                     "                return (*text, token), logprob - cost\n            heapq.heappush"),
            "heapq returns the smallest first, which is the least likely: store the negative log-probability":
                edit("-cost", "cost", "cost - logprob", "cost + logprob"),
        },
        hints=(
            "You have found a finished text with log-probability −2. An unfinished one has −2.5. Can any extension of "
            "it be better?",
            "There are two ways. Depth-first: a recursive function that extends the text by each token in turn, but "
            "only if the longer text is still more likely than the best finished one so far. Best-first: keep all "
            "texts, unfinished and finished, in one priority queue and always extend the most likely; the first "
            "finished one that is popped is the answer. Why?",
            'Initialize the best with float("-inf"). (*text, token) is a text with one more token. Depth-first: '
            "`nonlocal best` lets an inner function change it. Best-first: heapq.heappush and heapq.heappop, which "
            "returns the smallest, so store (−log-probability, text).",
        ),
    ),
)
