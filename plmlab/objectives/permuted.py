"""The permuted language model (排列语言模型): say the words of a text in any order (Yang et al. 2019)."""

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

PART = Choice("k", "one word in so many is predicted", 6.0, 1.0, 12.0, 0.5)
LONGEST = Choice("longest", "words a predicted span, at most", 5.0, 1.0, 5.0, 1.0)


@objective(
    title="permuted language model (XLNet)",
    chinese="排列语言模型",
    paper="Yang et al. 2019, eqs. (3)–(5), fig. 4",
    choices=(PART, LONGEST),
    question="The word that comes last in the order is to be said. Which words does its query stream see, and does it "
             "see where they stand?",
    answer="All others, to its left and to its right, each at its place: the sentence is not shuffled. It sees its own "
           "place too, and not its own word.",
)
def permuted(
    tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, pair: Sequence[int] = (), k: float = 6.0,
    longest: float = 5.0, order: Sequence[int] | None = None, predict: Sequence[int] | None = None,
) -> Example:
    """A [SEP] [CLS], or A [SEP] B [SEP] [CLS]: each word that is predicted sees what comes before it in the order.

    One word in ``k`` is predicted, and those come last among the words, in spans of at most ``longest`` (a span of n
    words is drawn 1/n as often as one of a single word, as in the authors' code). [SEP] and [CLS] are never predicted,
    and have a place in the order as any other. The position z_t of the content stream (``visible``) sees z₁ … z_t; of
    the query stream (``query_stream_mask``), z₁ … z_{t−1}: the word itself is its target. Positions are the places in
    the text; [CLS] is a segment of its own.

    ``order`` gives the positions in their order instead of drawing it, ``predict`` the positions that are predicted.
    """
    drawn = permutation(tokens, pair, vocab=vocab, rng=rng, k=k, longest=longest, order=order, predict=predict)
    return _told(drawn if order is not None else drawn.predicted_last())


@objective(
    title="permuted targets (XLNet as it was trained)",
    chinese="只排列被预测的词",
    paper="the code of Yang et al. 2019",
    choices=(PART, LONGEST),
    question="Which of two context words sees the other?",
    answer="Each the other: words that are not predicted have no order among them. Only what is predicted, [SEP] and "
           "[CLS] stand in an order.",
)
def permuted_targets(
    tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, pair: Sequence[int] = (), k: float = 6.0,
    longest: float = 5.0, order: Sequence[int] | None = None, predict: Sequence[int] | None = None,
) -> Example:
    """As ``permuted``, but the context, the words that are not predicted, has no order: everybody sees all of it.

    A context word itself sees the context, and neither [SEP] nor [CLS]. Where the authors' code differs: it orders
    blocks of 256 positions alike, and draws each span within a stretch of ``k`` times its length.
    """
    return _told(permutation(tokens, pair, vocab=vocab, rng=rng, k=k, longest=longest, order=order,
                             predict=predict).targets_alone())


def predict_all_in_order(order: Sequence[int], tokens: Sequence[int], *, vocab: Vocabulary) -> Example:
    """A [SEP] [CLS], every word said, in an order of their places. [SEP] and [CLS] come first, so that the length is
    known: then the prices of a perfect reader add up to one number in every order, −log p(sentence | its length)."""
    count = len(tokens)
    return permuted(tokens, vocab=vocab, rng=Random(0), order=[count, count + 1, *order], predict=range(count))


def with_leak(example: Example) -> Example:
    """The same with a leak: the query stream sees what the content stream does, the word that it is to say too."""
    return replace(example, query_stream_mask=example.visible)


def cloze_in_permutation(tokens: Sequence[int], hidden: Sequence[int], *, vocab: Vocabulary,
                         pair: Sequence[int] = ()) -> Example:
    """Each of the ``hidden`` positions is asked from all that is in sight, [SEP] and [CLS] too, and sees no other of
    them.

    It is as if each came first of the targets of ``permuted_targets``, behind [SEP] and [CLS]: what a masked model is
    asked, put to two streams.
    """
    order = [*(position for position in range(len(tokens) + len(pair) + 2 + bool(pair)) if position not in hidden),
             *hidden]
    drawn = permutation(tokens, pair, vocab=vocab, rng=Random(0), k=1.0, longest=1.0, order=order,
                        predict=hidden).targets_alone()
    return _told(drawn.at_once(hidden))


@dataclass(frozen=True)
class Permutation:
    """A text and an order of its positions: ``rank`` is the place in it of each position, and −1 of those that all see
    before anything else, the ``context``. ``special`` positions are never predicted."""

    tokens: list[int]
    segments: list[int]
    special: frozenset[int]
    rank: Int[Tensor, "time"]
    predict: tuple[int, ...]
    context: tuple[int, ...] = ()

    def predicted_last(self) -> "Permutation":
        """The words so that those that are predicted come last among them; special tokens keep their places."""
        order = self.rank.argsort().tolist()
        words = [position for position in order if position not in self.special]
        sorted_out = iter(sorted(words, key=lambda position: position in self.predict))
        return replace(self,
                       rank=ranks([position if position in self.special else next(sorted_out) for position in order]))

    def at_once(self, positions: Sequence[int]) -> "Permutation":
        """With these positions behind all others, and none of them before another."""
        rank = self.rank.clone()
        rank[list(positions)] = len(self.tokens)
        return replace(self, rank=rank)

    def targets_alone(self) -> "Permutation":
        """Without an order among the words that are not predicted."""
        context = sorted(set(range(len(self.tokens))) - set(self.predict) - self.special)
        rank = self.rank.clone()
        rank[context] = -1
        return replace(self, rank=rank, context=tuple(context))


def ranks(order: Sequence[int]) -> Int[Tensor, "time"]:
    """The place in the order of each position."""
    rank = torch.empty(len(order), dtype=torch.long)
    rank[list(order)] = torch.arange(len(order))
    return rank


def permutation(
    tokens: Sequence[int], pair: Sequence[int], *, vocab: Vocabulary, rng: Random, k: float, longest: float,
    order: Sequence[int] | None, predict: Sequence[int] | None,
) -> Permutation:
    """A text with an order and the positions to be predicted, drawn where they are not given. ValueError: ``order`` is
    not one of the positions, each once; ``predict`` names a position that is no word; ``k`` or ``longest`` is below
    1."""
    sep, cls = vocab.need("sep"), vocab.need("cls")
    whole = [*tokens, sep, *([*pair, sep] if pair else []), cls]
    segments = [0] * (len(tokens) + 1) + ([1] * (len(pair) + 1) if pair else []) + [2]
    special = frozenset({len(tokens), len(whole) - 2, len(whole) - 1})
    words = [position for position in range(len(whole)) if position not in special]
    if predict is None:
        predict = drawn_spans(words, rng, k, longest)
    elif not set(predict) <= set(words):
        raise ValueError(f"predict names positions {sorted(set(predict) - set(words))!s:.80}, where no word stands; "
                         f"the "
                         f"words of this text stand at {_listed(words)!s:.80}")
    if order is None:
        order = shuffled(rng, range(len(whole)))
    elif sorted(order) != list(range(len(whole))):
        raise ValueError(f"order is {list(order)!s:.80}; give each of the {len(whole)} positions of this text once, "
                         f"its "
                         f"{len(special)} special tokens too")
    return Permutation(whole, segments, special, ranks(order), tuple(predict))


def drawn_spans(words: Sequence[int], rng: Random, k: float, longest: float) -> list[int]:
    """The positions to be predicted: spans of neighbouring ``words`` until they are one word in ``k``, one at least.

    A span of n words, n ≤ ``longest``, is drawn with a weight of 1/n.
    """
    if k < 1 or longest < 1:
        raise ValueError(f"k and longest are 1 or more; {k:g} and {longest:g} were given")
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


def _told(drawn: Permutation) -> Example:
    time = len(drawn.tokens)
    targets = torch.full((time,), IGNORE)
    targets[list(drawn.predict)] = torch.tensor(drawn.tokens)[list(drawn.predict)]
    return Example(
        tokens=torch.tensor(drawn.tokens),
        position_ids=torch.arange(time)[None],
        segments=torch.tensor(drawn.segments),
        visible=_visible(drawn, 0, "{key} comes later in the order than {query}."),
        targets=targets,
        query_stream_mask=_visible(drawn, 1, "{key} does not come before {query} in the order: to see it would be to "
                                             "see "
                                         "the answer, or a later one."),
    )


def _visible(drawn: Permutation, behind: int, unless: str) -> Visibility:
    """Everybody sees the context, and of the rest what stands in the order ``behind`` places before itself, or more."""
    everyone = torch.ones(len(drawn.tokens), dtype=torch.bool)
    context = torch.zeros_like(everyone)
    context[list(drawn.context)] = True
    ordered = Rule("before in the order", "{key} comes before {query} in the order." if behind else
                   "{key} comes before {query} in the order, or is {query} itself.",
                   everyone, ~context, drawn.rank - behind, drawn.rank, unless=unless)
    if not drawn.context:
        return Visibility((ordered,))
    return Visibility((Rule.between("context", "{key} is context: it is not predicted, and everybody sees it.",
                                    everyone, context), ordered))


def _listed(words: Sequence[int]) -> str:
    return ", ".join(map(str, words)) or "no position"
