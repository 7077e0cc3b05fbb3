"""Does attention explain? Other weights for the same word (Jain and Wallace 2019; Wiegreffe and Pinter 2019).

At each position of the target, the right words before it being given, the weights are exchanged: for the same weights
on other words (``shuffled``), for the same weight on all (``even``), or for all of it on the heaviest word (``one``).
If a word is said as before under weights far from its own, those were not what it was said for.

Many words follow from the words before them. So beside all words stand those of which it is sure which word of the
source they translate (`gold`), and what is left of both if the decoder has the wrong source, or a part of it
(``of_another``). Jain and Wallace search for other weights that change nothing; here the weights that are searched
(``single_looks``) are those with all on one position.
"""

from collections.abc import Callable, Sequence
from math import nan
from statistics import fmean
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import one_hot

from plmlab.chapters.ch04.gold import gold
from plmlab.chapters.ch04.looks import looked
from plmlab.chapters.ch04.translation import Arm, pairs
from plmlab.example import IGNORE, PairBatch
from plmlab.interpret.alignments import ACROSS
from plmlab.interpret.readable import inference
from plmlab.interpret.watching import intervene
from plmlab.models.seq2seq import Seq2Seq
from plmlab.world.datasets.passages import Passage

Exchange = Callable[[Float[Tensor, "batch head query key"], Bool[Tensor, "batch 1 1 key"]], Tensor]


def shuffled(seed: int) -> Exchange:
    """The same weights, on the words of the source in a random order, another at each position."""
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
    return one_hot(weights.argmax(-1), weights.shape[-1]).to(weights)


def alone(position: int) -> Exchange:
    """All of it on one position, the same for every word."""
    def change(weights: Tensor, real: Tensor) -> Tensor:
        return one_hot(torch.full(weights.shape[:-1], position), weights.shape[-1]).to(weights)
    return change


def linked(some: Sequence[Passage], batch: PairBatch) -> Bool[Tensor, "batch time"]:
    """Whether the word asked for at a position has a gold link."""
    found = torch.zeros(batch.targets.shape, dtype=torch.bool)
    for row, passage in enumerate(some):
        found[row, [one for one, _ in gold(passage)]] = True
    return found


def shares(same: Bool[Tensor, "batch time"], some: Sequence[Passage], batch: PairBatch) -> dict[str, float]:
    """The share of words that are the ``same``, of all and of those with a gold link (``same, gold``)."""
    return {"same": float(same[batch.targets != IGNORE].float().mean()),
            "same, gold": float(same[linked(some, batch)].float().mean())}


@torch.no_grad()
def with_another(model: Seq2Seq, some: Sequence[Passage], arm: Arm, part: Literal["source", "positions", "last state"],
                 ) -> Int[Tensor, "batch time"]:
    """The likeliest words if the next passage's source is read, or its positions are looked at from the own last state,
    or its last state is begun with and the own positions are looked at."""
    right, wrong = pairs(some, arm), pairs([*some[1:], some[0]], arm)
    own, theirs = model.eval().start(right.source), model.start(wrong.source)
    if part == "positions":
        theirs.carried = own.carried
    elif part == "last state":
        own.carried = theirs.carried
    return model.output(model.decode(right.target.tokens, own if part == "last state" else theirs)).argmax(-1)


@torch.no_grad()
def of_another(model: Seq2Seq, some: Sequence[Passage], arm: Arm, part: Literal["source", "positions", "last state"],
               ) -> dict[str, float]:
    """What `shares` tells if each text is written with a part of the next passage (`with_another`)."""
    batch = pairs(some, arm)
    return shares(model.eval()(batch).argmax(-1) == with_another(model, some, arm, part), some, batch)


def under(model: nn.Module, batch: PairBatch, exchange: Exchange) -> Int[Tensor, "batch time"]:
    """The likeliest words under other weights."""
    real = batch.source.padding_mask[:, None, None]
    with inference(model), intervene(model, {ACROSS: lambda weights: exchange(weights, real)}):
        return model(batch).argmax(-1)


def said_as_before(model: nn.Module, some: Sequence[Passage], exchange: Exchange, arm: Arm) -> dict[str, float]:
    """`shares` of the words that are the likeliest under other weights too; how far the weights have ``moved``, and
    how far the ``beliefs`` in the next word, each half the sum of absolute differences, from 0 to 1."""
    batch = pairs(some, arm)
    real = batch.source.padding_mask[:, None, None]
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


def single_looks(model: Seq2Seq, some: Sequence[Passage], arm: Arm) -> dict[str, float]:
    """Of the words with a gold link that another passage's source does not give: how many are ``asked``; for what share
    of them all weight on some position that is not the heaviest gives the same word (``another``), and all weight on
    the ``partner`` does; and the mean share of the other ``positions`` that give it."""
    batch = pairs(some, arm)
    guessed, weights = with_another(model, some, arm, "source"), looked(model, some)
    before = under(model, batch, lambda weights, real: weights)
    same = torch.stack([under(model, batch, alone(position)) == before
                        for position in range(batch.source.tokens.shape[1])])
    found = []
    for row, passage in enumerate(some):
        for place, partner in gold(passage):
            if guessed[row, place] != before[row, place]:
                heaviest, stays = int(weights[row][place].argmax()), same[:len(passage.english), row, place].tolist()
                others = [stay for position, stay in enumerate(stays) if position != heaviest]
                found.append((any(others), stays[partner], fmean(others)))
    another, on_partner, positions = map(fmean, zip(*found, strict=True))
    return {"asked": float(len(found)), "another": another, "partner": on_partner, "positions": positions}


def free(model: nn.Module, some: Sequence[Passage], arm: Arm) -> Bool[Tensor, "batch time"]:
    """Whether the likeliest word at a position hangs on no look: it stays under even weights, and under its own weights
    shuffled in three ways."""
    batch = pairs(some, arm)
    before = under(model, batch, lambda weights, real: weights)
    others = (even, *map(shuffled, range(3)))
    return torch.stack([under(model, batch, exchange) == before for exchange in others]).all(0)


def on_partners(model: nn.Module, some: Sequence[Passage], arm: Arm) -> dict[str, tuple[int, float]]:
    """How many words with a gold link are ``free`` (`free`) and how many are ``needed``, and for what share of these
    the partner has the heaviest weight."""
    loose, weights = free(model, some, arm), looked(model, some)
    hits: dict[str, list[bool]] = {"free": [], "needed": []}
    for row, passage in enumerate(some):
        for place, partner in gold(passage):
            hits["free" if loose[row, place] else "needed"].append(int(weights[row][place].argmax()) == partner)
    return {kind: (len(found), fmean(found) if found else nan) for kind, found in hits.items()}
