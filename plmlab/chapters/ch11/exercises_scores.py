"""Exercises 11.4 and 11.5, XLNet's attention scores: relative positions of queries at arbitrary positions, and segment
encodings."""

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, randn

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def relative_shift(
    by_distance: Float[Tensor, "query distance"], positions: Int[Tensor, "query"],
) -> Float[Tensor, "query key"]:
    """Convert a matrix with a column for each distance to one with a column for each key, for any queries.

    XLNet attends in both directions: for a query at position i, the key at position j has distance i − j, which is
    negative if the key comes later. ``by_distance`` has 2·key − 1 columns, the largest distance
    first: column c belongs to key − 1 − c, so that the last one belongs to 1 − key. Row n is
    that of a query at position ``positions[n]``; the positions are in any order, and may repeat.
    Column j of the result belongs to the key at position j.
    """
    key = (by_distance.shape[1] + 1) // 2
    return by_distance.gather(1, key - 1 - positions[:, None] + torch.arange(key))


def draw_distances(rng: Generator) -> Probes:
    """Inputs for 11.4: name → (a matrix with a column for each distance, the positions of its queries)."""
    def drawn(key: int, *positions: int) -> tuple[Tensor, Tensor]:
        return randn(len(positions), 2 * key - 1, generator=rng), torch.tensor(positions)

    return {
        "two keys, the later query first": (torch.arange(1.0, 7).view(2, 3), torch.tensor([1, 0])),
        "four queries in a row, at all keys": drawn(4, 0, 1, 2, 3),
        "three queries of six keys, in any order": drawn(6, 4, 0, 3),
        "three queries in a row, the last of five keys": drawn(5, 2, 3, 4),
        "a single query of five keys": drawn(5, 1),
        "two queries at one position": drawn(4, 2, 1, 2),
        "a text of one position, for both streams": drawn(1, 0, 0),
    }


def segment_scores(
    q: Float[Tensor, "head query width"], s: Float[Tensor, "2 head width"], b: Float[Tensor, "head width"],
    query_segments: Int[Tensor, "query"], key_segments: Int[Tensor, "key"],
) -> Float[Tensor, "head query key"]:
    """The segment term of XLNet's attention scores: whether query and key belong to the same segment.

    In each head, the score of a query and a key is (q + b)·s₊ if both belong to the same segment, and
    (q + b)·s₋ otherwise. ``s`` holds s₊ (row 0) and s₋ (row 1) of each head, ``b`` one vector per
    head. ``query_segments`` and ``key_segments`` hold the segment id of each query and of each key. The ids are
    arbitrary integers; only whether they are equal matters. Nothing is divided.
    """
    same, other = ((q + b[:, None]) * s[:, :, None]).sum(3, keepdim=True)
    return torch.where(query_segments[:, None] == key_segments, same, other)


def draw_segments(rng: Generator) -> Probes:
    """Inputs for 11.5: name → (queries, s₊ and s₋, b, segments of the queries and of the keys)."""
    def drawn(head: int, width: int, queries: list[int], keys: list[int]) -> tuple[Tensor, ...]:
        shapes = (head, len(queries), width), (2, head, width), (head, width)
        return *(randn(shape, generator=rng) for shape in shapes), torch.tensor(queries), torch.tensor(keys)

    return {
        "two queries, three keys, a width of 1":
            (torch.tensor([[[1.0], [3.0]]]), torch.tensor([[[10.0]], [[-2.0]]]), torch.tensor([[0.5]]),
             torch.tensor([0, 1]), torch.tensor([0, 0, 1])),
        "two segments, the same number of queries and keys": drawn(2, 3, [0, 0, 1, 1], [0, 0, 1, 1]),
        "a memory before the keys, and [CLS] is a segment of its own":
            drawn(3, 4, [0, 1, 1, 2], [0, 0, 0, 1, 1, 2]),
        "the same number of heads and queries": drawn(3, 2, [1, 0, 1], [0, 1, 1, 0]),
        "segments with other ids": drawn(2, 5, [7, 4, 4], [4, 7, 7, 9, 4]),
        "all in one segment": drawn(2, 3, [1, 1], [1, 1, 1]),
    }


def pairs_are_correct(
    together: bool, out: Tensor, q: Tensor, s: Tensor, b: Tensor, query_segments: Tensor, key_segments: Tensor,
) -> bool:
    """Whether the pairs within one segment (or, with ``together`` false, across two) have the correct scores."""
    cells = ((query_segments[:, None] == key_segments) == together).expand_as(out)
    right = segment_scores(q, s, b, query_segments, key_segments)
    return torch.allclose(out[cells].float(), right[cells], rtol=1e-3, atol=1e-3)


GATHERED = "by_distance.gather(1, key - 1 - positions[:, None] + torch.arange(key))"
"""The solution of 11.4, which some of its mistakes replace."""

EXERCISES = (
    Exercise(
        "11.4", "relative positions for any query", relative_shift, draw_distances,
        mistakes={
            "the sign is wrong: the distance is query − key, i − j":
                edit("- positions[:, None] + torch", "+ positions[:, None] - torch"),
            "every column is one too high: the distance 0 is in column key − 1, the middle one (columns count from 0)":
                edit("key - 1 - positions", "key - positions"),
            "the distance is used as the column, and counts from the end if negative: column c is key − 1 − c":
                edit(GATHERED, "by_distance[torch.arange(len(positions))[:, None], positions[:, None] - "
                     "torch.arange(key)]"),
            "the queries are treated as the last of the keys, in order: the relative shift ignores `positions`": edit(
                GATHERED, "torch.cat([torch.zeros(len(positions), 1), by_distance], 1).view(2 * key, -1)[1:].reshape("
                "by_distance.shape)[:, :key]"),
            "query n is treated as if at position n; it is at positions[n]":
                edit("- positions[:, None]", "- torch.arange(len(positions))[:, None]"),
            "nothing is shifted: the first columns are the distances key − 1 … 0, for the last query only":
                edit(GATHERED, "by_distance[:, :key]"),
            "a row is shifted left by its position; the shift is key − 1 − position, smaller for later queries":
                edit("key - 1 - positions", "positions"),
            "the distance has lost its sign: later keys have columns of their own":
                edit("positions[:, None] + torch.arange(key)", "(positions[:, None] - torch.arange(key)).abs()"),
            "later keys have 0: XLNet attends in both directions":
                edit(GATHERED, GATHERED + " * (torch.arange(key) <= positions[:, None])"),
            "`positions` selects rows too; the rows already belong to the queries":
                edit("by_distance.gather(1, ", "by_distance[positions[:, None], ", "(key))", "(key)]"),
        },
        properties={
            "a query's own position does not have the entry of distance 0, the middle of its row":
                lambda out, x, positions: torch.allclose(out[torch.arange(len(x)), positions], x[:, x.shape[1] // 2]),
            "a row contains an entry of another row": lambda out, x, positions: all(
                bool(torch.isin(mine, row).all()) for mine, row in zip(out, x, strict=True)),
        },
        hints=(
            "With three keys the columns are the distances 2, 1, 0, −1, −2. Which three columns does a query at "
            "position 0 need, and in which order? Which does a query at position 2 need?",
            "Key j of a query at position i has the distance i − j. Column c has the distance key − 1 − c. Set the "
            "two equal and solve for c. Each row needs its own columns, because the positions may be in any order.",
            "Make a table of columns [query key]: positions[:, None] is a column, torch.arange(key) a row. Then "
            ".gather(1, columns) selects in each row. For n columns, the number of keys is (n + 1) // 2.",
        ),
    ),
    Exercise(
        "11.5", "same segment or not", segment_scores, draw_segments,
        mistakes={
            "s₊ and s₋ are swapped: row 0 is for the same segment (s[same.long()] takes row 1; or is it != instead of "
            "==?)": edit("==", "!="),
            "the vector b is added to s, not to q: the score is (q + b)·s, not q·(s + b)":
                edit("(q + b[:, None]) * s[", "q * (s + b)["),
            "the vector b is missing": edit("(q + b[:, None])", "q"),
            "the query is missing: b is added to it and does not replace it": edit("q + b[:, None]", "b[:, None]"),
            "the vector b itself is added to the score; add it to q, before the product with s":
                edit("(q + b[:, None])", "q", "same, other)", "same, other) + b.sum(1)[:, None, None]"),
            "the vector b is added along the queries; each of its rows belongs to a head (b[:, None])":
                edit("b[:, None]", "b"),
            "only the key's segment is used, 0 or not, as in BERT; test whether the query's segment is the same":
                edit("query_segments[:, None] == key_segments", "key_segments == 0"),
            "the difference of the ids is used as the row of s; ids are labels, and any two different ids use s₋":
                edit("torch.where(query_segments[:, None] == key_segments, same, other)",
                     "torch.einsum('hqw,qkhw->hqk', q + b[:, None], "
                     "s[(query_segments[:, None] - key_segments).abs()])"),
            "pairs in different segments have 0; they have s₋": edit("same, other)", "same, 0)"),
            "the scores are divided by the square root of the width; here nothing is divided":
                edit("keepdim=True)", "keepdim=True) / q.shape[2] ** 0.5"),
        },
        properties={
            "a pair in the same segment does not have (q + b)·s₊":
                lambda out, *args: pairs_are_correct(True, out, *args),
            "a pair in different segments does not have (q + b)·s₋":
                lambda out, *args: pairs_are_correct(False, out, *args),
        },
        hints=(
            "A query is in segment 4, and three keys are in 4, 7 and 9. Which two vectors does its score need, and "
            "how many different values are in its row?",
            "A query has only two scores in each head, one for each row of s. Compute these two for all queries "
            "first. A Boolean table \"same segment?\" [query key] then selects one of the two for each cell.",
            "b[:, None] is [head 1 width] and s[:, :, None] is [2 head 1 width]; multiply and .sum over the width. "
            "query_segments[:, None] == key_segments is the table, and torch.where(table, this, that) selects.",
        ),
    ),
)
