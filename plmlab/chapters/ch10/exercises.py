"""Exercises of chapter 10: Transformer-XL (Dai et al. 2019), its memory, its distances, and how far back both reach."""

import torch
from jaxtyping import Bool, Float
from torch import Generator, Tensor, rand, randn

from plmlab.chapters.ch10 import mistakes, mistakes_scores
from plmlab.exercises.exercise import Exercise, Probes


def remember(
    memory: Float[Tensor, "batch old model"], h: Float[Tensor, "batch new model"], longest: int,
) -> tuple[Float[Tensor, "batch both model"], Float[Tensor, "batch kept model"]]:
    """What a layer's keys and values are made of, and the memory that the next segment gets.

    ``memory`` holds the vectors of slots before the segment, ``h`` those of the segment's own.
    Keys and values are made of both: the memory's slots first, and no gradient flows back into
    them; then the segment's, into which it does flow back. The next memory is the last ``longest``
    slots of the two, or all of them if they are fewer, with no gradient at all. ``longest`` may be
    0: then nothing is remembered.
    """
    extended = torch.cat([memory.detach(), h], dim=1)
    return extended, extended[:, max(0, extended.shape[1] - longest):].detach()


def draw_memories(rng: Generator) -> Probes:
    """Inputs for 10.1: name → (memory, vectors of the segment, longest memory)."""
    def drawn(batch: int, old: int, new: int, model: int, longest: int, flows: str = "") -> tuple[Tensor, Tensor, int]:
        memory, h = (randn(batch, slots, model, generator=rng) for slots in (old, new))
        return memory.requires_grad_(flows == "memory"), h.requires_grad_(flows == "h"), longest

    return {
        "two slots are remembered, three are read":
            (torch.tensor([[[1.0], [2.0]]]), torch.tensor([[[3.0], [4.0], [5.0]]]), 4),
        "only the memory has a gradient, and is as long as the segment": drawn(3, 2, 2, 5, 2, "memory"),
        "only the segment has a gradient": drawn(2, 5, 3, 4, 5, "h"),
        "a memory shorter than the segment": drawn(2, 2, 5, 3, 3),
        "nothing is remembered yet": drawn(2, 0, 5, 4, 7, "h"),
        "a memory of no slots": drawn(2, 0, 3, 4, 0, "h"),
    }


def scores(
    q: Float[Tensor, "head query width"], k: Float[Tensor, "head key width"], r: Float[Tensor, "head key width"],
    u: Float[Tensor, "head width"], v: Float[Tensor, "head width"],
) -> Float[Tensor, "head query key"]:
    """The scores of Transformer-XL: four terms, added up and divided by the root of the width.

    The keys are those of the memory and of the segment, the queries those of the segment alone: the
    last of the slots that have keys. ``r`` holds the vectors of distances, the farthest first: row c
    that of the distance key − 1 − c, and the last row that of 0. In each head, for a query i and a
    key j that lies i − j slots back, the four terms are q_i·k_j, q_i·r(i − j), u·k_j and
    v·r(i − j). Where the key comes later than the query, the score is 0.
    """
    query, key = q.shape[1], k.shape[1]
    back = (torch.arange(key - query, key)[:, None] - torch.arange(key)).clamp(min=0)
    by_distance = (q + v[:, None]) @ r.mT
    by_key = by_distance.gather(2, (key - 1 - back).expand_as(by_distance))
    return (((q + u[:, None]) @ k.mT + by_key) / q.shape[2] ** 0.5).tril(key - query)


def draw_heads(rng: Generator) -> Probes:
    """Inputs for 10.2: name → (queries, keys, vectors of distances, u, v)."""
    def drawn(head: int, query: int, key: int, width: int) -> tuple[Tensor, ...]:
        return tuple(randn(head, *more, generator=rng) for more in (
            (query, width), (key, width), (key, width), (width,), (width,)))

    ones = torch.ones(1, 3, 1)
    return {
        "two queries, three keys, a width of 1":
            (ones[:, :2], torch.tensor([[[1.0], [2.0], [4.0]]]), torch.tensor([[[30.0], [20.0], [10.0]]]),
             torch.tensor([[2.0]]), torch.tensor([[0.5]])),
        "no memory, two heads": drawn(2, 4, 4, 3),
        "a memory of five slots, as many heads as queries": drawn(3, 3, 8, 5),
        "a single query": drawn(2, 1, 6, 4),
    }


def relative_shift(by_distance: Float[Tensor, "query key"]) -> Float[Tensor, "query key"]:
    """From a column for each distance to a column for each key (appendix B of the paper).

    Column c of ``by_distance`` belongs to the distance key − 1 − c: the farthest comes first, and 0
    last. Column j of the answer belongs to the key j. The queries are the last of the slots that
    have keys, so that row i is the slot key − query + i, and every number has to move left by
    query − 1 − i columns. Where the key comes later than the query, the answer is 0. There are at
    least as many keys as queries.
    """
    query, key = by_distance.shape
    padded = torch.cat([torch.zeros(query, 1), by_distance], dim=1).reshape(key + 1, query)
    return padded[1:].reshape(query, key).tril(key - query)


def draw_tables(rng: Generator) -> Probes:
    """Inputs for 10.3: name → (a table with a column for each distance,)."""
    return {
        "two queries, two keys": (torch.tensor([[1.0, 2.0], [3.0, 4.0]]),),
        "three queries, five keys": (torch.arange(1.0, 16).view(3, 5),),
        "four queries, four keys": (randn(4, 4, generator=rng),),
        "a single query": (randn(1, 4, generator=rng),),
        "six queries, nine keys": (randn(6, 9, generator=rng),),
    }


def farthest(slot: int, layers: int, segment: int, memory: int) -> int:
    """The first slot of a text that ``slot`` can have heard of.

    A text is read in segments of ``segment`` slots, from slot 0 on. In each of the ``layers``
    layers a slot hears its own segment up to itself, and the last ``memory`` slots before that
    segment: what the layer below had made of them, when their own segment was read. Below the
    first layer a slot knows itself only.
    """
    for _ in range(layers):
        slot = max(0, slot // segment * segment - memory)
    return slot


def draw_reaches(_: Generator) -> Probes:
    """Inputs for 10.4: name → (slot, layers, slots of a segment, slots of the memory)."""
    return {
        "one layer": (9, 1, 4, 3),
        "a memory shorter than a segment": (38, 2, 5, 3),
        "a memory longer than a segment": (47, 3, 4, 6),
        "a memory as long as a segment": (22, 2, 5, 5),
        "the first slot of a segment": (24, 2, 6, 4),
        "the last slot of a segment": (34, 3, 7, 2),
        "no memory": (14, 3, 4, 0),
        "the text begins before the reach ends": (10, 4, 4, 3),
        "segments of one slot": (20, 3, 1, 2),
    }


def relative_gain(
    short: Float[Tensor, "system word"], long: Float[Tensor, "word"], share: float,
) -> float:
    """How much of the perplexity a longer context takes off, where it is hard (appendix C of the paper).

    ``short`` has the price in nats, −ln p, that each of some systems pays for each target with the
    short context; ``long`` has those of one of the systems with the longer context. The baseline of
    a target is the smallest price that any system pays with the short context. The ``share`` of
    the targets with the largest baselines count (rounded, and one target at least). With the longer
    context a target costs the new price or the baseline, whichever is less. f and f' are the mean
    prices of the targets that count, with the short context (the baseline) and with the longer one.
    Perplexity is the exponential of a mean price. The gain is 1 less what is left of it:
    1 − exp(f' − f).
    """
    baseline = short.amin(0)
    hard = baseline.topk(max(1, round(share * len(baseline)))).indices
    gained = torch.minimum(long, baseline)[hard].mean() - baseline[hard].mean()
    return 1 - gained.exp().item()


def draw_prices(rng: Generator) -> Probes:
    """Inputs for 10.5: name → (prices with the short context, with the longer one, share)."""
    def drawn(systems: int, slots: int, share: float) -> tuple[Tensor, Tensor, float]:
        return 4 * rand(systems, slots, generator=rng), 3 * rand(slots, generator=rng), share

    worse = drawn(2, 6, 0.5)
    return {
        "two systems, four targets":
            (torch.tensor([[1.0, 3.0, 2.0, 4.0], [2.0, 2.5, 3.2, 0.5]]), torch.tensor([0.2, 2.0, 2.2, 1.0]), 0.5),
        "three systems, three in ten of eleven targets": drawn(3, 11, 0.3),
        "two systems, four in ten of seven targets": drawn(2, 7, 0.4),
        "all targets": drawn(3, 6, 1.0),
        "a share that is less than one target": drawn(2, 5, 0.05),
        "the longer context is worse": (worse[0], worse[0].amax(0) + 1, 0.5),
    }


def same_length(query: int, memory: int) -> Bool[Tensor, "query key"]:
    """A mask that lets every query see equally many slots: the last ``memory``, itself among them.

    True = may look. The ``query`` queries are the slots of a segment; the keys are those of the
    ``memory`` slots before it and of the segment itself, memory + query in all. So the later a
    query stands in its segment, the less of the memory it sees. ``memory`` is 1 or more.
    """
    return torch.ones(query, memory + query, dtype=torch.bool).triu(1).tril(memory)


def draw_lengths(_: Generator) -> Probes:
    """Inputs for 10.6: name → (slots of the segment, slots of the memory)."""
    return {
        "two queries, a memory of three": (2, 3),
        "a memory shorter than the segment": (5, 2),
        "a memory of one slot": (3, 1),
        "a single query": (1, 4),
        "a memory as long as the segment": (4, 4),
        "a memory longer than the segment": (3, 7),
    }


EXERCISES = (
    Exercise(
        "10.1", "read and remember", remember, draw_memories,
        mistakes=mistakes.MEMORY, properties=mistakes.OF_A_MEMORY,
        hints=(
            "Write five slots in a row, two remembered and three read. Which of them may a gradient change, and which "
            "of them are the memory of the next segment, if it holds four?",
            "Stop the gradient of the old slots first, then join the two along the axis of slots, so that the new ones "
            "keep theirs. The next memory is the end of the joined slots, and in it all gradients are stopped.",
            "torch.cat([…], dim=1), .detach(). Beware of x[:, -0:], which is all of x: say where the cut begins, "
            "counted from the front, and see that it is never below 0.",
        ),
    ),
    Exercise(
        "10.2", "a score of four terms", scores, draw_heads,
        mistakes=mistakes_scores.SCORES, properties=mistakes_scores.OF_SCORES,
        hints=(
            "Two of the four terms have k in them. What do you get if you add those two and take k out of the "
            "brackets? And the other two?",
            "So two products are enough, (q + u) with the keys and (q + v) with the distances. The second has a column "
            "for each distance: before it is added, each row needs the number of its distance at each key.",
            "u[:, None] is [head 1 width], and k.mT swaps the last two axes. Make a table of the distances from two "
            "torch.arange, counting the memory, and .gather(2, …) picks columns by it; or pad, reshape and cut. "
            ".tril(n) makes the cells above a diagonal 0.",
        ),
    ),
    Exercise(
        "10.3", "the relative shift", relative_shift, draw_tables,
        mistakes=mistakes_scores.SHIFT, properties=mistakes_scores.OF_A_SHIFT,
        hints=(
            "Write a table of three queries and five keys, and in each cell its distance. By how many columns must the "
            "first row move left, by how many the last?",
            "Each row moves one column less than the row above. Put a zero before each row, and read all numbers off "
            "in rows of another length. Then the old rows begin one column later each time.",
            "torch.cat with a column of torch.zeros, .reshape(key + 1, query), leave out its first row, .reshape back, "
            "and .tril(n). Or no trick: .gather(1, columns), with a table of the columns to pick.",
        ),
    ),
    Exercise(
        "10.4", "how far back", farthest, draw_reaches,
        mistakes=mistakes.REACH,
        hints=(
            "Where does the segment of slot 9 begin, if segments have 4 slots? Which is the first slot that it hears "
            "in one layer, with a memory of 3?",
            "What that first slot heard in the layer below, slot 9 has heard of in two layers. And the first slot may "
            "stand in the middle of a segment: it heard that segment from its beginning.",
            "slot // segment counts the whole segments before the slot. Do the same step once for each layer, and "
            "never go below 0.",
        ),
    ),
    Exercise(
        "10.5", "what a longer context gains", relative_gain, draw_prices,
        mistakes=mistakes.GAIN,
        hints=(
            "Two systems pay 2 and 1 for a target with the short context, and the first pays 1.5 with the longer one. "
            "What is the baseline, and what does the longer context gain here?",
            "Make one row of baselines first, and choose the hard targets by it. Then make a row of what the targets "
            "cost with the longer context, never more than the baseline. Both means are over the same targets.",
            "x.amin(0) is the least of each column, x.topk(n).indices the places of the n largest, and "
            "torch.minimum(a, b) the lesser number place by place. max(1, round(…)) gives one at least.",
        ),
    ),
    Exercise(
        "10.6", "the same length for all", same_length, draw_lengths,
        mistakes=mistakes.LENGTH, properties=mistakes.OF_A_LENGTH,
        hints=(
            "Take a segment of two slots behind a memory of three. Which number among the keys has the first query "
            "itself? Which three slots does it see?",
            "Each row has one stretch of True, as long as the memory, and it ends at the query itself. From row to row "
            "it moves one to the right. So two diagonals bound it.",
            "torch.ones(…, dtype=torch.bool), and .triu(a) and .tril(b) cut a band out of it. Or compare two "
            "torch.arange, one of them as a column, and join two comparisons with &, each in parentheses.",
        ),
    ),
)
