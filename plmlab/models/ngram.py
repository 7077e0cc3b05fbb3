"""N-gram language models (n 元语法): the next token is counted, after the few that come before it.

Raw counts (maximum likelihood), counts with k added to each, and interpolated Kneser–Ney (Kneser and Ney 1995; Chen
and Goodman 1998), with one discount an order or with three. Nothing is trained by gradients: to read is to count. A
text begins with as many [START] as a context holds and ends with [END].
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from plmlab.decode.autoregressive import UncachedLM
from plmlab.example import Batch
from plmlab.text.vocabulary import Vocabulary

Context = tuple[int, ...]
Counts = dict[Context, dict[int, int]]
"""Context → next token → how often."""


class NGram(UncachedLM):
    """Raw counts: p(w | context) = c(context w) / c(context), the maximum likelihood estimate.

    What was never counted has probability 0, and so has everything after a context that was never seen. An
    `AutoregressiveModel`, so that all of ``plmlab.decode`` writes with it.

    Args:
        sentences: ids of texts, without [START] and [END].
        order: the n of n-gram: a token is counted after the ``order`` − 1 before it.
        vocab: whose words, [UNK] and [END] can be said.

    ValueError for an order below 1, for no sentences, and for a vocabulary without [START] or [END].
    """

    def __init__(self, sentences: Iterable[Sequence[int]], order: int, vocab: Vocabulary) -> None:
        if order < 1:
            raise ValueError(f"order={order}: an n-gram has 1 token or more (1 counts words, 2 counts pairs)")
        self.order, self.vocab = order, vocab
        self.counts: Counts = defaultdict(Counter)
        padding, end = (vocab.need("start"),) * (order - 1), vocab.need("end")
        for sentence in sentences:
            tokens = (*padding, *sentence, end)
            for place in range(order - 1, len(tokens)):
                for length in range(order):
                    self.counts[tokens[place - length:place]][tokens[place]] += 1
        if not self.counts:
            raise ValueError("there is nothing to count: give one sentence or more")
        super().__init__(self.next_logprobs)

    @cached_property
    def sayable(self) -> Int[np.ndarray, "token"]:
        """The ids that can come next: all words, [UNK] and [END]."""
        others = [id for id in (self.vocab.unk, self.vocab.end) if id is not None]
        return np.array(sorted({*self.vocab.words, *others}))

    @cached_property
    def totals(self) -> dict[Context, int]:
        """Context → how many tokens were counted after it."""
        return {context: sum(found.values()) for context, found in self.counts.items()}

    def context(self, before: Sequence[int]) -> Context:
        """The last ``order`` − 1 of the tokens before, behind as many [START] as it takes."""
        start = self.vocab.need("start")
        words = before[1:] if before and before[0] == start else before
        return ((start,) * (self.order - 1) + tuple(words))[len(words):]

    def chances(self, context: Context, tokens: Int[np.ndarray, "token"]) -> Float[np.ndarray, "token"]:
        """p(token | context) of some tokens, ``context`` being a whole one."""
        found = self.counts.get(context)
        return counted(found, tokens) / self.totals[context] if found else np.zeros(len(tokens))

    def probabilities(self, before: Sequence[int]) -> Float[Tensor, "vocab"]:
        """The probability of each token to come next after these (all of the text, or its last ``order`` − 1 tokens);
        0 for what can't be said."""
        found = torch.zeros(self.vocab.size, dtype=torch.float64)
        found[torch.from_numpy(self.sayable)] = torch.from_numpy(self.chances(self.context(before), self.sayable))
        return found

    def losses(self, sentence: Sequence[int]) -> Float[Tensor, "token"]:
        """−log p of each token of a sentence and of its [END], in nats; infinite where a probability is 0."""
        text = (self.vocab.need("start"), *sentence, self.vocab.need("end"))
        return -torch.tensor([self.chances(self.context(text[:place]), np.array([text[place]]))[0]
                              for place in range(1, len(text))], dtype=torch.float64).log()

    def next_logprobs(self, texts: Int[Tensor, "batch time"]) -> Float[Tensor, "batch vocab"]:
        """What decoding reads: the log-probability of each next token. ValueError after a context without any."""
        rows = torch.stack([self.probabilities(text) for text in texts.tolist()])
        if not rows.sum(-1).all():
            raise ValueError("these raw counts know nothing after words that never stood together: begin with others, "
                             "or write with smoothed counts (KneserNey)")
        return rows.log()

    def __call__(self, batch: Batch) -> Float[Tensor, "batch time vocab"]:
        """The log-probabilities of each position's prediction, as a causal model gives logits."""
        return torch.stack([torch.stack([self.probabilities(text[:place + 1]) for place in range(len(text))])
                            for text in batch.tokens.tolist()]).log()


class AddK(NGram):
    """Counts with k added to each: p = (c(context w) + k) / (c(context) + k · V), V tokens being sayable (Lidstone;
    k = 1 is Laplace's). ValueError for a k that is not above 0."""

    def __init__(self, sentences: Iterable[Sequence[int]], order: int, vocab: Vocabulary, k: float) -> None:
        if not k > 0:
            raise ValueError(f"k={k}: what is added to each count must be above 0; NGram counts as it is")
        super().__init__(sentences, order, vocab)
        self.k = k

    def chances(self, context: Context, tokens: Int[np.ndarray, "token"]) -> Float[np.ndarray, "token"]:
        """p(token | context) of some tokens."""
        total = self.totals.get(context, 0) + self.k * len(self.sayable)
        return (counted(self.counts.get(context), tokens) + self.k) / total


class KneserNey(NGram):
    """Interpolated Kneser–Ney: a discount d is taken from each count, and its share goes to the shorter context.

    p(w | context) = (c − d) / C + (share taken) · p(w | shorter context). Only the longest context has its counts; in
    a shorter one each w counts once for every different token that stood before it there ("continuation counts": how
    many contexts a word completes, not how often). Under the shortest lies 1 / V for every sayable token, as in common
    toolkits, so that nothing is impossible; Chen and Goodman (1998) stop at single words.

    Args:
        discounts: for each order, from 1 on, the discounts of counts of 1, 2, and 3 or more; estimated from the
            counts' counts if None (`estimate`).

    ValueError unless there are ``order`` of them, each from 0 to the count that it is taken from.
    """

    def __init__(self, sentences: Iterable[Sequence[int]], order: int, vocab: Vocabulary,
                 discounts: Sequence[tuple[float, float, float]] | None = None) -> None:
        super().__init__(sentences, order, vocab)
        self.continuations: Counts = defaultdict(Counter)
        for context, found in self.counts.items():
            if context:
                shorter = self.continuations[context[1:]]
                for token in found:
                    shorter[token] += 1
        self.discounts = [self.estimate(n) for n in range(1, order + 1)] if discounts is None else list(discounts)
        if len(self.discounts) != order or any(
                not 0 <= d <= most for level in self.discounts for d, most in zip(level, (1, 2, 3), strict=True)):
            raise ValueError(f"discounts={self.discounts}: give {order} triples, one an order, each with discounts "
                             "from 0 to the count that they are taken from (1, 2 and 3)")
        self.shares = {context: self.share(context) for context in {*self.counts, *self.continuations}}

    def table(self, length: int) -> Counts:
        """The counts that are used after contexts of this length."""
        return self.counts if length == self.order - 1 else self.continuations

    def share(self, context: Context) -> tuple[int, float]:
        """What was counted after a context, and the share of it that the discounts take."""
        one, two, more = self.discounts[len(context)]
        found = self.table(len(context))[context].values()
        total = sum(found)
        return total, sum(one if count == 1 else two if count == 2 else more for count in found) / total

    def counts_of_counts(self, order: int) -> Counter[int]:
        """How many n-grams of this order were counted once, twice, three and four times."""
        return Counter(count for context, found in self.table(order - 1).items() if len(context) == order - 1
                       for count in found.values() if count <= 4)

    def estimate(self, order: int) -> tuple[float, float, float]:
        """The one discount n₁ / (n₁ + 2 n₂) of an order (Ney et al. 1994), for all counts; ½ where none was counted
        once, or none twice."""
        n = self.counts_of_counts(order)
        d = n[1] / (n[1] + 2 * n[2]) if n[1] and n[2] else 0.5
        return d, d, d

    def chances(self, context: Context, tokens: Int[np.ndarray, "token"]) -> Float[np.ndarray, "token"]:
        """p(token | context) of some tokens, from the shortest context to the longest."""
        p = np.full(len(tokens), 1 / len(self.sayable))
        for length, discounts in enumerate(self.discounts):
            seen = context[len(context) - length:]
            if seen not in self.shares:
                break
            (total, taken), counts = self.shares[seen], counted(self.table(length)[seen], tokens)
            discount = np.array((0.0, *discounts))[np.minimum(counts, 3).astype(int)]
            p = (counts - discount) / total + taken * p
        return p


class ModifiedKneserNey(KneserNey):
    """With three discounts an order, for counts of 1, 2, and 3 or more (Chen and Goodman 1998, eq. 26): for decades
    the best of its kind."""

    def estimate(self, order: int) -> tuple[float, float, float]:
        """1 − 2Y n₂/n₁, 2 − 3Y n₃/n₂ and 3 − 4Y n₄/n₃ with Y = n₁ / (n₁ + 2 n₂); ½, 1 and 1½ where the counts' counts
        do not fall steadily, so that one of these would make no sense."""
        n = self.counts_of_counts(order)
        if not all(n[count] for count in (1, 2, 3)):
            return 0.5, 1.0, 1.5
        y = n[1] / (n[1] + 2 * n[2])
        one, two, more = (count - (count + 1) * y * n[count + 1] / n[count] for count in (1, 2, 3))
        return (one, two, more) if 0 <= one <= 1 and 0 <= two <= 2 and 0 <= more <= 3 else (0.5, 1.0, 1.5)


def counted(found: dict[int, int] | None, tokens: Int[np.ndarray, "token"]) -> Float[np.ndarray, "token"]:
    """How often each of some tokens was counted."""
    found = found or {}
    return np.array([found.get(token, 0) for token in tokens.tolist()], dtype=float)
