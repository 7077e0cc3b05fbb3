"""Is attention an explanation? Counterfactual attention weights (Jain and Wallace 2019; Wiegreffe and Pinter 2019).

At each target position, under teacher forcing, the attention weights are replaced: by the same weights in a random
order (``shuffled``), by uniform weights (``uniform_weights``), or by all weight on the highest-weighted word
(``one_hot_on_highest``).
If the prediction stays the same under very different weights, the original weights do not explain it.

Many words are predictable from the preceding target words. Therefore results are also given for the words with a gold
link to a source word (`gold`), and for decoders that are given the source of another passage, or a part of that source
(``swapped_source``). Jain and Wallace search for different weights that leave the prediction unchanged; here the search
(``one_hot_attention``) is over one-hot weights.
"""

from collections.abc import Callable, Sequence
from math import nan
from statistics import fmean
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import one_hot

from plmlab.chapters.ch04.attention_alignment import attention_matrices
from plmlab.chapters.ch04.gold import gold
from plmlab.chapters.ch04.translation import Variant, pairs
from plmlab.example import IGNORE, PairBatch
from plmlab.interpret.alignments import ACROSS
from plmlab.interpret.readable import inference
from plmlab.interpret.watching import intervene
from plmlab.models.seq2seq import Seq2Seq
from plmlab.world.datasets.passages import Passage

Exchange = Callable[[Float[Tensor, "batch head query key"], Bool[Tensor, "batch 1 1 key"]], Tensor]


def shuffled(seed: int) -> Exchange:
    """Return a function that permutes the weights over the source words at random, independently at each target
    position."""
    generator = torch.Generator().manual_seed(seed)

    def change(weights: Tensor, real: Tensor) -> Tensor:
        order = torch.rand(weights.shape, generator=generator).masked_fill(~real, 2.0).argsort(-1)
        return weights.gather(-1, order).masked_fill(~real, 0.0)
    return change


def uniform_weights(weights: Tensor, real: Tensor) -> Tensor:
    """Uniform weights over the source."""
    return (real / real.sum(-1, keepdim=True)).to(weights).expand_as(weights)


def one_hot_on_highest(weights: Tensor, real: Tensor) -> Tensor:
    """One-hot weights on the source word with the highest weight."""
    return one_hot(weights.argmax(-1), weights.shape[-1]).to(weights)


def one_hot_at(position: int) -> Exchange:
    """Return a function that puts one-hot weights on the same source position for every target word."""
    def change(weights: Tensor, real: Tensor) -> Tensor:
        return one_hot(torch.full(weights.shape[:-1], position), weights.shape[-1]).to(weights)
    return change


def has_gold_link(some: Sequence[Passage], batch: PairBatch) -> Bool[Tensor, "batch time"]:
    """Mask of the target positions whose word has a gold link."""
    has_link = torch.zeros(batch.targets.shape, dtype=torch.bool)
    for row, passage in enumerate(some):
        has_link[row, [target for target, _ in gold(passage)]] = True
    return has_link


def unchanged_rates(same: Bool[Tensor, "batch time"], some: Sequence[Passage], batch: PairBatch) -> dict[str, float]:
    """Fraction of unchanged predictions: among all words (``same``), and among words with a gold link (``same,
    gold``)."""
    return {"same": float(same[batch.targets != IGNORE].float().mean()),
            "same, gold": float(same[has_gold_link(some, batch)].float().mean())}


@torch.no_grad()
def with_another(model: Seq2Seq, some: Sequence[Passage], arm: Variant,
                 part: Literal["source", "positions", "last state"]) -> Int[Tensor, "batch time"]:
    """The most probable words if a part of the encoding is replaced by that of the next passage: the whole "source",
    the "positions" attended to (the initial decoder state is kept), or the "last state" alone."""
    correct, swapped = pairs(some, arm), pairs([*some[1:], some[0]], arm)
    own, other = model.eval().start(correct.source), model.start(swapped.source)
    if part == "positions":
        other.carried = own.carried
    elif part == "last state":
        own.carried = other.carried
    return model.output(model.decode(correct.target.tokens, own if part == "last state" else other)).argmax(-1)


@torch.no_grad()
def swapped_source(model: Seq2Seq, some: Sequence[Passage], arm: Variant,
                   part: Literal["source", "positions", "last state"],
               ) -> dict[str, float]:
    """`unchanged_rates` if a part of the encoding is replaced by that of the next passage (`with_another`)."""
    batch = pairs(some, arm)
    return unchanged_rates(model.eval()(batch).argmax(-1) == with_another(model, some, arm, part), some, batch)


def under(model: nn.Module, batch: PairBatch, exchange: Exchange) -> Int[Tensor, "batch time"]:
    """The most probable words under replaced attention weights."""
    real = batch.source.padding_mask[:, None, None]
    with inference(model), intervene(model, {ACROSS: lambda weights: exchange(weights, real)}):
        return model(batch).argmax(-1)


def predictions_unchanged(model: nn.Module, some: Sequence[Passage], exchange: Exchange, arm: Variant,
                          ) -> dict[str, float]:
    """`unchanged_rates` under replaced attention weights.

    The result also has the mean total variation distance, from 0 to 1, between the original and the replaced weights
    (``weight change``), and between the two output distributions (``output change``).
    """
    batch = pairs(some, arm)
    real = batch.source.padding_mask[:, None, None]
    distances = []

    def change(weights: Tensor) -> Tensor:
        changed = exchange(weights, real)
        distances.append((changed - weights).abs().sum(-1).mean(1) / 2)
        return changed

    with inference(model):
        before = model(batch).softmax(-1)
        with intervene(model, {ACROSS: change}):
            after = model(batch).softmax(-1)
    is_target = batch.targets != IGNORE
    return unchanged_rates(before.argmax(-1) == after.argmax(-1), some, batch) | {
        "weight change": float(torch.cat(distances, 1)[is_target].mean()),
        "output change": float(((after - before).abs().sum(-1) / 2)[is_target].mean())}


def one_hot_attention(model: Seq2Seq, some: Sequence[Passage], arm: Variant) -> dict[str, float]:
    """Search over one-hot attention weights, for words with a gold link whose prediction depends on the source.

    ``tested`` is the number of these words; ``another`` is the fraction for which the prediction stays unchanged under
    one-hot weights on some position other than the highest-weighted one; ``aligned`` is the fraction for which it stays
    unchanged under one-hot weights on the aligned word; and ``positions`` is the mean fraction of the other positions
    for which it stays unchanged.
    """
    batch = pairs(some, arm)
    unaided, weights = with_another(model, some, arm, "source"), attention_matrices(model, some)
    before = under(model, batch, lambda weights, real: weights)
    same = torch.stack([under(model, batch, one_hot_at(position)) == before
                        for position in range(batch.source.tokens.shape[1])])
    results = []
    for row, passage in enumerate(some):
        for target, source in gold(passage):
            if unaided[row, target] != before[row, target]:
                highest = int(weights[row][target].argmax())
                unchanged = same[:len(passage.english), row, target].tolist()
                others = [same_word for index, same_word in enumerate(unchanged) if index != highest]
                results.append((any(others), unchanged[source], fmean(others)))
    another, aligned, positions = map(fmean, zip(*results, strict=True))
    return {"tested": float(len(results)), "another": another, "aligned": aligned, "positions": positions}


def weight_independent(model: nn.Module, some: Sequence[Passage], arm: Variant) -> Bool[Tensor, "batch time"]:
    """Mask of the target positions whose prediction does not depend on the attention weights: it is unchanged under
    uniform weights and under three random permutations of the weights."""
    batch = pairs(some, arm)
    before = under(model, batch, lambda weights, real: weights)
    others = (uniform_weights, *map(shuffled, range(3)))
    return torch.stack([under(model, batch, exchange) == before for exchange in others]).all(0)


def mass_on_aligned(model: nn.Module, some: Sequence[Passage], arm: Variant) -> dict[str, tuple[int, float]]:
    """Split the words with a gold link into those whose prediction is independent of the weights (see
    `weight_independent`) and the others (``dependent``); return, for both groups, the number of words and the fraction
    whose aligned word has the highest weight."""
    independent, weights = weight_independent(model, some, arm), attention_matrices(model, some)
    hits: dict[str, list[bool]] = {"independent": [], "dependent": []}
    for row, passage in enumerate(some):
        for target, source in gold(passage):
            kind = "independent" if independent[row, target] else "dependent"
            hits[kind].append(int(weights[row][target].argmax()) == source)
    return {kind: (len(correct), fmean(correct) if correct else nan) for kind, correct in hits.items()}
