"""N-gram language models (n 元语法): next-token probabilities from counts after the preceding n − 1 tokens.

Maximum likelihood, add-k smoothing, and interpolated Kneser–Ney (Kneser and Ney 1995; Chen and Goodman 1998) with one
discount per order or with three. The models are estimated by counting, without gradients. A text is padded with n − 1
[START] tokens on the left and ends with [END].
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
"""Context → next token → count."""


class NGram(UncachedLM):
    """Maximum likelihood estimate: p(w | context) = c(context w) / c(context).

    An unseen n-gram has probability 0, and so has every token after an unseen context. The model is an
    `AutoregressiveModel`, so that ``plmlab.decode`` can generate from it.

    Args:
        sentences: token ids of the texts, without [START] and [END].
        order: the n of the n-gram; the context is the preceding ``order`` − 1 tokens.
        vocab: the vocabulary; its words, [UNK] and [END] can be predicted.

    Raises ValueError if the order is below 1, if there are no sentences, or if the vocabulary lacks [START] or
    [END].
    """

    def __init__(self, sentences: Iterable[Sequence[int]], order: int, vocab: Vocabulary) -> None:
        if order < 1:
            raise ValueError(f"order={order}: the order of an n-gram must be at least 1 (1: unigrams, 2: bigrams)")
        self.order, self.vocab = order, vocab
        self.counts: Counts = defaultdict(Counter)
        padding, end = (vocab.need("start"),) * (order - 1), vocab.need("end")
        for sentence in sentences:
            tokens = (*padding, *sentence, end)
            for i in range(order - 1, len(tokens)):
                for length in range(order):
                    self.counts[tokens[i - length:i]][tokens[i]] += 1
        if not self.counts:
            raise ValueError("no sentences were given; give at least one")
        super().__init__(self.next_logprobs)

    @cached_property
    def sayable(self) -> Int[np.ndarray, "token"]:
        """The ids that can be predicted: all words, [UNK] and [END]."""
        others = [id for id in (self.vocab.unk, self.vocab.end) if id is not None]
        return np.array(sorted({*self.vocab.words, *others}))

    @cached_property
    def totals(self) -> dict[Context, int]:
        """Context → the number of tokens counted after it."""
        return {context: sum(followers.values()) for context, followers in self.counts.items()}

    def context(self, before: Sequence[int]) -> Context:
        """The last ``order`` − 1 tokens of ``before``, padded on the left with [START]."""
        start = self.vocab.need("start")
        words = before[1:] if before and before[0] == start else before
        return ((start,) * (self.order - 1) + tuple(words))[len(words):]

    def probs(self, context: Context, tokens: Int[np.ndarray, "token"]) -> Float[np.ndarray, "token"]:
        """p(token | context) of each of ``tokens``; ``context`` has ``order`` − 1 tokens."""
        followers = self.counts.get(context)
        return counted(followers, tokens) / self.totals[context] if followers else np.zeros(len(tokens))

    def probabilities(self, before: Sequence[int]) -> Float[Tensor, "vocab"]:
        """Next-token probabilities after the tokens ``before`` (the whole text, or at least its last ``order`` − 1
        tokens); 0 for ids that cannot be predicted."""
        p = torch.zeros(self.vocab.size, dtype=torch.float64)
        p[torch.from_numpy(self.sayable)] = torch.from_numpy(self.probs(self.context(before), self.sayable))
        return p

    def losses(self, sentence: Sequence[int]) -> Float[Tensor, "token"]:
        """−log p of each token of a sentence and of the final [END], in nats; infinite where the probability is 0."""
        text = (self.vocab.need("start"), *sentence, self.vocab.need("end"))
        return -torch.tensor([self.probs(self.context(text[:i]), np.array([text[i]]))[0]
                              for i in range(1, len(text))], dtype=torch.float64).log()

    def next_logprobs(self, texts: Int[Tensor, "batch time"]) -> Float[Tensor, "batch vocab"]:
        """Next-token log-probabilities, for decoding. Raises ValueError if every token has probability 0."""
        rows = torch.stack([self.probabilities(text) for text in texts.tolist()])
        if not rows.sum(-1).all():
            raise ValueError("the context does not occur in the training text, so every next token has probability 0; "
                             "give another prompt, or use a smoothed model (KneserNey)")
        return rows.log()

    def __call__(self, batch: Batch) -> Float[Tensor, "batch time vocab"]:
        """Next-token log-probabilities at every position, in the format of a causal model's logits."""
        return torch.stack([torch.stack([self.probabilities(text[:i + 1]) for i in range(len(text))])
                            for text in batch.tokens.tolist()]).log()


class AddK(NGram):
    """Add-k smoothing: p = (c(context w) + k) / (c(context) + k · V), with V the number of predictable tokens
    (Lidstone; k = 1 is Laplace smoothing). Raises ValueError unless k > 0."""

    def __init__(self, sentences: Iterable[Sequence[int]], order: int, vocab: Vocabulary, k: float) -> None:
        if not k > 0:
            raise ValueError(f"k={k}: k must be above 0; use NGram for unsmoothed counts")
        super().__init__(sentences, order, vocab)
        self.k = k

    def probs(self, context: Context, tokens: Int[np.ndarray, "token"]) -> Float[np.ndarray, "token"]:
        """p(token | context) of each of ``tokens``."""
        total = self.totals.get(context, 0) + self.k * len(self.sayable)
        return (counted(self.counts.get(context), tokens) + self.k) / total


class KneserNey(NGram):
    """Interpolated Kneser–Ney smoothing: a discount d is subtracted from each count, and the discounted mass is given
    to the lower-order model.

    p(w | context) = (c − d) / C + (discounted mass) · p(w | shorter context). Only the highest order uses raw counts;
    in a lower order, w counts once for every distinct token that precedes it there ("continuation counts": the number
    of contexts that a word completes, not its frequency). The unigrams are interpolated with 1 / V for every
    predictable token, as in common toolkits, so that no token has probability 0; Chen and Goodman (1998) stop at
    unigrams.

    Args:
        discounts: one triple per order, from 1: the discounts of counts 1, 2, and 3 or more. If None, they are
            estimated from the counts of counts (`estimate`).

    Raises ValueError unless there are ``order`` triples and each discount lies between 0 and the count that it applies
    to.
    """

    def __init__(self, sentences: Iterable[Sequence[int]], order: int, vocab: Vocabulary,
                 discounts: Sequence[tuple[float, float, float]] | None = None) -> None:
        super().__init__(sentences, order, vocab)
        self.continuations: Counts = defaultdict(Counter)
        for context, followers in self.counts.items():
            if context:
                shorter = self.continuations[context[1:]]
                for token in followers:
                    shorter[token] += 1
        self.discounts = [self.estimate(n) for n in range(1, order + 1)] if discounts is None else list(discounts)
        if len(self.discounts) != order or any(
                not 0 <= d <= most for level in self.discounts for d, most in zip(level, (1, 2, 3), strict=True)):
            raise ValueError(f"discounts={self.discounts}: give {order} triples, one per order, with each discount "
                             "between 0 and the count that it applies to (1, 2 and 3)")
        self.shares = {context: self.share(context) for context in {*self.counts, *self.continuations}}

    def table(self, length: int) -> Counts:
        """The counts for contexts of this length: raw counts for the longest, continuation counts otherwise."""
        return self.counts if length == self.order - 1 else self.continuations

    def share(self, context: Context) -> tuple[int, float]:
        """Return the total count after a context, and the fraction of it that the discounts remove."""
        d1, d2, d3 = self.discounts[len(context)]
        counts = self.table(len(context))[context].values()
        total = sum(counts)
        return total, sum(d1 if count == 1 else d2 if count == 2 else d3 for count in counts) / total

    def counts_of_counts(self, order: int) -> Counter[int]:
        """Counts of counts: the number of n-grams of this order with a count of 1, 2, 3 and 4."""
        return Counter(count for context, followers in self.table(order - 1).items() if len(context) == order - 1
                       for count in followers.values() if count <= 4)

    def estimate(self, order: int) -> tuple[float, float, float]:
        """The single discount n₁ / (n₁ + 2 n₂) of an order (Ney et al. 1994); ½ if n₁ or n₂ is 0."""
        n = self.counts_of_counts(order)
        d = n[1] / (n[1] + 2 * n[2]) if n[1] and n[2] else 0.5
        return d, d, d

    def probs(self, context: Context, tokens: Int[np.ndarray, "token"]) -> Float[np.ndarray, "token"]:
        """p(token | context) of each of ``tokens``, interpolated from the shortest context to the longest."""
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
    """Modified Kneser–Ney, with three discounts per order, for counts of 1, 2, and 3 or more (Chen and Goodman 1998,
    eq. 26); for decades the best n-gram model."""

    def estimate(self, order: int) -> tuple[float, float, float]:
        """The discounts 1 − 2Y n₂/n₁, 2 − 3Y n₃/n₂ and 3 − 4Y n₄/n₃ with Y = n₁ / (n₁ + 2 n₂); ½, 1 and 1½ if n₁, n₂ or
        n₃ is 0, or if a discount is out of range because the counts of counts do not decrease."""
        n = self.counts_of_counts(order)
        if not all(n[count] for count in (1, 2, 3)):
            return 0.5, 1.0, 1.5
        y = n[1] / (n[1] + 2 * n[2])
        d1, d2, d3 = (count - (count + 1) * y * n[count + 1] / n[count] for count in (1, 2, 3))
        return (d1, d2, d3) if 0 <= d1 <= 1 and 0 <= d2 <= 2 and 0 <= d3 <= 3 else (0.5, 1.0, 1.5)


def counted(counts: dict[int, int] | None, tokens: Int[np.ndarray, "token"]) -> Float[np.ndarray, "token"]:
    """The count of each of ``tokens``; 0 for a token without a count."""
    counts = counts or {}
    return np.array([counts.get(token, 0) for token in tokens.tolist()], dtype=float)
