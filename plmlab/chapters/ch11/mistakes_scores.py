"""Wrong answers to the exercises 11.3 to 11.5, streams, distances and segments, under the names of their mistakes, and
what holds of any right one."""

from collections.abc import Callable
from math import sqrt

import torch
from torch import Tensor

from plmlab.exercises.mistakes import Mistakes, Properties, by_exp

# 11.3, two streams

Streams = tuple[Tensor, Tensor]
HIDDEN = float("-inf")


def scored(q: Tensor, k: Tensor) -> Tensor:
    """The scores of all keys for each query."""
    return q @ k.T / sqrt(k.shape[1])


def weighed(scores: Tensor, may_look: Tensor) -> Tensor:
    """The weights; a row that sees nothing is 0."""
    return scores.masked_fill(~may_look, HIDDEN).softmax(1).nan_to_num()


def read(q: Tensor, h: Tensor, may_look: Tensor) -> Tensor:
    """What queries make of the stream that they look at."""
    return weighed(scored(q, h), may_look) @ h


def reading(how: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Callable[..., Streams]:
    """The exercise's function with another way to read, from queries, content stream and mask."""
    return lambda h, g, content, query: (how(h, h, content), how(g, h, query))


def weighing(how: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Streams]:
    """The exercise's function with other weights, made from scores and mask."""
    return reading(lambda q, h, may_look: how(scored(q, h), may_look) @ h)


def scaled(scale: Callable[[Tensor], float]) -> Callable[..., Streams]:
    """The exercise's function with dot products that are multiplied by something else, made from the keys."""
    return reading(lambda q, h, may_look: weighed(q @ h.T * scale(h), may_look) @ h)


def kept(q: Tensor, h: Tensor, may_look: Tensor) -> Tensor:
    """What queries read; those that see nothing stay as they are."""
    return torch.where(may_look.any(1, keepdim=True), read(q, h, may_look), q)


def after(h: Tensor, g: Tensor, content: Tensor, query: Tensor) -> Streams:
    """The two streams, of which the second looks at what the first has become."""
    new = read(h, h, content)
    return new, read(g, new, query)


def not_normed(scores: Tensor, may_look: Tensor) -> Tensor:
    """A softmax over all keys, of which some are taken out behind it."""
    return scores.softmax(1) * may_look


def exp_first(scores: Tensor, may_look: Tensor) -> Tensor:
    """A softmax by its formula, masked between the exp and the sum."""
    powers = scores.exp() * may_look
    return powers / powers.sum(1, keepdim=True).clamp(min=1e-12)


STREAMS: Mistakes = {
    "the query stream attends to itself: its keys and values are those of h, for only h knows words":
        lambda h, g, content, query: (read(h, h, content), read(g, g, query)),
    "the values of the query stream are those of g; they are those of h":
        lambda h, g, content, query: (read(h, h, content), weighed(scored(g, h), query) @ g),
    "the keys of the query stream are those of g; they are those of h":
        lambda h, g, content, query: (read(h, h, content), weighed(scored(g, g), query) @ h),
    "the queries of the query stream are those of h, which know the words that are asked; they are those of g":
        lambda h, g, content, query: (read(h, h, content), read(h, h, query)),
    "the content stream looks at g; both streams look at h":
        lambda h, g, content, query: (read(h, g, content), read(g, h, query)),
    "each stream looks at the other one; both look at h":
        lambda h, g, content, query: (read(h, g, content), read(g, g, query)),
    "the queries of the content stream are those of g; they are those of h":
        lambda h, g, content, query: (read(g, h, content), read(g, h, query)),
    "the query stream looks at what h has just become; both streams look at the old h": after,
    "the content stream's mask is used for both: the query stream sees its own word":
        lambda h, g, content, query: (read(h, h, content), read(g, h, content)),
    "the query stream's mask is used for both; the content stream sees itself":
        lambda h, g, content, query: (read(h, h, query), read(g, h, query)),
    "the two masks have changed places": lambda h, g, content, query: (read(h, h, query), read(g, h, content)),
    "the next g comes first; give h, then g":
        lambda h, g, content, query: (read(g, h, query), read(h, h, content)),
    "a row that sees nothing is NaN, for where all scores are −∞ the softmax is 0/0; it becomes zeros":
        weighing(lambda scores, may_look: scores.masked_fill(~may_look, HIDDEN).softmax(1)),
    "a row that sees nothing is the mean of everything: where all scores are −1e9, the softmax is uniform":
        weighing(lambda scores, may_look: scores.masked_fill(~may_look, -1e9).softmax(1)),
    "a row that sees nothing looks at everything: −1e9 is added to all of its scores":
        weighing(lambda scores, may_look: (scores - 1e9 * ~may_look).softmax(1)),
    "a row that sees nothing looks at everything: −10000 is added to all of its scores, which leaves the softmax as it "
    "was": weighing(lambda scores, may_look: (scores - 1e4 * ~may_look).softmax(1)),
    "a row that sees nothing stays as it was; it becomes zeros": reading(kept),
    "the mask is multiplied with the scores: a score of 0 is not hidden, exp(0) is 1":
        weighing(lambda scores, may_look: (scores * may_look).softmax(1)),
    "the mask is added to the scores as 1 and 0, so that nothing is hidden; what is hidden gets −∞":
        weighing(lambda scores, may_look: (scores + may_look).softmax(1)),
    "the mask comes behind the softmax, so that the weights that are left do not add up to 1":
        weighing(not_normed),
    "0 · −∞ is NaN, so that every score is lost; hide what may not be seen with .masked_fill":
        weighing(lambda scores, may_look: (scores + (1.0 - may_look.float()) * HIDDEN).softmax(1).nan_to_num()),
    "the mask is upside down: True = may look": weighing(lambda scores, may_look: weighed(scores, ~may_look)),
    "nothing is masked": weighing(lambda scores, may_look: scores.softmax(1)),
    "the softmax runs over the queries; the weights of each query add up to 1":
        weighing(lambda scores, may_look: scores.masked_fill(~may_look, HIDDEN).softmax(0).nan_to_num()),
    "the softmax runs over the queries, and where no query sees a key, it is NaN; it runs over the keys":
        weighing(lambda scores, may_look: scores.masked_fill(~may_look, HIDDEN).softmax(0)),
    "the softmax is left out: the scores themselves are the weights":
        weighing(lambda scores, may_look: scores.masked_fill(~may_look, 0)),
    "all keys that are seen have equal weights: the scores are left out":
        weighing(lambda scores, may_look: weighed(0 * scores, may_look)),
    "exp of a large score is infinite: .softmax takes off the largest score first":
        weighing(lambda scores, may_look: by_exp(scores.masked_fill(~may_look, HIDDEN), 1).masked_fill(
            ~may_look.any(1, keepdim=True), 0)),
    "exp of a large score is infinite, and ∞ · 0 is NaN: mask with −∞ before .softmax, which takes off the largest "
    "score": weighing(exp_first),
    "the scores are not divided by the root of the width": scaled(lambda h: 1.0),
    "the scores are divided by the width, not by its root": scaled(lambda h: 1 / h.shape[1]),
    "the scores are divided by the width and by 2: ** binds tighter than /, so write ** 0.5":
        scaled(lambda h: 1 / (2 * h.shape[1])),
    "the scores are divided by the root of the number of slots; it is the root of the width":
        scaled(lambda h: 1 / sqrt(len(h))),
    "the scores are multiplied by the root of the width; that divides them": scaled(lambda h: sqrt(h.shape[1])),
    "the old vectors are added; here is no residual connection":
        lambda h, g, content, query: (h + read(h, h, content), g + read(g, h, query)),
    "these are the weights; the values are still to be added up by them":
        reading(lambda q, h, may_look: weighed(scored(q, h), may_look)),
}


def among(out: Tensor, h: Tensor, may_look: Tensor) -> bool:
    """Whether each row lies, number by number, between the vectors that it sees; one that sees nothing is left out."""
    table, hidden = h.expand(len(may_look), -1, -1), ~may_look[..., None]
    low, high = table.masked_fill(hidden, float("inf")).amin(1), table.masked_fill(hidden, HIDDEN).amax(1)
    inside = (low - 1e-3 <= out) & (out <= high + 1e-3)
    return bool(inside[may_look.any(1)].all())


OF_STREAMS: Properties = {
    "a row that sees nothing is not zeros": lambda out, h, g, content, query: not bool(out[1][~query.any(1)].any()),
    "a vector of the next h lies outside those that its slot sees":
        lambda out, h, g, content, query: among(out[0], h, content),
    "a vector of the next g lies outside those that its slot sees":
        lambda out, h, g, content, query: among(out[1], h, query),
}


# 11.4, a query anywhere

Columns = Callable[[Tensor, Tensor, int], Tensor]


def keys(x: Tensor) -> int:
    """How many keys there are, of a table with a column for each distance."""
    return (x.shape[1] + 1) // 2


def right_columns(i: Tensor, j: Tensor, key: int) -> Tensor:
    """The column of each query, at the slot i, and each key."""
    return key - 1 - i + j


def places(x: Tensor, slots: Tensor) -> tuple[Tensor, Tensor, int]:
    """The slots of the queries, as a column; those of the keys; how many keys there are."""
    return slots[:, None], torch.arange(keys(x)), keys(x)


def gathered(columns: Columns) -> Callable[[Tensor, Tensor], Tensor]:
    """The exercise's function that takes other columns, made from slots of queries and keys and the number of keys; an
    error where there is no such column."""
    return lambda x, slots: x.gather(1, columns(*places(x, slots)).expand(len(x), -1))


def indexed(columns: Columns) -> Callable[[Tensor, Tensor], Tensor]:
    """The same by an index, so that columns below 0 count from the end."""
    return lambda x, slots: x[torch.arange(len(x))[:, None], columns(*places(x, slots))]


def around(columns: Columns) -> Callable[[Tensor, Tensor], Tensor]:
    """The same with columns that begin again where they end."""
    return lambda x, slots: x.gather(1, columns(*places(x, slots)).expand(len(x), -1) % x.shape[1])


def of_rows(x: Tensor, slots: Tensor) -> Tensor:
    """The numbers of queries that stand at the slots 0, 1, 2, … ."""
    return gathered(right_columns)(x, torch.arange(len(x)))


def shifted(x: Tensor, _: Tensor) -> Tensor:
    """The relative shift of Transformer-XL: the queries are the last of the keys, in a row."""
    query, distance = x.shape
    padded = torch.cat([torch.zeros(query, 1), x], 1).reshape(distance + 1, query)
    return padded[1:].reshape(query, distance)[:, :keys(x)]


def behind(x: Tensor, slots: Tensor) -> Tensor:
    """Whether a key comes no later than the query."""
    i, j, _ = places(x, slots)
    return j <= i


right = gathered(right_columns)

DISTANCES: Mistakes = {
    "the sign is wrong: the distance is query − key, i − j": gathered(lambda i, j, key: key - 1 + i - j),
    "every column is one too high: the distance 0 stands in column key − 1, the middle one (columns count from 0)":
        gathered(lambda i, j, key: key - i + j),
    "every column is one too high, up to columns that are not there: the distance 0 stands in column key − 1":
        indexed(lambda i, j, key: key - i + j),
    "every column is one too low: the distance 0 stands in column key − 1, the middle one (columns count from 0)":
        gathered(lambda i, j, key: key - 2 - i + j),
    "every column is one too low, and column −1 is the last one: the distance 0 stands in column key − 1":
        indexed(lambda i, j, key: key - 2 - i + j),
    "the distance itself is taken for the column, and below 0 it counts from the end: column c is key − 1 − c":
        indexed(lambda i, j, key: i - j),
    "the difference j − i is taken for the column, and below 0 it counts from the end: key − 1 is still to be added":
        indexed(lambda i, j, key: j - i),
    "the queries are taken for the last of the keys, in a row: the relative shift knows no `slots`": shifted,
    "query n is taken to stand at slot n; it stands at slots[n]": of_rows,
    "query n is taken to stand at slot n, even where the text has no such slot; it stands at slots[n]":
        lambda x, slots: indexed(right_columns)(x, torch.arange(len(x))),
    "nothing is moved: the first columns are the distances key − 1 … 0, which only the last key's query needs":
        lambda x, slots: x[:, :keys(x)],
    "all queries are taken to stand at slot 0: their columns are the last ones": lambda x, slots: x[:, keys(x) - 1:],
    "a row moves left by its slot; the farther right a query stands, the less, key − 1 − slot":
        gathered(lambda i, j, key: i + j),
    "the rows move to the right; they move left": around(lambda i, j, key: j - (key - 1 - i)),
    "the distance has lost its sign: a key that comes later has a column of its own":
        gathered(lambda i, j, key: key - 1 - (i - j).abs()),
    "a key that comes later has the number of the distance 0; it has a column of its own":
        gathered(lambda i, j, key: (key - 1 - i + j).clamp(max=key - 1)),
    "a key that comes later has 0: XLNet looks to both sides":
        lambda x, slots: right(x, slots) * behind(x, slots),
    "a key that comes later has −∞: XLNet looks to both sides, and whom a slot sees is the mask's part":
        lambda x, slots: right(x, slots).masked_fill(~behind(x, slots), HIDDEN),
    "all rows have the columns of one diagonal: slots[:, None] makes a row of columns for each query":
        lambda x, slots: x[:, right_columns(slots, torch.arange(keys(x)), keys(x))],
    "`slots` picks rows too; the rows are the queries already":
        lambda x, slots: x[slots[:, None], right_columns(*places(x, slots))],
    "numbers are gathered down the columns (dim 0); the distances are axis 1":
        lambda x, slots: x.gather(0, right_columns(*places(x, slots))),
    "the rows are sorted by slot; row n belongs to the query that stands at slots[n]":
        lambda x, slots: right(x, slots)[slots.argsort(stable=True)],
    "one key is missing: of 2·key − 1 columns, (columns + 1) // 2 is the number of keys":
        lambda x, slots: right(x, slots)[:, :-1],
    "one key is missing, and the columns are counted with that: of 2·key − 1, (columns + 1) // 2 is the number of keys":
        lambda x, slots: x.gather(1, right_columns(slots[:, None], torch.arange(keys(x) - 1), keys(x) - 1)),
    "as many keys are taken as there are queries; of 2·key − 1 columns, (columns + 1) // 2 is their number":
        lambda x, slots: x.gather(1, right_columns(slots[:, None], torch.arange(len(slots)), len(slots))),
    "the table lies on its side: its rows are the queries": lambda x, slots: right(x, slots).T,
}

OF_DISTANCES: Properties = {
    "at its own slot a query does not have the number of the distance 0, which stands in the middle of its row":
        lambda out, x, slots: torch.allclose(out[torch.arange(len(x)), slots], x[:, keys(x) - 1]),
    "a row holds a number that is not its own": lambda out, x, slots: all(
        bool(torch.isin(mine, row).all()) for mine, row in zip(out, x, strict=True)),
}


# 11.5, one segment or two

def chosen(same: Tensor, q: Tensor, s: Tensor, b: Tensor, *, biased: bool = True) -> Tensor:
    """The scores, of (q + b) or of q, where ``same`` says which pairs have s₊."""
    asked = q + b[:, None] if biased else q
    plus, minus = (asked * s[:, :, None]).sum(3, keepdim=True)
    return torch.where(same, plus, minus)


def together(of_queries: Tensor, of_keys: Tensor) -> Tensor:
    """Whether query and key are of one segment."""
    return of_queries[:, None] == of_keys


def telling(same: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """The exercise's function with another way to tell what is of one segment, from two columns of numbers."""
    return lambda q, s, b, of_queries, of_keys: chosen(same(of_queries[:, None], of_keys[None]).expand(
        len(of_queries), len(of_keys)), q, s, b)


def by_row(row: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """The exercise's function that takes rows of ``s``, from two columns of numbers; an error where none is there."""
    def answer(q: Tensor, s: Tensor, b: Tensor, of_queries: Tensor, of_keys: Tensor) -> Tensor:
        picked = s[row(of_queries[:, None], of_keys[None]).expand(len(of_queries), len(of_keys))]
        return ((q + b[:, None])[:, :, None] * picked.permute(2, 0, 1, 3)).sum(3)
    return answer


def given(change: Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]) -> Callable[..., Tensor]:
    """The exercise's function of other vectors, made from q, s and b."""
    return lambda q, s, b, *segments: chosen(together(*segments), *change(q, s, b))


def finished(finish: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """The exercise's function with something made of its scores, and of q."""
    return lambda q, s, b, *segments: finish(chosen(together(*segments), q, s, b), q)


def along_the_queries(q: Tensor, s: Tensor, b: Tensor, *segments: Tensor) -> Tensor:
    """The scores where row n of b goes to the query n of every head."""
    return chosen(together(*segments), q + b, s, 0 * b)


def apart(q: Tensor, s: Tensor, b: Tensor, *segments: Tensor) -> Tensor:
    """q·s₊ or q·s₋, and b·s₊ for all."""
    return chosen(together(*segments), q, s, b, biased=False) + (b * s[0]).sum(1)[:, None, None]


SEGMENTS: Mistakes = {
    "the vectors s₊ and s₋ have changed places: row 0 is that of one segment (s[same.long()] takes row 1 for it; or is "
    "it != for ==?)": telling(lambda one, other: one != other),
    "the vector b is added to s, not to q: what is asked is (q + b)·s, not q·(s + b)":
        lambda q, s, b, *segments: chosen(together(*segments), q, s + b, b, biased=False),
    "the vector b is left out": given(lambda q, s, b: (q, s, 0 * b)),
    "the query is left out: b is added to it, and does not stand in its place": given(lambda q, s, b: (0 * q, s, b)),
    "the vector b itself is added to the score; it is added to q, and meets s too":
        lambda q, s, b, *segments: chosen(together(*segments), q, s, b, biased=False) + b.sum(1)[:, None, None],
    "the vector b meets s₊ in all pairs; (q + b) meets s₊ or s₋": apart,
    "the vector b is subtracted; it is added": given(lambda q, s, b: (q, s, -b)),
    "the vector b is added along the queries; each of its rows belongs to a head (b[:, None])": along_the_queries,
    "only the key's segment is asked, as BERT does: 0 or not. It is whether the query is of the same one":
        telling(lambda one, other: other == 0),
    "only the key's segment is asked: its number is taken for a row of s, and there are but two":
        by_row(lambda one, other: other),
    "only the query's segment is asked: 0 or not. It is whether the key is of the same one":
        telling(lambda one, other: one == 0),
    "only the query's segment is asked: its number is taken for a row of s, and there are but two":
        by_row(lambda one, other: one),
    "the difference of the numbers is taken for a row of s; the numbers are names, and two segments are two":
        by_row(lambda one, other: (one - other).abs()),
    "pairs in segment 0 only have s₊; any two slots of one segment have it":
        telling(lambda one, other: (one == 0) & (other == 0)),
    "segments with an earlier number count as the same; == asks for the same": telling(lambda one, other: one >= other),
    "segments with a later number count as the same; == asks for the same": telling(lambda one, other: one <= other),
    "all pairs have s₊": telling(lambda one, other: one == one),
    "all pairs have s₋": telling(lambda one, other: one != one),
    "pairs of two segments have 0; they have s₋": given(lambda q, s, b: (q, s * torch.tensor([1.0, 0.0])[
        :, None, None], b)),
    "pairs of one segment have 0; they have s₊": given(lambda q, s, b: (q, s * torch.tensor([0.0, 1.0])[
        :, None, None], b)),
    "the first head's s is used in all; each head has its own": given(
        lambda q, s, b: (q, s[:, :1].expand_as(s), b)),
    "the first head's b is used in all; each head has its own": given(
        lambda q, s, b: (q, s, b[:1].expand_as(b))),
    "the heads are added up; each has its own scores": finished(lambda scores, q: scores.sum(0)),
    "the products are averaged over the width; a dot product adds them up":
        finished(lambda scores, q: scores / q.shape[2]),
    "the scores are divided by the root of the width; here nothing is divided":
        finished(lambda scores, q: scores / sqrt(q.shape[2])),
    "these are weights: the softmax is not asked for": finished(lambda scores, q: scores.softmax(2)),
    "the table lies on its side: in each head the rows are the queries": finished(lambda scores, q: scores.mT),
}


def of_pairs(row: int, out: Tensor, q: Tensor, s: Tensor, b: Tensor, of_queries: Tensor, of_keys: Tensor) -> bool:
    """Whether the pairs of one segment (row 0), or of two (row 1), have the scores that they should."""
    same = together(of_queries, of_keys)
    cells = (same if row == 0 else ~same).expand_as(out)
    return torch.allclose(out[cells].float(), chosen(same, q, s, b)[cells], rtol=1e-3, atol=1e-3)


OF_SEGMENTS: Properties = {
    "a pair of one segment does not have (q + b)·s₊": lambda out, *args: of_pairs(0, out, *args),
    "a pair of two segments does not have (q + b)·s₋": lambda out, *args: of_pairs(1, out, *args),
}
