"""Exercises 11.4 and 11.5, XLNet's attention scores: relative positions of queries at arbitrary positions, and segment
encodings."""

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, randn

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def by_key(by_distance: Float[Tensor, "query distance"], positions: Int[Tensor, "query"]) -> Float[Tensor, "query key"]:
    """From a column for each distance to a column for each key, of queries that stand anywhere.

    XLNet looks to both sides: of a query at position i, the key at position j has the distance i − j, which is
    below 0 where the key comes later. ``by_distance`` has 2·key − 1 columns, the farthest distance
    first: column c belongs to key − 1 − c, so that the last one belongs to 1 − key. Row n is
    that of a query at position ``positions[n]``; these stand in any order, and two queries may stand at one
    position. Column j of the answer belongs to the key at position j.
    """
    key = (by_distance.shape[1] + 1) // 2
    return by_distance.gather(1, key - 1 - positions[:, None] + torch.arange(key))


def draw_distances(rng: Generator) -> Probes:
    """Inputs for 11.4: name → (a matrix with a column for each distance, the positions of its queries)."""
    def drawn(key: int, *positions: int) -> tuple[Tensor, Tensor]:
        return randn(len(positions), 2 * key - 1, generator=rng), torch.tensor(positions)

    return {
        "two keys, the right query first": (torch.arange(1.0, 7).view(2, 3), torch.tensor([1, 0])),
        "four queries in a row, at all keys": drawn(4, 0, 1, 2, 3),
        "three queries of six keys, in any order": drawn(6, 4, 0, 3),
        "three queries in a row, the last of five keys": drawn(5, 2, 3, 4),
        "a single query of five keys": drawn(5, 1),
        "two queries at one position": drawn(4, 2, 1, 2),
        "a text of one position, for both streams": drawn(1, 0, 0),
    }


def segment_scores(
    q: Float[Tensor, "head query width"], s: Float[Tensor, "2 head width"], b: Float[Tensor, "head width"],
    of_queries: Int[Tensor, "query"], of_keys: Int[Tensor, "key"],
) -> Float[Tensor, "head query key"]:
    """What XLNet adds to its scores for the segments: whether query and key are of one or of two.

    In each head, the score of a query and a key is (q + b)·s₊ if both are of one segment, and
    (q + b)·s₋ if they are not. ``s`` holds s₊ (row 0) and s₋ (row 1) of each head, ``b`` a vector for
    each head. ``of_queries`` and ``of_keys`` number the segment of each query and of each key. The
    numbers are names only, any whole numbers; which segment it is tells nothing. Nothing is divided.
    """
    same, other = ((q + b[:, None]) * s[:, :, None]).sum(3, keepdim=True)
    return torch.where(of_queries[:, None] == of_keys, same, other)


def draw_segments(rng: Generator) -> Probes:
    """Inputs for 11.5: name → (queries, s₊ and s₋, b, segments of the queries and of the keys)."""
    def drawn(head: int, width: int, queries: list[int], keys: list[int]) -> tuple[Tensor, ...]:
        shapes = (head, len(queries), width), (2, head, width), (head, width)
        return *(randn(shape, generator=rng) for shape in shapes), torch.tensor(queries), torch.tensor(keys)

    return {
        "two queries, three keys, a width of 1":
            (torch.tensor([[[1.0], [3.0]]]), torch.tensor([[[10.0]], [[-2.0]]]), torch.tensor([[0.5]]),
             torch.tensor([0, 1]), torch.tensor([0, 0, 1])),
        "two segments, as many queries as keys": drawn(2, 3, [0, 0, 1, 1], [0, 0, 1, 1]),
        "a memory before the keys, and [CLS] is a segment of its own":
            drawn(3, 4, [0, 1, 1, 2], [0, 0, 0, 1, 1, 2]),
        "as many heads as queries": drawn(3, 2, [1, 0, 1], [0, 1, 1, 0]),
        "segments with other numbers": drawn(2, 5, [7, 4, 4], [4, 7, 7, 9, 4]),
        "all of one segment": drawn(2, 3, [1, 1], [1, 1, 1]),
    }


def of_pairs(
    together: bool, out: Tensor, q: Tensor, s: Tensor, b: Tensor, of_queries: Tensor, of_keys: Tensor,
) -> bool:
    """Whether the pairs within one segment (or, with ``together`` false, across two) have the correct scores."""
    cells = ((of_queries[:, None] == of_keys) == together).expand_as(out)
    right = segment_scores(q, s, b, of_queries, of_keys)
    return torch.allclose(out[cells].float(), right[cells], rtol=1e-3, atol=1e-3)


GATHERED = "by_distance.gather(1, key - 1 - positions[:, None] + torch.arange(key))"
"""The solution of 11.4, which some of its mistakes replace."""

EXERCISES = (
    Exercise(
        "11.4", "a query anywhere", by_key, draw_distances,
        mistakes={
            "the sign is wrong: the distance is query − key, i − j":
                edit("- positions[:, None] + torch", "+ positions[:, None] - torch"),
            "every column is one too high: the distance 0 stands in column key − 1, the middle one (columns count from "
            "0)": edit("key - 1 - positions", "key - positions"),
            "the distance itself is taken for the column, and below 0 it counts from the end: column c is key − 1 − c":
                edit(GATHERED, "by_distance[torch.arange(len(positions))[:, None], positions[:, None] - "
                     "torch.arange(key)]"),
            "the queries are taken for the last of the keys, in a row: the relative shift knows no `positions`": edit(
                GATHERED, "torch.cat([torch.zeros(len(positions), 1), by_distance], 1).view(2 * key, -1)[1:].reshape("
                "by_distance.shape)[:, :key]"),
            "query n is taken to stand at position n; it stands at positions[n]":
                edit("- positions[:, None]", "- torch.arange(len(positions))[:, None]"),
            "nothing is moved: the first columns are the distances key − 1 … 0, which only the last key's query needs":
                edit(GATHERED, "by_distance[:, :key]"),
            "a row moves left by its position; the farther right a query stands, the less, key − 1 − position":
                edit("key - 1 - positions", "positions"),
            "the distance has lost its sign: a key that comes later has a column of its own":
                edit("positions[:, None] + torch.arange(key)", "(positions[:, None] - torch.arange(key)).abs()"),
            "a key that comes later has 0: XLNet looks to both sides":
                edit(GATHERED, GATHERED + " * (torch.arange(key) <= positions[:, None])"),
            "`positions` picks rows too; the rows are the queries already":
                edit("by_distance.gather(1, ", "by_distance[positions[:, None], ", "(key))", "(key)]"),
        },
        properties={
            "at its own position a query does not have the number of the distance 0, which stands in the middle of its "
            "row":
                lambda out, x, positions: torch.allclose(out[torch.arange(len(x)), positions], x[:, x.shape[1] // 2]),
            "a row holds a number that is not its own": lambda out, x, positions: all(
                bool(torch.isin(mine, row).all()) for mine, row in zip(out, x, strict=True)),
        },
        hints=(
            "With three keys the columns are the distances 2, 1, 0, −1, −2. Which three columns does a query at "
            "position 0 "
            "need, and in which order? Which does a query at position 2 need?",
            "The key j of a query at position i needs the distance i − j. Column c has the distance key − 1 − c. Set "
            "the "
            "two equal and solve for c. Each row needs its own columns, because positions need not be in a row.",
            "Make a table of columns [query key]: positions[:, None] is a column, torch.arange(key) a row. Then "
            ".gather(1, columns) picks in each row. Of n columns, (n + 1) // 2 is the number of keys.",
        ),
    ),
    Exercise(
        "11.5", "one segment or two", segment_scores, draw_segments,
        mistakes={
            "the vectors s₊ and s₋ have changed places: row 0 is that of one segment (s[same.long()] takes row 1 for "
            "it; or is it != for ==?)": edit("==", "!="),
            "the vector b is added to s, not to q: what is asked is (q + b)·s, not q·(s + b)":
                edit("(q + b[:, None]) * s[", "q * (s + b)["),
            "the vector b is left out": edit("(q + b[:, None])", "q"),
            "the query is left out: b is added to it, and does not stand in its place":
                edit("q + b[:, None]", "b[:, None]"),
            "the vector b itself is added to the score; it is added to q, and meets s too":
                edit("(q + b[:, None])", "q", "same, other)", "same, other) + b.sum(1)[:, None, None]"),
            "the vector b is added along the queries; each of its rows belongs to a head (b[:, None])":
                edit("b[:, None]", "b"),
            "only the key's segment is asked, as BERT does: 0 or not. It is whether the query is of the same one":
                edit("of_queries[:, None] == of_keys", "of_keys == 0"),
            "the difference of the numbers is taken for a row of s; the numbers are names, and two segments are two":
                edit("torch.where(of_queries[:, None] == of_keys, same, other)", "torch.einsum('hqw,qkhw->hqk', "
                     "q + b[:, None], s[(of_queries[:, None] - of_keys).abs()])"),
            "pairs of two segments have 0; they have s₋": edit("same, other)", "same, 0)"),
            "the scores are divided by the root of the width; here nothing is divided":
                edit("keepdim=True)", "keepdim=True) / q.shape[2] ** 0.5"),
        },
        properties={
            "a pair of one segment does not have (q + b)·s₊": lambda out, *args: of_pairs(True, out, *args),
            "a pair of two segments does not have (q + b)·s₋": lambda out, *args: of_pairs(False, out, *args),
        },
        hints=(
            "A query is of segment 4, and three keys are of 4, 7 and 9. Which two vectors does its score need, and how "
            "many different numbers stand in its row?",
            "A query has only two scores in each head, one for each row of s. Compute these two for all queries first. "
            "A table of \"of one segment?\" [query key] then says which of the two stands in each cell.",
            "b[:, None] is [head 1 width] and s[:, :, None] is [2 head 1 width]; multiply and .sum over the width. "
            "of_queries[:, None] == of_keys is the table, and torch.where(table, this, that) chooses.",
        ),
    ),
)
