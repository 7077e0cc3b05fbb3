"""The permutation language model (排列语言模型): predict words in a sampled factorization order (Yang et al. 2019)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

import torch
from jaxtyping import Int
from torch import Tensor

from plmlab.draws import randint, shuffled
from plmlab.example import IGNORE, Example
from plmlab.objectives.registry import Choice, objective
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Rule, Visibility

PART = Choice("k", "one word in k is predicted", 6.0, 1.0, 12.0, 0.5)
LONGEST = Choice("longest", "maximum words per predicted span", 5.0, 1.0, 5.0, 1.0)


@objective(
    title="permutation language model (XLNet)",
    chinese="排列语言模型",
    paper="Yang et al. 2019, eqs. (3)–(5), fig. 4",
    choices=(PART, LONGEST),
    question="The word that comes last in the factorization order is predicted. Which words can its query stream "
             "attend to, and does it know their positions?",
    answer="All others, on its left and on its right, each at its original position: the sentence is not shuffled. It "
           "also knows its own position, but not its own word.",
)
def permuted(
    tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, pair: Sequence[int] = (), k: float = 6.0,
    longest: float = 5.0, order: Sequence[int] | None = None, predict: Sequence[int] | None = None,
) -> Example:
    """Permutation language modelling of A [SEP] [CLS], or A [SEP] B [SEP] [CLS]: each target attends to what precedes
    it in the factorization order.

    One word in ``k`` is predicted. The targets are last among the words and form spans of at most ``longest`` words (a
    span of n words has weight 1/n, as in the authors' code). [SEP] and [CLS] are never predicted but are part of the
    order.

    In the content stream (``visible``), z_t attends to z₁ … z_t; in the query stream (``query_stream_mask``), to z₁ …
    z_{t−1}, with the word z_t as the target. Position ids are those of the original text; [CLS] has its own segment.
    ``order`` sets the factorization order instead of sampling it; ``predict`` sets the predicted positions.
    """
    text = permutation(tokens, pair, vocab=vocab, rng=rng, k=k, longest=longest, order=order, predict=predict)
    return _example(text if order is not None else text.predicted_last())


@objective(
    title="permutation language model, unordered context (XLNet as trained)",
    chinese="只排列被预测的词",
    paper="the code of Yang et al. 2019",
    choices=(PART, LONGEST),
    question="Can one context word attend to another?",
    answer="Yes, in both directions: the words that are not predicted are not ordered. Only the targets, [SEP] and "
           "[CLS] have an order.",
)
def permuted_targets(
    tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, pair: Sequence[int] = (), k: float = 6.0,
    longest: float = 5.0, order: Sequence[int] | None = None, predict: Sequence[int] | None = None,
) -> Example:
    """Like ``permuted``, but only the targets are ordered: every position attends to all words that are not predicted.

    A context word attends only to the context, not to [SEP] or [CLS]. Differences from the authors' code: theirs uses
    the same order for every block of 256 positions, and samples each span within a window of ``k`` times its length.
    """
    return _example(permutation(tokens, pair, vocab=vocab, rng=rng, k=k, longest=longest, order=order,
                                predict=predict).targets_alone())


def predict_all_in_order(order: Sequence[int], tokens: Sequence[int], *, vocab: Vocabulary) -> Example:
    """Predict every word of A [SEP] [CLS] in the given order of positions. [SEP] and [CLS] come first, which reveals
    the length. For the Bayes-optimal predictor, the losses therefore sum to −log p(sentence | its length) in every
    order."""
    count = len(tokens)
    return permuted(tokens, vocab=vocab, rng=Random(0), order=[count, count + 1, *order], predict=range(count))


def with_leak(example: Example) -> Example:
    """Introduce a target leak: the query stream gets the content stream's mask and thus attends to its own target."""
    return replace(example, query_stream_mask=example.visible)


def cloze_in_permutation(tokens: Sequence[int], hidden: Sequence[int], *, vocab: Vocabulary,
                         pair: Sequence[int] = ()) -> Example:
    """Predict the ``hidden`` positions independently, each given all visible tokens including [SEP] and [CLS].

    This is masked prediction with two streams: each hidden word is treated as the first target of ``permuted_targets``,
    after [SEP] and [CLS].
    """
    order = [*(i for i in range(len(tokens) + len(pair) + 2 + bool(pair)) if i not in hidden), *hidden]
    text = permutation(tokens, pair, vocab=vocab, rng=Random(0), k=1.0, longest=1.0, order=order,
                       predict=hidden).targets_alone()
    return _example(text.at_once(hidden))


@dataclass(frozen=True)
class Permutation:
    """A text with a factorization order.

    ``rank`` is the index of each position in the order, or −1 for the unordered ``context``, to which every position
    can attend. The ``special`` positions are never predicted.
    """

    tokens: list[int]
    segments: list[int]
    special: frozenset[int]
    rank: Int[Tensor, "time"]
    predict: tuple[int, ...]
    context: tuple[int, ...] = ()

    def predicted_last(self) -> "Permutation":
        """Move the predicted words to the end of the order, after the other words; special tokens keep their ranks."""
        order = self.rank.argsort().tolist()
        words = [i for i in order if i not in self.special]
        sorted_words = iter(sorted(words, key=lambda i: i in self.predict))
        return replace(self, rank=ranks([i if i in self.special else next(sorted_words) for i in order]))

    def at_once(self, positions: Sequence[int]) -> "Permutation":
        """Give these positions the same, last rank, so that they are predicted independently after all others."""
        rank = self.rank.clone()
        rank[list(positions)] = len(self.tokens)
        return replace(self, rank=rank)

    def targets_alone(self) -> "Permutation":
        """Remove the words that are not predicted from the order, so that they become the context."""
        context = sorted(set(range(len(self.tokens))) - set(self.predict) - self.special)
        rank = self.rank.clone()
        rank[context] = -1
        return replace(self, rank=rank, context=tuple(context))


def ranks(order: Sequence[int]) -> Int[Tensor, "time"]:
    """Invert an order: the rank of each position."""
    rank = torch.empty(len(order), dtype=torch.long)
    rank[list(order)] = torch.arange(len(order))  # the inverse permutation
    return rank


def permutation(
    tokens: Sequence[int], pair: Sequence[int], *, vocab: Vocabulary, rng: Random, k: float, longest: float,
    order: Sequence[int] | None, predict: Sequence[int] | None,
) -> Permutation:
    """Build a text with its factorization order and predicted positions, both sampled unless given.

    Raises ValueError if ``order`` is not a permutation of the positions, if ``predict`` contains a position that is not
    a word, or if ``k`` or ``longest`` is below 1.
    """
    sep, cls = vocab.need("sep"), vocab.need("cls")
    whole = [*tokens, sep, *([*pair, sep] if pair else []), cls]
    segments = [0] * (len(tokens) + 1) + ([1] * (len(pair) + 1) if pair else []) + [2]
    special = frozenset({len(tokens), len(whole) - 2, len(whole) - 1})
    words = [i for i in range(len(whole)) if i not in special]
    if predict is None:
        predict = drawn_spans(words, rng, k, longest)
    elif not set(predict) <= set(words):
        raise ValueError(f"predict contains {sorted(set(predict) - set(words))!s:.80}, not positions of words; "
                         f"the words of this text are at {_listed(words)!s:.80}")
    if order is None:
        order = shuffled(rng, range(len(whole)))
    elif sorted(order) != list(range(len(whole))):
        raise ValueError(f"order={list(order)!s:.80}: give each of the {len(whole)} positions of this text once, "
                         f"including its {len(special)} special tokens")
    return Permutation(whole, segments, special, ranks(order), tuple(predict))


def drawn_spans(words: Sequence[int], rng: Random, k: float, longest: float) -> list[int]:
    """Sample the positions to predict: spans of adjacent ``words`` until one word in ``k`` is covered, at least one.

    A span of n words, n ≤ ``longest``, has weight 1/n. Raises ValueError if ``k`` or ``longest`` is below 1.
    """
    if k < 1 or longest < 1:
        raise ValueError(f"k={k:g}, longest={longest:g}: both must be at least 1")
    goal, chosen = max(1, round(len(words) / k)) if words else 0, set[int]()
    while len(chosen) < goal:
        length = _length(rng, int(min(longest, goal - len(chosen))))
        starts = [i for i in range(len(words) - length + 1)
                  if words[i + length - 1] - words[i] == length - 1 and not chosen & set(words[i:i + length])]
        if starts:
            start = starts[randint(rng, len(starts))]
            chosen |= set(words[start:start + length])
    return sorted(chosen)


def _length(rng: Random, longest: int) -> int:
    dice = rng.random() * sum(1 / n for n in range(1, longest + 1))
    for n in range(1, longest):
        dice -= 1 / n
        if dice < 0:
            return n
    return longest


def _example(text: Permutation) -> Example:
    time = len(text.tokens)
    targets = torch.full((time,), IGNORE)
    targets[list(text.predict)] = torch.tensor(text.tokens)[list(text.predict)]
    return Example(
        tokens=torch.tensor(text.tokens),
        position_ids=torch.arange(time)[None],
        segments=torch.tensor(text.segments),
        visible=_visible(text, 0, "{key} comes later in the order than {query}."),
        targets=targets,
        query_stream_mask=_visible(text, 1, "{key} does not come before {query} in the order: attending to it would "
                                   "leak "
                                   "this target or a later one."),
    )


def _visible(text: Permutation, gap: int, unless: str) -> Visibility:
    """Attention mask: every position attends to the context and to positions at least ``gap`` ranks before its own."""
    all_true = torch.ones(len(text.tokens), dtype=torch.bool)
    context = torch.zeros_like(all_true)
    context[list(text.context)] = True
    ordered = Rule("before in the order", "{key} comes before {query} in the order." if gap else
                   "{key} comes before {query} in the order, or is {query} itself.",
                   all_true, ~context, text.rank - gap, text.rank, unless=unless)
    if not text.context:
        return Visibility((ordered,))
    return Visibility((Rule.between("context", "{key} is context: not predicted, and visible to every position.",
                                    all_true, context), ordered))


def _listed(words: Sequence[int]) -> str:
    return ", ".join(map(str, words)) or "no position"
