"""Wrong answers to the exercises 10.1 and 10.4 to 10.6, the memory and how far it reaches, under the names of their
mistakes, and what holds of any right one."""

from collections.abc import Callable
from math import ceil, log

import torch
from torch import Tensor

from plmlab.exercises.mistakes import Mistakes, Properties

# 10.1, read and remember

Remembered = tuple[Tensor, Tensor]


def joined(memory: Tensor, h: Tensor) -> Tensor:
    """The slots of the memory and of the segment, one behind the other; no gradient flows into the memory's."""
    return torch.cat([memory.detach(), h], 1)


def last(x: Tensor, count: int) -> Tensor:
    """The last slots of some texts, all of them if they are fewer, with no gradient."""
    return x.detach()[:, max(0, x.shape[1] - count):]


def kept(keep: Callable[[Tensor, Tensor, int], Tensor]) -> Callable[..., Remembered]:
    """The exercise's function that keeps another memory, made from memory, segment and the longest memory."""
    return lambda memory, h, longest: (joined(memory, h), keep(memory.detach(), h.detach(), longest))


def filled(x: Tensor, count: int) -> Tensor:
    """So many slots, with zeros before the first where there are fewer."""
    return torch.cat([torch.zeros(len(x), max(0, count - x.shape[1]), x.shape[2]), x], 1)


def along(dim: int) -> Callable[..., Remembered]:
    """The exercise's function that joins memory and segment along another axis."""
    def answer(memory: Tensor, h: Tensor, longest: int) -> Remembered:
        extended = torch.cat([memory.detach(), h], dim)
        return extended, last(extended, longest)
    return answer


MEMORY: Mistakes = {
    "the first slots are kept; the memory is the last ones":
        kept(lambda memory, h, longest: joined(memory, h)[:, :longest]),
    "the memory stands behind the segment: what is older comes first":
        lambda memory, h, longest: (joined(h, memory), last(joined(h, memory), longest)),
    "the memory stands behind the segment in what keys and values are made of: what is older comes first":
        lambda memory, h, longest: (torch.cat([h, memory.detach()], 1), last(joined(memory, h), longest)),
    "a longest memory of 0 keeps everything: x[:, -0:] is x[:, 0:]":
        kept(lambda memory, h, longest: joined(memory, h)[:, -longest:]),
    "slots are lost where the longest memory is longer than what there is: the cut begins below 0, and counts from the "
    "end": kept(lambda memory, h, longest: (x := joined(memory, h))[:, x.shape[1] - longest:]),
    "only slots of the segment are remembered; where it is shorter than the longest memory, older ones stay":
        kept(lambda memory, h, longest: last(h, longest)),
    "only slots of the segment are remembered, and all of them where the longest memory is 0 (x[:, -0:] is x[:, 0:])":
        kept(lambda memory, h, longest: h[:, -longest:]),
    "as many slots are remembered as the segment has; the memory has a length of its own":
        kept(lambda memory, h, longest: h),
    "the memory stays as it was: the segment that was just read must get into it":
        kept(lambda memory, h, longest: memory),
    "everything is remembered, however long": kept(lambda memory, h, longest: joined(memory, h)),
    "one slot too few is remembered": kept(lambda memory, h, longest: last(joined(memory, h), longest - 1)),
    "the memory is filled up with zeros; it has fewer slots until more were read":
        kept(lambda memory, h, longest: filled(last(joined(memory, h), longest), longest)),
    "the last texts of the batch are kept, not the last slots of each text: the slots are axis 1":
        kept(lambda memory, h, longest: joined(memory, h)[-longest:]),
    "what keys and values are made of is cut to the longest memory too; the segment sees all of its memory and itself":
        lambda memory, h, longest: (joined(memory, h)[:, -longest:], last(joined(memory, h), longest)),
    "what keys and values are made of is the segment alone; the memory belongs before it":
        lambda memory, h, longest: (h, last(joined(memory, h), longest)),
    "the two are joined along the batch (dim 0); the slots are axis 1": along(0),
    "the two are joined along the width; the slots are axis 1": along(2),
    "the next memory comes first; give what keys and values are made of, then the memory":
        lambda memory, h, longest: (last(joined(memory, h), longest), joined(memory, h)),
}

OF_A_MEMORY: Properties = {
    "what keys and values are made of is not the memory and, behind it, the segment":
        lambda out, memory, h, _: torch.allclose(out[0], joined(memory, h)),
    "a gradient flows back into the memory: .detach() it before the two are joined": lambda out, memory, h, _:
        torch.allclose(out[0], joined(memory, h)) and (h.requires_grad or not out[0].requires_grad),
    "in yours no gradient flows back into the segment: only the memory's slots are to be without one":
        lambda out, memory, h, _:
        torch.allclose(out[0], joined(memory, h)) and (out[0].requires_grad or not h.requires_grad),
    "the next memory is not the last slots of the two": lambda out, memory, h, longest:
        torch.allclose(out[1], last(joined(memory, h), longest)),
    "a gradient flows back through the next memory: .detach() it": lambda out, memory, h, longest:
        torch.allclose(out[1], last(joined(memory, h), longest)) and not out[1].requires_grad,
}


# 10.4, how far back

def begin(slot: int, segment: int) -> int:
    """The first slot of the segment that a slot stands in."""
    return slot // segment * segment


def stepping(step: Callable[[int, int, int], int], more: int = 0) -> Callable[[int, int, int, int], int]:
    """The exercise's function with another step, made from slot, segment and memory, or with ``more`` of them; never
    below 0."""
    def answer(slot: int, layers: int, segment: int, memory: int) -> int:
        for _ in range(layers + more):
            slot = max(0, step(slot, segment, memory))
        return slot
    return answer


def at_once(first: Callable[[int, int, int, int], int]) -> Callable[[int, int, int, int], int]:
    """The exercise's function by a formula; never below 0."""
    return lambda *args: max(0, first(*args))


right_step = stepping(lambda slot, segment, memory: begin(slot, segment) - memory)


def below_0(slot: int, layers: int, segment: int, memory: int) -> int:
    """The exercise's steps, which do not stop where the text begins."""
    for _ in range(layers):
        slot = begin(slot, segment) - memory
    return slot


REACH: Mistakes = {
    "only the memory counts, layers · memory slots; a slot hears its segment too, from its beginning (slot // segment "
    "counts it, slot / segment does not)":
        at_once(lambda slot, layers, segment, memory: slot - layers * memory),
    "only the first layer goes to the beginning of a segment; in the layer below the first slot heard its own segment":
        at_once(lambda slot, layers, segment, memory: begin(slot, segment) - layers * memory),
    "each layer goes one segment back, whatever the memory":
        at_once(lambda slot, layers, segment, memory: begin(slot, segment) - layers * segment),
    "each layer goes back by as many slots as a segment has, whatever the memory":
        at_once(lambda slot, layers, segment, memory: slot - layers * segment),
    "each layer goes a whole segment and a memory back; a slot hears its segment only from its beginning":
        at_once(lambda slot, layers, segment, memory: slot - layers * (segment + memory)),
    "the memory is counted in whole segments; it has `memory` slots":
        stepping(lambda slot, segment, memory: begin(slot, segment) - memory // segment * segment),
    "the memory is taken for whole segments, a part of one for all of it; it has `memory` slots":
        stepping(lambda slot, segment, memory: begin(slot, segment) - ceil(memory / segment) * segment),
    "the memory is taken for a number of segments; it has `memory` slots":
        stepping(lambda slot, segment, memory: begin(slot, segment) - memory * segment),
    "it is below 0, where no text is": below_0,
    "the memory is left out: a slot hears what stands before its segment":
        stepping(lambda slot, segment, memory: begin(slot, segment)),
    "a layer is missing: below the first a slot knows itself, and each layer goes one step":
        lambda slot, layers, *rest: right_step(slot, layers - 1, *rest),
    "there is a layer too many: the embedding is none, there a slot knows itself only":
        stepping(lambda slot, segment, memory: begin(slot, segment) - memory, more=1),
    "only one layer is counted": lambda slot, layers, *rest: right_step(slot, 1, *rest),
    "slot // segment is the number of the segment; it begins at that number · segment":
        stepping(lambda slot, segment, memory: slot // segment - memory),
    "segments are counted up, not down: the segment begins at slot // segment · segment":
        stepping(lambda slot, segment, memory: -begin(-slot, segment) - memory),
    "segments are counted to the nearest: // counts down, round does not":
        stepping(lambda slot, segment, memory: round(slot / segment) * segment - memory),
    "slots are counted from 1, so that the first slot of a segment counts to the one before":
        stepping(lambda slot, segment, memory: begin(slot - 1, segment) - memory),
    "the memory begins one slot too early: it is the `memory` slots before the segment":
        stepping(lambda slot, segment, memory: begin(slot, segment) - memory - 1),
    "the memory begins one slot too late: it is the `memory` slots before the segment":
        stepping(lambda slot, segment, memory: begin(slot, segment) - memory + 1),
    "this is the distance; asked is the slot": lambda slot, *rest: slot - right_step(slot, *rest),
    "this is how many slots are heard of; asked is the first of them":
        lambda slot, *rest: slot - right_step(slot, *rest) + 1,
}


# 10.5, what a longer context gains

def count(share: float, slots: int) -> int:
    """How many of so many targets the share is."""
    return max(1, round(share * slots))


def chosen(baseline: Tensor, long: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
    """The baseline and the longer context's price, never more than it, of some targets."""
    return baseline[places], torch.minimum(baseline, long)[places]


def hardest(baseline: Tensor, long: Tensor, share: float) -> tuple[Tensor, Tensor]:
    """What the targets that count cost with the short context, and with the longer one."""
    return chosen(baseline, long, baseline.topk(count(share, len(baseline))).indices)


def gain(before: Tensor, after: Tensor) -> float:
    """The share of the perplexity that is taken off."""
    return 1 - float((after.mean() - before.mean()).exp())


def right(short: Tensor, long: Tensor, share: float) -> float:
    """The exercise's function."""
    return gain(*hardest(short.amin(0), long, share))


def compared(measure: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., float]:
    """The exercise's function with another measure of the prices with the short context and with the longer one."""
    return lambda short, long, share: float(measure(*hardest(short.amin(0), long, share)))


def against(baseline: Callable[[Tensor], Tensor]) -> Callable[..., float]:
    """The exercise's function with another baseline."""
    return lambda short, long, share: gain(*hardest(baseline(short), long, share))


def over(places: Callable[[Tensor, Tensor, Tensor, int], Tensor]) -> Callable[..., float]:
    """The exercise's function with other targets: their places, from baseline, short, long and how many they are."""
    return lambda short, long, share: gain(*chosen(
        short.amin(0), long, places(short.amin(0), short, long, count(share, len(long)))))


def so_many(number: Callable[[float], int]) -> Callable[..., float]:
    """The exercise's function with another number of targets, made from share times all."""
    return lambda short, long, share: gain(*chosen(
        short.amin(0), long, short.amin(0).topk(number(share * len(long))).indices))


def uncapped(short: Tensor, long: Tensor, share: float) -> float:
    """The gain where the longer context may cost more than the baseline."""
    places = short.amin(0).topk(count(share, len(long))).indices
    return gain(short.amin(0)[places], long[places])


GAIN: Mistakes = {
    "the baseline is the first system's price; it is the smallest that any system pays":
        against(lambda short: short[0]),
    "the baseline is the mean of the systems; it is the smallest price that any of them pays":
        against(lambda short: short.mean(0)),
    "the baseline is the largest price of any system; it is the smallest": against(lambda short: short.amax(0)),
    "the baseline is the system that is best in the mean; each target has the smallest price of all systems":
        against(lambda short: short[short.mean(1).argmin()]),
    "the smallest price is looked for from 0 on, which is below every price": against(lambda short: 0 * short[0]),
    "the easiest targets are chosen; those with the largest baselines count":
        over(lambda baseline, short, long, number: baseline.topk(number, largest=False).indices),
    "the targets are chosen by their price with the longer context; the baselines say what is hard":
        over(lambda baseline, short, long, number: long.topk(number).indices),
    "the targets are chosen by the mean of the systems; the baselines say what is hard":
        over(lambda baseline, short, long, number: short.mean(0).topk(number).indices),
    "the targets are chosen by the first system; the baselines say what is hard":
        over(lambda baseline, short, long, number: short[0].topk(number).indices),
    "the first targets are taken, without asking how hard they are":
        over(lambda baseline, short, long, number: torch.arange(number)),
    "all targets count; only the hardest ones do": over(lambda baseline, *_: torch.arange(len(baseline))),
    "the number of targets is cut, not rounded":
        so_many(lambda number: max(1, int(number))),
    "the number of targets is rounded up": so_many(ceil),
    "no target is left where the share is small, and the mean of none is NaN: one counts at least": so_many(round),
    "a longer context may cost more than the baseline: take the lesser of the two": uncapped,
    "the lesser of the two means is taken; take the lesser price of each target, and then the mean":
        lambda short, long, share: max(0.0, uncapped(short, long, share)),
    "the hardest targets are taken of the short context and of the longer one apart; they are the same targets":
        lambda short, long, share: gain(*(prices.topk(count(share, len(long))).values
                                          for prices in (short.amin(0), torch.minimum(short.amin(0), long)))),
    "this is the difference of the mean prices; asked is what it takes off the perplexity":
        compared(lambda before, after: before.mean() - after.mean()),
    "this is the share of the price that is saved; asked is the share of the perplexity":
        compared(lambda before, after: 1 - after.mean() / before.mean()),
    "this is the difference of the perplexities; asked is the share of the one with the short context":
        compared(lambda before, after: before.mean().exp() - after.mean().exp()),
    "perplexities are averaged; the prices are, and then comes one exponential":
        compared(lambda before, after: 1 - after.exp().mean() / before.exp().mean()),
    "the gain of each target is averaged; the prices are, and then comes one exponential":
        compared(lambda before, after: (1 - (after - before).exp()).mean()),
    "it is divided by the perplexity with the longer context; what is taken off is a share of the one with the short":
        compared(lambda before, after: (before.mean() - after.mean()).exp() - 1),
    "f and f' have changed places: this is 1 − exp(f − f')":
        compared(lambda before, after: 1 - (before.mean() - after.mean()).exp()),
    "this is what is left of the perplexity; asked is what is taken off":
        compared(lambda before, after: (after.mean() - before.mean()).exp()),
    "the sign is wrong: what is taken off is above 0": compared(lambda before, after: -1 + (
        after.mean() - before.mean()).exp()),
    "the prices are added up, not averaged": compared(lambda before, after: 1 - (after.sum() - before.sum()).exp()),
    "the prices are taken for bits: they are nats, so it is e to the power of them, not 2":
        compared(lambda before, after: 1 - ((after.mean() - before.mean()) * log(2)).exp()),
    "this is a number of per cent; asked is a share of 1": lambda *args: 100 * right(*args),
}


# 10.6, the same length for all

def whole(query: int, memory: int) -> Tensor:
    """Everything may be seen, [query key]."""
    return torch.ones(query, memory + query, dtype=torch.bool)


def band(query: int, memory: int, first: int, final: int) -> Tensor:
    """Query i may look at the keys from i + first to i + final, among all keys, [query key]."""
    return whole(query, memory).triu(first).tril(final)


LENGTH: Mistakes = {
    "a query sees memory + 1 slots; itself is among the `memory` ones":
        lambda query, memory: band(query, memory, 0, memory),
    "a query sees memory − 1 slots; itself is the last of `memory`":
        lambda query, memory: band(query, memory, 2, memory),
    "in yours a query sees `memory` slots before it, and not itself; it is the last of those that it sees":
        lambda query, memory: band(query, memory, 0, memory - 1),
    "a query does not see itself: it is the last of the slots that it sees":
        lambda query, memory: band(query, memory, 1, memory - 1),
    "a query sees what comes after it": lambda query, memory: whole(query, memory).triu(1),
    "a query sees the slot that comes after it": lambda query, memory: band(query, memory, 1, memory + 1),
    "True marks what is blocked; True = may look": lambda query, memory: ~band(query, memory, 1, memory),
    "query i is taken for key i; the memory stands before it, so it is key memory + i":
        lambda query, memory: band(query, memory, 1 - memory, 0),
    "query i is taken for key i, and sees all up to it; it is key memory + i, and sees `memory` slots":
        lambda query, memory: whole(query, memory).tril(),
    "all of the memory is seen; the later a query stands, the less of it":
        lambda query, memory: whole(query, memory).tril(memory),
    "the memory is seen and nothing of the segment; a query sees itself, and the last slots before it":
        lambda query, memory: (torch.arange(memory + query) < memory).expand(query, -1),
    "nothing of the memory is seen; it is among the last slots":
        lambda query, memory: band(query, memory, 1, memory) & (torch.arange(memory + query) >= memory),
    "the segment is seen from its beginning, even where that is more than `memory` slots":
        lambda query, memory: whole(query, memory).tril(memory) & (
            (torch.arange(memory + query) >= memory) | whole(query, memory).triu(1)),
    "the memory is left out of the keys: there are memory + query of them": lambda query, memory: torch.ones(
        query, query).bool().tril().triu(1 - memory),
    "every query sees as many slots as the segment has; it is as many as the memory":
        lambda query, memory: band(query, memory, memory - query + 1, memory),
    "the mask lies on its side: its rows are the queries": lambda query, memory: band(query, memory, 1, memory).T,
}


OF_A_LENGTH: Properties = {
    "a query sees a slot that comes after it": lambda out, query, memory: not bool(out.triu(memory + 1).any()),
    "a query does not see itself": lambda out, query, memory: torch.equal(
        out.diagonal(memory), torch.ones(query, dtype=torch.bool)),
    "not every query sees `memory` slots": lambda out, query, memory: out.sum(1).tolist() == [memory] * query,
}
