"""Does attention explain? Other weights for the same word (Jain and Wallace 2019; Wiegreffe and Pinter 2019).

At each slot of the target, the right words before it being given, the weights are exchanged: for the same weights on
other words (``shuffled``), for the same weight on all (``even``), or for all of it on the heaviest word (``one``). If a
word is said as before under weights far from its own, those were not what it was said for.

Many words follow from the words before them. So beside all words stand those of which it is sure which word of the
source they translate (`gold`), and what is left of both if the decoder has the wrong source (``of_another``).
"""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from plmlab.chapters.ch04.gold import gold
from plmlab.chapters.ch04.translation import Arm, pairs
from plmlab.example import IGNORE, PairBatch
from plmlab.interpret.alignments import ACROSS
from plmlab.interpret.readable import inference
from plmlab.interpret.watching import intervene
from plmlab.models.seq2seq import Seq2Seq
from plmlab.world.datasets.passages import Passage

Exchange = Callable[[Float[Tensor, "batch head query key"], Bool[Tensor, "batch 1 1 key"]], Tensor]


def shuffled(seed: int) -> Exchange:
    """The same weights, on the words of the source in a random order, another at each slot."""
    generator = torch.Generator().manual_seed(seed)

    def change(weights: Tensor, real: Tensor) -> Tensor:
        order = torch.rand(weights.shape, generator=generator).masked_fill(~real, 2.0).argsort(-1)
        return weights.gather(-1, order).masked_fill(~real, 0.0)
    return change


def even(weights: Tensor, real: Tensor) -> Tensor:
    """The same weight on every word."""
    return (real / real.sum(-1, keepdim=True)).to(weights).expand_as(weights)


def one(weights: Tensor, real: Tensor) -> Tensor:
    """All of it on the heaviest word."""
    return nn.functional.one_hot(weights.argmax(-1), weights.shape[-1]).to(weights)


def linked(some: Sequence[Passage], batch: PairBatch) -> Bool[Tensor, "batch time"]:
    """Whether the word asked for at a slot has a gold link."""
    found = torch.zeros(batch.targets.shape, dtype=torch.bool)
    for row, passage in enumerate(some):
        found[row, [one for one, _ in gold(passage)]] = True
    return found


def shares(same: Bool[Tensor, "batch time"], some: Sequence[Passage], batch: PairBatch) -> dict[str, float]:
    """The share of words that are the ``same``, of all and of those with a gold link (``same, gold``)."""
    return {"same": float(same[batch.targets != IGNORE].float().mean()),
            "same, gold": float(same[linked(some, batch)].float().mean())}


@torch.no_grad()
def of_another(model: Seq2Seq, some: Sequence[Passage], arm: Arm) -> dict[str, float]:
    """What `shares` tells if each text is written with the source of the next passage."""
    right, wrong = pairs(some, arm), pairs([*some[1:], some[0]], arm)
    model.eval()
    before = model(right).argmax(-1)
    after = model.output(model.decode(right.target.tokens, model.start(wrong.source))).argmax(-1)
    return shares(before == after, some, right)


def said_as_before(model: nn.Module, some: Sequence[Passage], exchange: Exchange, arm: Arm) -> dict[str, float]:
    """`shares` of the words that are the likeliest under other weights too; how far the weights have ``moved``, and
    how far the ``beliefs`` in the next word, each half the sum of absolute differences, from 0 to 1."""
    batch = pairs(some, arm)
    real = batch.source.looked_at[:, None, None]
    moved = []

    def change(weights: Tensor) -> Tensor:
        changed = exchange(weights, real)
        moved.append((changed - weights).abs().sum(-1).mean(1) / 2)
        return changed

    with inference(model):
        before = model(batch).softmax(-1)
        with intervene(model, {ACROSS: change}):
            after = model(batch).softmax(-1)
    asked = batch.targets != IGNORE
    return shares(before.argmax(-1) == after.argmax(-1), some, batch) | {
        "moved": float(torch.cat(moved, 1)[asked].mean()),
        "beliefs": float(((after - before).abs().sum(-1) / 2)[asked].mean())}
