"""Denoising (去噪) of BART: the source is a corrupted document, the target the whole original document.

A noise is a function of a text. BART's five are defined here; they can be combined in any order.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, chain
from math import ceil, exp, factorial
from random import Random

from plmlab.draws import randint, shuffled
from plmlab.example import PairExample
from plmlab.objectives.blanks import Span
from plmlab.objectives.masked import check_rate, check_shares
from plmlab.objectives.registry import Choice, objective
from plmlab.objectives.sequences import causal_input, pair
from plmlab.text.text import sentence_parts
from plmlab.text.vocabulary import Vocabulary

Noise = Callable[[Sequence[int], Vocabulary, Random], Sequence[int]]
"""``noise(tokens, vocab, rng)`` corrupts a text; it may change its length."""
MEAN, LONGEST = 3, 39
LIMITS = tuple(accumulate(exp(-MEAN) * MEAN ** length / factorial(length) for length in range(LONGEST)))
"""Cumulative probabilities of the span lengths 0, 1, …: Poisson(3), §2.2."""


def token_masking(tokens: Sequence[int], vocab: Vocabulary, rng: Random, *, rate: float = 0.3,
                  select: Sequence[int] | None = None) -> list[int]:
    """Replace ``ceil(rate · n)`` random tokens by [MASK], or those at the indices ``select``."""
    chosen = _chosen(len(tokens), rate, select, rng)
    return [vocab.need("mask") if i in chosen else token for i, token in enumerate(tokens)]


def token_deletion(tokens: Sequence[int], vocab: Vocabulary, rng: Random, *, rate: float = 0.3,
                   select: Sequence[int] | None = None) -> list[int]:
    """Delete ``ceil(rate · n)`` random tokens, or those at the indices ``select``: unlike in `token_masking`, the model
    must also predict where a token is missing."""
    chosen = _chosen(len(tokens), rate, select, rng)
    return [token for i, token in enumerate(tokens) if i not in chosen]


def text_infilling(tokens: Sequence[int], vocab: Vocabulary, rng: Random, *, rate: float = 0.3,
                   spans: Sequence[Span] | None = None) -> list[int]:
    """Replace each sampled span by a single [MASK]; a span of length 0 inserts a [MASK].

    Lengths are drawn from Poisson(3) until ``ceil(rate · n)`` tokens are masked; the last one is shortened to fit. The
    spans and the remaining tokens are then arranged in random order. ``spans`` sets the spans (begin, end) in text
    order; spans may be empty or adjacent.
    """
    if spans is None:
        spans = _drawn_spans(len(tokens), rate, rng)
    edges = [0, *chain.from_iterable(spans), len(tokens)]
    if edges != sorted(edges):
        raise ValueError(f"spans={list(spans)!s:.80} in a text of {len(tokens)} tokens: give (begin, end) as in a "
                         "slice, in text order and not overlapping")
    kept = [tokens[begin:end] for begin, end in zip(edges[::2], edges[1::2], strict=True)]
    return [*chain.from_iterable((*part, vocab.need("mask")) for part in kept[:-1]), *kept[-1]]


def sentence_permutation(tokens: Sequence[int], vocab: Vocabulary, rng: Random, *, order: Sequence[int] | None = None,
                         ) -> list[int]:
    """Put the sentences of the text in random order, or in the given one: ``order`` lists their indices. Raises
    ValueError if the text's sentences are unknown. Tokens outside of all sentences belong to the one before them, or to
    the first."""
    parts = [tokens[begin:end] for begin, end in sentence_parts(tokens, "sentence permutation")]
    if order is None:
        order = shuffled(rng, range(len(parts)))
    elif sorted(order) != list(range(len(parts))):
        raise ValueError(f"order={list(order)!s:.80}: give each of the sentences {list(range(len(parts)))!s:.80} "
                         "exactly once")
    return [token for i in order for token in parts[i]]


def document_rotation(tokens: Sequence[int], vocab: Vocabulary, rng: Random, *, first: int | None = None) -> list[int]:
    """Rotate the text so that it begins with a uniformly random token, or with that at index ``first``."""
    start = randint(rng, len(tokens)) if first is None else first
    return [*tokens[start:], *tokens[:start]]


def at_random(noise: Noise, share: float) -> Noise:
    """The noise, applied with probability ``share``."""
    def sometimes(tokens: Sequence[int], vocab: Vocabulary, rng: Random) -> Sequence[int]:
        return noise(tokens, vocab, rng) if rng.random() < share else tokens
    return sometimes


def _share(name: str, title: str, default: float) -> Choice:
    return Choice(name, title, default, 0.0, 1.0, 0.05)


@objective(
    title="denoising (BART)", chinese="去噪自编码", paper="Lewis et al. 2020, §2.2, fig. 2",
    choices=(_share("permutation", "probability that the sentences are permuted", 1.0),
             _share("infilling", "proportion of tokens in infilled spans", 0.3),
             _share("masking", "proportion of tokens to mask", 0.0),
             _share("deletion", "proportion of tokens to delete", 0.0),
             _share("rotation", "probability that the document is rotated", 0.0)),
    question="Compare the lengths of source and target. Which of the five noises hide how many tokens are missing?",
    answer="Text infilling, where one [MASK] stands for any number of tokens, even none, and token deletion, which "
           "leaves no trace at all. Token masking shows the number and the places; permutation and rotation only "
           "change the order. The target is always the whole text.",
)
def denoising(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, permutation: float = 1.0,
              infilling: float = 0.3, masking: float = 0.0, deletion: float = 0.0, rotation: float = 0.0,
              noises: Sequence[Noise] | None = None) -> PairExample:
    """The source is [START] corrupted text [END]; the target is the whole original text.

    The decoder's input begins with [END] [START], and its targets with [START] (authors' code). The default is the
    final choice of the paper (§5.1): all sentences are permuted, then 30 % of the tokens are infilled. ``noises`` gives
    the noises instead, in the order in which they are applied; choices of a noise are set with
    ``partial(text_infilling, spans=[(1, 3)])``. The proportions otherwise select the noises, in the order permutation,
    masking, deletion, infilling, rotation; those of 0 are left out, without random draws.

    Differences from the authors' code: proportions are of tokens, where it counts words for its own BPE; infilled spans
    never overlap, where its random starts may lie within an earlier span; ``permutation`` is a probability, where its
    option is the proportion of the sentences that are permuted; its options for random tokens instead of [MASK] and for
    random insertions are left out.

    Raises ValueError for an empty text or a proportion that is not between 0 and 1.
    """
    if not len(tokens):
        raise ValueError("the text is empty, so nothing can be restored; give at least one word")
    check_shares(permutation=permutation, infilling=infilling, masking=masking, deletion=deletion, rotation=rotation)
    if noises is None:
        made: list[tuple[float, Noise]] = [
            (permutation, at_random(sentence_permutation, permutation)),
            (masking, partial(token_masking, rate=masking)), (deletion, partial(token_deletion, rate=deletion)),
            (infilling, partial(text_infilling, rate=infilling)), (rotation, at_random(document_rotation, rotation))]
        noises = [noise for share, noise in made if share]
    corrupted: Sequence[int] = tokens
    for noise in noises:
        corrupted = noise(corrupted, vocab, rng)
    return restoration(corrupted, tokens, vocab)


def restoration(source: Sequence[int], target: Sequence[int], vocab: Vocabulary) -> PairExample:
    """[START] A [END] for the encoder; [END] [START] B for the decoder, which predicts [START] B [END] (BART)."""
    start, end = vocab.need("start"), vocab.need("end")
    return pair([start, *source, end], causal_input([end, start, *target], [start, *target, end],
                                                    range(len(target) + 2)))


def _chosen(count: int, rate: float, select: Sequence[int] | None, rng: Random) -> frozenset[int]:
    """The given indices, or ``ceil(rate · count)`` random ones."""
    if select is not None:
        return frozenset(select)
    check_rate(rate)
    return frozenset(shuffled(rng, range(count))[:ceil(rate * count)])


def _drawn_spans(count: int, rate: float, rng: Random) -> list[Span]:
    """Sample the spans of text infilling for a text of ``count`` tokens."""
    check_rate(rate)
    budget, lengths = ceil(rate * count), list[int]()
    while sum(lengths) < budget:
        lengths.append(min(bisect_right(LIMITS, rng.random()), budget - sum(lengths)))
    spans, at = list[Span](), 0
    for unit in shuffled(rng, [*range(len(lengths)), *[None] * (count - budget)]):  # None is a kept token
        if unit is not None:
            spans.append((at, at + lengths[unit]))
        at += 1 if unit is None else lengths[unit]
    return spans
