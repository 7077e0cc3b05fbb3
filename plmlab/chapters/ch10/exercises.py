"""Exercises of chapter 10: Transformer-XL (Dai et al. 2019), its memory, its relative positions, and its receptive
field."""

import torch
from jaxtyping import Bool, Float
from torch import Generator, Tensor, rand, randn

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def update_memory(
    memory: Float[Tensor, "batch old model"], h: Float[Tensor, "batch new model"], max_length: int,
) -> tuple[Float[Tensor, "batch both model"], Float[Tensor, "batch kept model"]]:
    """The input of a layer's keys and values, and the memory for the next segment.

    ``memory`` holds the hidden states of the positions before the segment, ``h`` those of the segment.
    Keys and values are computed from both, with the memory's positions first. No gradient flows back
    into the memory; the segment receives gradients. The next memory is the last ``max_length`` positions of
    the two, or all of them if there are fewer, detached from the graph. ``max_length`` may be 0: then the
    memory is empty.
    """
    extended = torch.cat([memory.detach(), h], dim=1)
    return extended, extended[:, max(0, extended.shape[1] - max_length):].detach()


def draw_memories(rng: Generator) -> Probes:
    """Inputs for 10.1: name → (memory, vectors of the segment, max_length)."""
    def drawn(batch: int, old: int, new: int, model: int, max_length: int, flows: str = "",
              ) -> tuple[Tensor, Tensor, int]:
        memory, h = (randn(batch, positions, model, generator=rng) for positions in (old, new))
        return memory.requires_grad_(flows == "memory"), h.requires_grad_(flows == "h"), max_length

    return {
        "a memory of two positions, a segment of three":
            (torch.tensor([[[1.0], [2.0]]]), torch.tensor([[[3.0], [4.0], [5.0]]]), 4),
        "only the memory requires a gradient; it is as long as the segment": drawn(3, 2, 2, 5, 2, "memory"),
        "only the segment requires a gradient": drawn(2, 5, 3, 4, 5, "h"),
        "a memory shorter than the segment": drawn(2, 2, 5, 3, 3),
        "an empty memory at the start": drawn(2, 0, 5, 4, 7, "h"),
        "a maximum memory length of 0": drawn(2, 0, 3, 4, 0, "h"),
    }


def scores(
    q: Float[Tensor, "head query width"], k: Float[Tensor, "head key width"], r: Float[Tensor, "head key width"],
    u: Float[Tensor, "head width"], v: Float[Tensor, "head width"],
) -> Float[Tensor, "head query key"]:
    """Transformer-XL's attention scores: the sum of four terms, divided by the square root of the width.

    The keys are those of the memory and of the segment; the queries are those of the segment alone, i.e.
    of the last positions that have keys. ``r`` holds the relative position encodings, the largest distance
    first: row c belongs to the distance key − 1 − c, and the last row to 0. In each head, for a query i and
    a key j at distance i − j, the four terms are q_i·k_j, q_i·r(i − j), u·k_j and v·r(i − j). If the key
    comes after the query, the score is 0.
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
        "a memory of five positions, the same number of heads and queries": drawn(3, 3, 8, 5),
        "a single query": drawn(2, 1, 6, 4),
    }


def relative_shift(by_distance: Float[Tensor, "query key"]) -> Float[Tensor, "query key"]:
    """Convert a matrix with a column for each distance to one with a column for each key (appendix B).

    Column c of ``by_distance`` belongs to the distance key − 1 − c: the largest distance comes first, and 0
    last. Column j of the result belongs to the key j. The queries are the last of the positions that
    have keys, so that row i belongs to position key − query + i, and each of its entries moves left by
    query − 1 − i columns. If the key comes after the query, the result is 0. There are at least as
    many keys as queries.
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


def receptive_field_start(position: int, layers: int, segment: int, memory: int) -> int:
    """The first position of a text from which information can reach ``position`` in the last layer.

    A text is processed in segments of ``segment`` positions, starting at position 0. In each of the
    ``layers`` layers a position attends to the positions of its own segment up to itself, and to the last
    ``memory`` positions before the segment, i.e. to the hidden states that the layer below computed when
    their segment was processed. Below the first layer, a position depends on itself only.
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
        "a receptive field that reaches the start of the text": (10, 4, 4, 3),
        "segments of one position": (20, 3, 1, 2),
    }


def relative_gain(
    short: Float[Tensor, "system word"], long: Float[Tensor, "word"], share: float,
) -> float:
    """The relative reduction of the perplexity by a longer context on hard targets (appendix C of the paper).

    ``short`` holds the losses in nats, −ln p, of several systems on each target with the short context;
    ``long`` those of one of the systems with the longer context. The baseline of a target is the smallest
    loss of any system with the short context. Only the fraction ``share`` of the targets with the largest
    baselines is used (rounded, and at least one target). With the longer context, the loss on a target is
    the minimum of the new loss and the baseline. f and f' are the mean losses over these targets, with
    the short context (the baseline) and with the longer one. Perplexity is the exponential of a mean
    loss. The gain is its relative reduction, 1 − exp(f' − f).
    """
    baseline = short.amin(0)
    hard = baseline.topk(max(1, round(share * len(baseline)))).indices
    gained = torch.minimum(long, baseline)[hard].mean() - baseline[hard].mean()
    return 1 - gained.exp().item()


def draw_losses(rng: Generator) -> Probes:
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
        "a fraction of less than one target": drawn(2, 5, 0.05),
        "the longer context is worse": (worse[0], worse[0].amax(0) + 1, 0.5),
    }


def same_length(query: int, memory: int) -> Bool[Tensor, "query key"]:
    """An attention mask with the same context length for every query: ``memory`` positions, itself included.

    True = can attend. The ``query`` queries are the positions of a segment; the keys are those of the
    ``memory`` positions before it and of the segment itself, memory + query in all. So later queries attend
    to fewer positions of the memory. ``memory`` is at least 1.
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
        "10.1", "update the memory", update_memory, draw_memories,
        mistakes={
            "the first positions are kept; the memory consists of the last ones":
                edit("max(0, extended.shape[1] - max_length):", ":max_length"),
            "the memory is placed after the segment; earlier positions come first":
                edit("memory.detach(), h", "h, memory.detach()"),
            "`max_length` = 0 keeps everything: x[:, -0:] is x[:, 0:]":
                edit("max(0, extended.shape[1] - max_length)", "-max_length"),
            "positions are lost if `max_length` exceeds their number: the start of the slice is negative":
                edit("max(0, extended.shape[1] - max_length)", "extended.shape[1] - max_length"),
            "only positions of the segment are kept; if it is shorter than `max_length`, keep old ones too":
                edit("extended[:, max(0, extended.shape[1]", "h[:, max(0, h.shape[1]"),
            "the memory keeps its old length instead of `max_length`":
                edit("max(0, extended.shape[1] - max_length)", "memory.shape[1]"),
            "everything is kept, whatever `max_length` is": edit("max(0, extended.shape[1] - max_length)", ""),
            "the last texts of the batch are kept, not the last positions of each text: positions are axis 1":
                edit(":, max(0, extended.shape[1] - max_length)", "-max_length"),
            "memory and segment are concatenated along the batch (dim 0); positions are axis 1": edit("dim=1", "dim=0"),
            "the next memory is returned first; return the input of keys and values before it":
                edit("return extended, ", "return ", "):].detach()", "):].detach(), extended"),
        },
        properties={
            "the input of keys and values is not the memory followed by the segment":
                lambda out, *args: torch.allclose(out[0], update_memory(*args)[0]),
            "a gradient flows back into the memory: .detach() it before concatenating":
                lambda out, *args: torch.allclose(out[0], update_memory(*args)[0])
                and out[0].requires_grad <= args[1].requires_grad,
            "no gradient flows back into the segment: only the memory's positions should have none":
                lambda out, *args: torch.allclose(out[0], update_memory(*args)[0])
                and out[0].requires_grad >= args[1].requires_grad,
            "the next memory is not the last positions of memory and segment":
                lambda out, *args: torch.allclose(out[1], update_memory(*args)[1]),
            "a gradient flows back through the next memory: .detach() it":
                lambda out, *args: torch.allclose(out[1], update_memory(*args)[1]) and not out[1].requires_grad,
        },
        hints=(
            "Write down five positions, two of the memory and three of the segment. Which of them receive a gradient, "
            "and which of them form the memory of the next segment if it holds four?",
            "First detach the old positions, then concatenate along the axis of positions, so that the new ones keep "
            "their gradient. The next memory is the end of the result, entirely detached.",
            "torch.cat([…], dim=1), .detach(). Note that x[:, -0:] is all of x: compute the start of the slice from "
            "the front, and make sure that it is never negative.",
        ),
    ),
    Exercise(
        "10.2", "a score of four terms", scores, draw_heads,
        mistakes={
            "the vectors u and v are swapped: u goes with the keys, v with the distances":
                edit("v[:, None]) @ r", "u[:, None]) @ r", "u[:, None]) @ k", "v[:, None]) @ k"),
            "u is added to the keys and v to the distances; add both to the queries":
                edit("(q + v[:, None]) @ r", "q @ (r + v[:, None])", "(q + u[:, None]) @ k", "q @ (k + u[:, None])"),
            "u and v are both added to the query; u goes with the keys only, v with the distances only":
                edit("q + v[", "q + (u + v)[", "q + u[", "q + (u + v)["),
            "the relative shift is missing: the columns of the second product are distances, not keys":
                edit("key - 1 - back", "torch.arange(key)"),
            "the distances are in the wrong order: the first row of r is the largest distance, the last is 0":
                edit("key - 1 - back", "back"),
            "the mask ignores the memory: query i can attend to the keys up to key − query + i":
                edit(".tril(key - query)", ".tril()"),
            "distances and mask ignore the memory: query i is at position key − query + i, not i":
                edit("torch.arange(key - query, key)", "torch.arange(query)", ".tril(key - query)", ".tril()"),
            "the sum is not divided by the square root of the width": edit(" / q.shape[2] ** 0.5", ""),
            "the sum is divided by the width, not by its square root": edit(" ** 0.5", ""),
            "the sum is divided by the width and by 2: ** binds tighter than /, so write ** 0.5":
                edit("** 0.5", "** 1 / 2"),
        },
        properties={
            "a key after the query has a score other than 0":
                lambda out, q, k, *_: torch.equal(out, out.tril(k.shape[1] - q.shape[1])),
            "even the last query, which needs no shift, has wrong scores: check the four terms and the divisor":
                lambda out, *args: torch.allclose(out[:, -1], scores(*args)[:, -1], rtol=1e-3, atol=1e-3),
            "the last query is correct, but another one is wrong: check the distance of each key":
                lambda out, *args: torch.allclose(out, scores(*args), rtol=1e-3, atol=1e-3),
        },
        hints=(
            "Two of the four terms contain k. What do you get if you factor k out of them, and r out of the others?",
            "Two products suffice: (q + u) with the keys and (q + v) with the distances. The second has one column "
            "per distance. Before adding it, select in each row the entry that belongs to the distance of each key.",
            "u[:, None] is [head 1 width], and k.mT swaps the last two axes. Build a table of distances from two "
            "torch.arange, accounting for the memory, and select columns with .gather(2, …); or pad, reshape and "
            "slice. .tril(n) sets the cells above a diagonal to 0.",
        ),
    ),
    Exercise(
        "10.3", "the relative shift", relative_shift, draw_tables,
        mistakes={
            "nothing is shifted: the columns still belong to distances, not to keys":
                edit("padded[1:].reshape(query, key)", "by_distance"),
            "the rows are shifted to the right; shift them to the left": edit(
                "padded[1:].reshape(query, key)",
                "torch.stack([row.roll(query - 1 - i) for i, row in enumerate(by_distance)])"),
            "row i is shifted by i columns; the shift is query − 1 − i, so that the last row stays": edit(
                "padded[1:].reshape(query, key)", "torch.stack([row.roll(-i) for i, row in enumerate(by_distance)])"),
            "all rows are shifted by the same amount as the first":
                edit("padded[1:].reshape(query, key)", "by_distance.roll(1 - query, 1)"),
            "the mask ignores the memory: row i has the keys up to key − query + i":
                edit(".tril(key - query)", ".tril()"),
            "every row is shifted one column too far; are the zeros after the rows? They belong before them":
                edit("torch.zeros(query, 1), by_distance", "by_distance, torch.zeros(query, 1)"),
            "the last of the new rows is dropped, which shifts the rows to the right; drop the first one":
                edit("[1:]", "[:-1]"),
            "the matrix is transposed (.T); read its entries in rows of another length (.reshape)":
                edit(".reshape(key + 1, query)", ".T"),
            "later keys are not 0: they hold entries of the next row": edit(".tril(key - query)", ""),
        },
        properties={
            "a key after the query is not 0": lambda out, x: torch.equal(out, out.tril(x.shape[1] - x.shape[0])),
            "the last row has changed; its distances are already at the correct keys":
                lambda out, x: torch.allclose(out[-1], x[-1], rtol=1e-3, atol=1e-3),
            "a row contains an entry of another row": lambda out, x: all(
                bool(torch.isin(mine[mine != 0], row).all()) for mine, row in zip(out, x, strict=True)),
        },
        hints=(
            "Write down a table of three queries and five keys, with the distance in each cell. By how many columns "
            "is the first row shifted left, and by how many the last?",
            "Each row is shifted by one column less than the row above. Put a zero before each row, and "
            "reshape the matrix to rows of another length. Each old row then starts one column later than the last.",
            "torch.cat with a column of torch.zeros, .reshape(key + 1, query), drop its first row, .reshape back, and "
            ".tril(n). Or without reshaping: .gather(1, columns), with a table of the columns to select.",
        ),
    ),
    Exercise(
        "10.4", "the receptive field", receptive_field_start, draw_reaches,
        mistakes={
            "only the memory counts (layers · memory positions); a position also attends to its own segment from the "
            "start, position // segment * segment (note that / does not round)": edit("// segment * segment ", ""),
            "only the first layer reaches the start of a segment; in the layer below, the first position reached "
            "attends to its own segment too":
                edit("for _ in range(layers):\n        position", "position", "- memory", "- layers * memory"),
            "each layer reaches one segment back, whatever the memory length": edit("- memory", "- segment"),
            "the memory length is rounded down to whole segments; it has `memory` positions":
                edit("- memory", "- memory // segment * segment"),
            "the memory length is treated as a number of segments; it has `memory` positions":
                edit("- memory", "- memory * segment"),
            "the result is negative; the text starts at position 0": edit("max(0, position", "(position"),
            "the memory is ignored: a position also attends to positions before its segment": edit(" - memory", ""),
            "a layer is missing: below the first a position depends on itself only, and each layer adds one step":
                edit("range(layers)", "range(layers - 1)"),
            "there is one layer too many: the embedding is not a layer, and there a position depends on itself only":
                edit("range(layers)", "range(layers + 1)"),
            "position // segment is the index of the segment; the segment starts at this index · segment":
                edit(" * segment", ""),
        },
        hints=(
            "Where does the segment of position 9 start, if segments have 4 positions? Which is the first position "
            "that it attends to in one layer, with a memory of 3?",
            "Whatever reaches that first position in the layer below reaches position 9 in two layers. The first "
            "position may be in the middle of a segment: it attends to that segment from its start.",
            "position // segment counts the whole segments before the position. Repeat the same step once per layer, "
            "and never go below 0.",
        ),
    ),
    Exercise(
        "10.5", "the gain of a longer context", relative_gain, draw_losses,
        mistakes={
            "the baseline is the first system's loss; use the smallest loss of any system":
                edit("short.amin(0)", "short[0]"),
            "the easiest targets are selected; select those with the largest baselines":
                edit(").indices", ", largest=False).indices"),
            "the targets are selected by their loss with the longer context; select them by their baselines":
                edit("baseline.topk", "long.topk"),
            "the number of targets is truncated, not rounded": edit("round", "int"),
            "a small fraction leaves no target, and the mean of no numbers is NaN: use at least one":
                edit("max(1, round(share * len(baseline)))", "round(share * len(baseline))"),
            "the loss with the longer context may exceed the baseline: take the minimum of the two":
                edit("torch.minimum(long, baseline)", "long"),
            "the minimum of the two means is used; take the minimum for each target, and then the mean":
                edit("torch.minimum(long, baseline)", "long", "gained.exp", "gained.clamp(max=0).exp"),
            "this is the difference of the mean losses; compute the relative reduction of the perplexity":
                edit("1 - gained.exp()", "-gained"),
            "perplexities are averaged; average the losses, then apply one exponential": edit(
                "[hard].mean() - baseline[hard].mean", "[hard].exp().mean() / baseline[hard].exp().mean",
                "gained.exp()", "gained"),
            "the gains of the targets are averaged; average the losses, then apply one exponential": edit(
                "[hard].mean() - baseline[hard].mean()", "[hard] - baseline[hard]", "exp()", "exp().mean()"),
        },
        hints=(
            "Two systems have losses of 2 and 1 on a target with the short context, and the first a loss of 1.5 "
            "with the longer one. What is the baseline, and what does the longer context gain here?",
            "Compute the baselines first, and select the hard targets by them. Then compute the losses with the "
            "longer context, never above the baseline. Both means are over the same targets.",
            "x.amin(0) is the minimum of each column, x.topk(n).indices the indices of the n largest, and "
            "torch.minimum(a, b) the element-wise minimum. max(1, round(…)) gives at least one.",
        ),
    ),
    Exercise(
        "10.6", "the same context length for all", same_length, draw_lengths,
        mistakes={
            "a query can attend to memory + 1 positions; the `memory` positions include itself":
                edit("triu(1)", "triu(0)"),
            "a query can attend to `memory` positions before it, but not to itself; it is the last of them":
                edit("triu(1).tril(memory)", "triu(0).tril(memory - 1)"),
            "a query cannot attend to itself: it is the last of its visible positions":
                edit("tril(memory)", "tril(memory - 1)"),
            "a query can attend to later positions": edit(".tril(memory)", ""),
            "the mask is inverted: True = can attend": edit("return ", "return ~"),
            "query i is treated as key i; the memory comes before it, so it is key memory + i":
                edit("triu(1).tril(memory)", "triu(1 - memory).tril(0)"),
            "query i is treated as key i, with all keys up to it; it is key memory + i, with `memory` keys":
                edit("triu(1).tril(memory)", "tril()"),
            "all of the memory is visible; later queries attend to less of it": edit(".triu(1)", ""),
        },
        properties={
            "a query can attend to a later position": lambda out, _, memory: not bool(out.triu(memory + 1).any()),
            "a query cannot attend to itself":
                lambda out, query, memory: out.diagonal(memory).tolist() == [True] * query,
            "not every query can attend to `memory` positions":
                lambda out, query, memory: out.sum(1).tolist() == [memory] * query,
        },
        hints=(
            "Take a segment of two positions after a memory of three. Which key index does the first query itself "
            "have? To which three positions can it attend?",
            "Each row has one run of True, as long as the memory, that ends at the query itself. From row to row, it "
            "moves one column to the right, so it lies between two diagonals.",
            "torch.ones(…, dtype=torch.bool), and .triu(a) and .tril(b) select a band of it. Or compare two "
            "torch.arange, one of them as a column, and combine two comparisons with &, each in parentheses.",
        ),
    ),
)
