"""Exercises of chapter 10: Transformer-XL (Dai et al. 2019), its memory, its relative positions, and its receptive
field."""

import torch
from jaxtyping import Bool, Float
from torch import Generator, Tensor, rand, randn

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def remember(
    memory: Float[Tensor, "batch old model"], h: Float[Tensor, "batch new model"], longest: int,
) -> tuple[Float[Tensor, "batch both model"], Float[Tensor, "batch kept model"]]:
    """What a layer's keys and values are made of, and the memory that the next segment gets.

    ``memory`` holds the vectors of positions before the segment, ``h`` those of the segment's own.
    Keys and values are made of both: the memory's positions first, and no gradient flows back into
    them; then the segment's, into which it does flow back. The next memory is the last ``longest``
    positions of the two, or all of them if they are fewer, with no gradient at all. ``longest`` may be
    0: then nothing is remembered.
    """
    extended = torch.cat([memory.detach(), h], dim=1)
    return extended, extended[:, max(0, extended.shape[1] - longest):].detach()


def draw_memories(rng: Generator) -> Probes:
    """Inputs for 10.1: name → (memory, vectors of the segment, longest memory)."""
    def drawn(batch: int, old: int, new: int, model: int, longest: int, flows: str = "") -> tuple[Tensor, Tensor, int]:
        memory, h = (randn(batch, positions, model, generator=rng) for positions in (old, new))
        return memory.requires_grad_(flows == "memory"), h.requires_grad_(flows == "h"), longest

    return {
        "two positions are remembered, three are read":
            (torch.tensor([[[1.0], [2.0]]]), torch.tensor([[[3.0], [4.0], [5.0]]]), 4),
        "only the memory has a gradient, and is as long as the segment": drawn(3, 2, 2, 5, 2, "memory"),
        "only the segment has a gradient": drawn(2, 5, 3, 4, 5, "h"),
        "a memory shorter than the segment": drawn(2, 2, 5, 3, 3),
        "nothing is remembered yet": drawn(2, 0, 5, 4, 7, "h"),
        "a memory of no positions": drawn(2, 0, 3, 4, 0, "h"),
    }


def scores(
    q: Float[Tensor, "head query width"], k: Float[Tensor, "head key width"], r: Float[Tensor, "head key width"],
    u: Float[Tensor, "head width"], v: Float[Tensor, "head width"],
) -> Float[Tensor, "head query key"]:
    """The scores of Transformer-XL: four terms, added up and divided by the root of the width.

    The keys are those of the memory and of the segment, the queries those of the segment alone: the
    last of the positions that have keys. ``r`` holds the vectors of distances, the farthest first: row c
    that of the distance key − 1 − c, and the last row that of 0. In each head, for a query i and a
    key j that lies i − j positions back, the four terms are q_i·k_j, q_i·r(i − j), u·k_j and
    v·r(i − j). Where the key comes later than the query, the score is 0.
    """
    query, key = q.shape[1], k.shape[1]
    back = (torch.arange(key - query, key)[:, None] - torch.arange(key)).clamp(min=0)
    by_distance = (q + v[:, None]) @ r.mT
    by_key = by_distance.gather(2, (key - 1 - back).expand_as(by_distance))
    return (((q + u[:, None]) @ k.mT + by_key) / q.shape[2] ** 0.5).tril(key - query)


def draw_heads(rng: Generator) -> Probes:
    """Inputs for 10.2: name → (queries, keys, encodings of the distances, u, v)."""
    def drawn(head: int, query: int, key: int, width: int) -> tuple[Tensor, ...]:
        return tuple(randn(head, *more, generator=rng) for more in (
            (query, width), (key, width), (key, width), (width,), (width,)))

    ones = torch.ones(1, 3, 1)
    return {
        "two queries, three keys, a width of 1":
            (ones[:, :2], torch.tensor([[[1.0], [2.0], [4.0]]]), torch.tensor([[[30.0], [20.0], [10.0]]]),
             torch.tensor([[2.0]]), torch.tensor([[0.5]])),
        "no memory, two heads": drawn(2, 4, 4, 3),
        "a memory of five positions, as many heads as queries": drawn(3, 3, 8, 5),
        "a single query": drawn(2, 1, 6, 4),
    }


def relative_shift(by_distance: Float[Tensor, "query key"]) -> Float[Tensor, "query key"]:
    """From a column for each distance to a column for each key (appendix B of the paper).

    Column c of ``by_distance`` belongs to the distance key − 1 − c: the farthest comes first, and 0
    last. Column j of the answer belongs to the key j. The queries are the last of the positions that
    have keys, so that row i is the position key − query + i, and every number has to move left by
    query − 1 − i columns. Where the key comes later than the query, the answer is 0. There are at
    least as many keys as queries.
    """
    query, key = by_distance.shape
    padded = torch.cat([torch.zeros(query, 1), by_distance], dim=1).reshape(key + 1, query)
    return padded[1:].reshape(query, key).tril(key - query)


def draw_tables(rng: Generator) -> Probes:
    """Inputs for 10.3: name → (a matrix with a column for each distance,)."""
    return {
        "two queries, two keys": (torch.tensor([[1.0, 2.0], [3.0, 4.0]]),),
        "three queries, five keys": (torch.arange(1.0, 16).view(3, 5),),
        "four queries, four keys": (randn(4, 4, generator=rng),),
        "a single query": (randn(1, 4, generator=rng),),
        "six queries, nine keys": (randn(6, 9, generator=rng),),
    }


def farthest(position: int, layers: int, segment: int, memory: int) -> int:
    """The first position of a text that ``position`` can have heard of.

    A text is read in segments of ``segment`` positions, from position 0 on. In each of the ``layers``
    layers a position hears its own segment up to itself, and the last ``memory`` positions before that
    segment: what the layer below had made of them, when their own segment was read. Below the
    first layer a position knows itself only.
    """
    for _ in range(layers):
        position = max(0, position // segment * segment - memory)
    return position


def draw_reaches(_: Generator) -> Probes:
    """Inputs for 10.4: name → (position, layers, segment length, memory length)."""
    return {
        "one layer": (9, 1, 4, 3),
        "a memory shorter than a segment": (38, 2, 5, 3),
        "a memory longer than a segment": (47, 3, 4, 6),
        "a memory as long as a segment": (22, 2, 5, 5),
        "the first position of a segment": (24, 2, 6, 4),
        "the last position of a segment": (34, 3, 7, 2),
        "no memory": (14, 3, 4, 0),
        "the text begins before the reach ends": (10, 4, 4, 3),
        "segments of one position": (20, 3, 1, 2),
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
    """Inputs for 10.5: name → (losses with the short context, losses with the longer one, fraction)."""
    def drawn(systems: int, positions: int, share: float) -> tuple[Tensor, Tensor, float]:
        return 4 * rand(systems, positions, generator=rng), 3 * rand(positions, generator=rng), share

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
    """A mask that lets every query see equally many positions: the last ``memory``, itself among them.

    True = may look. The ``query`` queries are the positions of a segment; the keys are those of the
    ``memory`` positions before it and of the segment itself, memory + query in all. So the later a
    query stands in its segment, the less of the memory it sees. ``memory`` is 1 or more.
    """
    return torch.ones(query, memory + query, dtype=torch.bool).triu(1).tril(memory)


def draw_lengths(_: Generator) -> Probes:
    """Inputs for 10.6: name → (segment length, memory length)."""
    return {
        "two queries, a memory of three": (2, 3),
        "a memory shorter than the segment": (5, 2),
        "a memory of one position": (3, 1),
        "a single query": (1, 4),
        "a memory as long as the segment": (4, 4),
        "a memory longer than the segment": (3, 7),
    }


EXERCISES = (
    Exercise(
        "10.1", "read and remember", remember, draw_memories,
        mistakes={
            "the first positions are kept; the memory is the last ones":
                edit("max(0, extended.shape[1] - longest):", ":longest"),
            "the memory stands behind the segment: what is older comes first":
                edit("memory.detach(), h", "h, memory.detach()"),
            "a longest memory of 0 keeps everything: x[:, -0:] is x[:, 0:]":
                edit("max(0, extended.shape[1] - longest)", "-longest"),
            "positions are lost where the longest memory is longer than what there is: the cut begins below 0, and "
            "counts "
            "from the end": edit("max(0, extended.shape[1] - longest)", "extended.shape[1] - longest"),
            "only positions of the segment are remembered; where it is shorter than the longest memory, older ones "
            "stay":
                edit("extended[:, max(0, extended.shape[1]", "h[:, max(0, h.shape[1]"),
            "as many positions are remembered as the segment has; the memory has a length of its own":
                edit("max(0, extended.shape[1] - longest)", "memory.shape[1]"),
            "everything is remembered, however long": edit("max(0, extended.shape[1] - longest)", ""),
            "the last texts of the batch are kept, not the last positions of each text: the positions are axis 1":
                edit(":, max(0, extended.shape[1] - longest)", "-longest"),
            "the two are joined along the batch (dim 0); the positions are axis 1": edit("dim=1", "dim=0"),
            "the next memory comes first; give what keys and values are made of, then the memory":
                edit("return extended, ", "return ", "):].detach()", "):].detach(), extended"),
        },
        properties={
            "what keys and values are made of is not the memory and, behind it, the segment":
                lambda out, *args: torch.allclose(out[0], remember(*args)[0]),
            "a gradient flows back into the memory: .detach() it before the two are joined":
                lambda out, *args: torch.allclose(out[0], remember(*args)[0])
                and out[0].requires_grad <= args[1].requires_grad,
            "in yours no gradient flows back into the segment: only the memory's positions are to be without one":
                lambda out, *args: torch.allclose(out[0], remember(*args)[0])
                and out[0].requires_grad >= args[1].requires_grad,
            "the next memory is not the last positions of the two":
                lambda out, *args: torch.allclose(out[1], remember(*args)[1]),
            "a gradient flows back through the next memory: .detach() it":
                lambda out, *args: torch.allclose(out[1], remember(*args)[1]) and not out[1].requires_grad,
        },
        hints=(
            "Write five positions in a row, two remembered and three read. Which of them may a gradient change, and "
            "which "
            "of them are the memory of the next segment, if it holds four?",
            "Stop the gradient of the old positions first, then join the two along the axis of positions, so that the "
            "new ones "
            "keep theirs. The next memory is the end of the joined positions, and in it all gradients are stopped.",
            "torch.cat([…], dim=1), .detach(). Beware of x[:, -0:], which is all of x: say where the cut begins, "
            "counted from the front, and see that it is never below 0.",
        ),
    ),
    Exercise(
        "10.2", "a score of four terms", scores, draw_heads,
        mistakes={
            "the vectors u and v have changed places: u goes with the keys, v with the distances":
                edit("v[:, None]) @ r", "u[:, None]) @ r", "u[:, None]) @ k", "v[:, None]) @ k"),
            "u is added to the keys and v to the distances; both stand in the place of a query":
                edit("(q + v[:, None]) @ r", "q @ (r + v[:, None])", "(q + u[:, None]) @ k", "q @ (k + u[:, None])"),
            "u and v are both added to the query; u goes with the keys alone, v with the distances alone":
                edit("q + v[", "q + (u + v)[", "q + u[", "q + (u + v)["),
            "nothing is shifted: the columns of the second product are distances, not keys":
                edit("key - 1 - back", "torch.arange(key)"),
            "the distances are counted from the front: the first row of r is the farthest, and the last is 0":
                edit("key - 1 - back", "back"),
            "the memory is left out of the mask: query i sees the keys up to key − query + i":
                edit(".tril(key - query)", ".tril()"),
            "the memory is left out of distances and mask: query i is the position key − query + i, not i":
                edit("torch.arange(key - query, key)", "torch.arange(query)", ".tril(key - query)", ".tril()"),
            "the sum is not divided by the root of the width": edit(" / q.shape[2] ** 0.5", ""),
            "the sum is divided by the width, not by its root": edit(" ** 0.5", ""),
            "the sum is divided by the width and by 2: ** binds tighter than /, so write ** 0.5":
                edit("** 0.5", "** 1 / 2"),
        },
        properties={
            "a key that comes later than the query has a score other than 0":
                lambda out, q, k, *_: torch.equal(out, out.tril(k.shape[1] - q.shape[1])),
            "the last query is wrong already, where no number has to move: look at the four terms, and at what divides "
            "them": lambda out, *args: torch.allclose(out[:, -1], scores(*args)[:, -1], rtol=1e-3, atol=1e-3),
            "the last query is right, and another is wrong: look at which distance each key has":
                lambda out, *args: torch.allclose(out, scores(*args), rtol=1e-3, atol=1e-3),
        },
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
        mistakes={
            "nothing is moved: these are distances still, not keys":
                edit("padded[1:].reshape(query, key)", "by_distance"),
            "the rows move to the right; they move left": edit(
                "padded[1:].reshape(query, key)",
                "torch.stack([row.roll(query - 1 - i) for i, row in enumerate(by_distance)])"),
            "row i moves by i columns; the last row is the one that stays, so it is query − 1 − i": edit(
                "padded[1:].reshape(query, key)", "torch.stack([row.roll(-i) for i, row in enumerate(by_distance)])"),
            "all rows move by as much as the first":
                edit("padded[1:].reshape(query, key)", "by_distance.roll(1 - query, 1)"),
            "the memory is left out of the mask: row i sees the keys up to key − query + i":
                edit(".tril(key - query)", ".tril()"),
            "every row moves by one column more than it must; do the zeros stand behind the rows? They belong before "
            "them": edit("torch.zeros(query, 1), by_distance", "by_distance, torch.zeros(query, 1)"),
            "the last of the new rows is left out, and the rows move to the right; it is the first":
                edit("[1:]", "[:-1]"),
            "the table is turned (.T); its numbers are to be read off in rows of another length (.reshape)":
                edit(".reshape(key + 1, query)", ".T"),
            "later keys are not 0: numbers of the next row stand there": edit(".tril(key - query)", ""),
        },
        properties={
            "a key that comes later than the query is not 0":
                lambda out, x: torch.equal(out, out.tril(x.shape[1] - x.shape[0])),
            "the last row has changed; its distances stand at their keys already":
                lambda out, x: torch.allclose(out[-1], x[-1], rtol=1e-3, atol=1e-3),
            "a row holds a number that is not its own": lambda out, x: all(
                bool(torch.isin(mine[mine != 0], row).all()) for mine, row in zip(out, x, strict=True)),
        },
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
        mistakes={
            "only the memory counts, layers · memory positions; a position hears its segment too, from its beginning "
            "(position // "
            "segment counts it, position / segment does not)": edit("// segment * segment ", ""),
            "only the first layer goes to the beginning of a segment; in the layer below the first position heard its "
            "own "
            "segment": edit("for _ in range(layers):\n        position", "position", "- memory", "- layers * memory"),
            "each layer goes one segment back, whatever the memory": edit("- memory", "- segment"),
            "the memory is counted in whole segments; it has `memory` positions":
                edit("- memory", "- memory // segment * segment"),
            "the memory is taken for a number of segments; it has `memory` positions":
                edit("- memory", "- memory * segment"),
            "it is below 0, where no text is": edit("max(0, position", "(position"),
            "the memory is left out: a position hears what stands before its segment": edit(" - memory", ""),
            "a layer is missing: below the first a position knows itself, and each layer goes one step":
                edit("range(layers)", "range(layers - 1)"),
            "there is a layer too many: the embedding is none, there a position knows itself only":
                edit("range(layers)", "range(layers + 1)"),
            "position // segment is the number of the segment; it begins at that number · segment": edit(" * segment",
                                                                                                         ""),
        },
        hints=(
            "Where does the segment of position 9 begin, if segments have 4 positions? Which is the first position "
            "that it hears "
            "in one layer, with a memory of 3?",
            "What that first position heard in the layer below, position 9 has heard of in two layers. And the first "
            "position may "
            "stand in the middle of a segment: it heard that segment from its beginning.",
            "position // segment counts the whole segments before the position. Do the same step once for each layer, "
            "and "
            "never go below 0.",
        ),
    ),
    Exercise(
        "10.5", "what a longer context gains", relative_gain, draw_prices,
        mistakes={
            "the baseline is the first system's price; it is the smallest that any system pays":
                edit("short.amin(0)", "short[0]"),
            "the easiest targets are chosen; those with the largest baselines count":
                edit(").indices", ", largest=False).indices"),
            "the targets are chosen by their price with the longer context; the baselines say what is hard":
                edit("baseline.topk", "long.topk"),
            "the number of targets is cut, not rounded": edit("round", "int"),
            "no target is left where the share is small, and the mean of none is NaN: one counts at least":
                edit("max(1, round(share * len(baseline)))", "round(share * len(baseline))"),
            "a longer context may cost more than the baseline: take the lesser of the two":
                edit("torch.minimum(long, baseline)", "long"),
            "the lesser of the two means is taken; take the lesser price of each target, and then the mean":
                edit("torch.minimum(long, baseline)", "long", "gained.exp", "gained.clamp(max=0).exp"),
            "this is the difference of the mean prices; asked is what it takes off the perplexity":
                edit("1 - gained.exp()", "-gained"),
            "perplexities are averaged; the prices are, and then comes one exponential": edit(
                "[hard].mean() - baseline[hard].mean", "[hard].exp().mean() / baseline[hard].exp().mean",
                "gained.exp()", "gained"),
            "the gain of each target is averaged; the prices are, and then comes one exponential": edit(
                "[hard].mean() - baseline[hard].mean()", "[hard] - baseline[hard]", "exp()", "exp().mean()"),
        },
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
        mistakes={
            "a query sees memory + 1 positions; itself is among the `memory` ones": edit("triu(1)", "triu(0)"),
            "in yours a query sees `memory` positions before it, and not itself; it is the last of those that it sees":
                edit("triu(1).tril(memory)", "triu(0).tril(memory - 1)"),
            "a query does not see itself: it is the last of the positions that it sees":
                edit("tril(memory)", "tril(memory - 1)"),
            "a query sees what comes after it": edit(".tril(memory)", ""),
            "True marks what is blocked; True = may look": edit("return ", "return ~"),
            "query i is taken for key i; the memory stands before it, so it is key memory + i":
                edit("triu(1).tril(memory)", "triu(1 - memory).tril(0)"),
            "query i is taken for key i, and sees all up to it; it is key memory + i, and sees `memory` positions":
                edit("triu(1).tril(memory)", "tril()"),
            "all of the memory is seen; the later a query stands, the less of it": edit(".triu(1)", ""),
        },
        properties={
            "a query sees a position that comes after it": lambda out, _, memory: not bool(out.triu(memory + 1).any()),
            "a query does not see itself": lambda out, query, memory: out.diagonal(memory).tolist() == [True] * query,
            "not every query sees `memory` positions":
                lambda out, query, memory: out.sum(1).tolist() == [memory] * query,
        },
        hints=(
            "Take a segment of two positions behind a memory of three. Which number among the keys has the first query "
            "itself? Which three positions does it see?",
            "Each row has one stretch of True, as long as the memory, and it ends at the query itself. From row to row "
            "it moves one to the right. So two diagonals bound it.",
            "torch.ones(…, dtype=torch.bool), and .triu(a) and .tril(b) cut a band out of it. Or compare two "
            "torch.arange, one of them as a column, and join two comparisons with &, each in parentheses.",
        ),
    ),
)
