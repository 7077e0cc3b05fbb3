"""Wrong answers to the exercises 10.2 and 10.3, scores by content and distance, under the names of their mistakes, and
what holds of any right one."""

from collections.abc import Callable
from math import sqrt
from typing import Any

import torch
from torch import Tensor

from plmlab.exercises.mistakes import Mistakes, Properties

# What both have in common: numbers by distance, [… query key], the farthest first, become numbers by key

Place = Callable[[Tensor], Tensor]


def slots(x: Tensor) -> tuple[Tensor, Tensor]:
    """The slots of the queries, as a column, and of the keys."""
    query, key = x.shape[-2:]
    return torch.arange(key - query, key)[:, None], torch.arange(key)


def moved(x: Tensor, columns: Tensor) -> Tensor:
    """The number of each row in each of these columns; the columns begin again where they end."""
    return x.gather(-1, (columns % x.shape[-1]).expand_as(x))


def by_back(x: Tensor, back: Tensor) -> Tensor:
    """The number of each row for each of these distances."""
    return moved(x, x.shape[-1] - 1 - back)


def placed(x: Tensor) -> Tensor:
    """Each number at its key; later keys have that of the distance 0."""
    i, j = slots(x)
    return by_back(x, (i - j).clamp(min=0))


def by_size(x: Tensor) -> Tensor:
    """Each number at its key; the distance of later keys has lost its sign."""
    i, j = slots(x)
    return by_back(x, (i - j).abs())


def rolled(x: Tensor) -> Tensor:
    """Each row moved left as far as it must; what falls out comes in again on the right."""
    i, j = slots(x)
    return by_back(x, i - j)


def reread(x: Tensor) -> Tensor:
    """The relative shift without a mask: later keys have numbers of the next row."""
    *batch, query, key = x.shape
    padded = torch.cat([torch.zeros(*batch, query, 1), x], -1).reshape(*batch, key + 1, query)
    return padded[..., 1:, :].reshape(x.shape)


def steps(x: Tensor) -> Tensor:
    """How far each row must move left: query − 1 − i, as a column."""
    return torch.arange(x.shape[-2] - 1, -1, -1)[:, None]


def to_the_right(x: Tensor) -> Tensor:
    """Each row moved as far as it must, but to the right."""
    return moved(x, slots(x)[1] - steps(x))


def later_more(x: Tensor) -> Tensor:
    """Row i moved left by i columns."""
    return moved(x, slots(x)[1] + steps(x).flip(0))


def nearest_first(x: Tensor) -> Tensor:
    """Each number at its key, as if the first column were the distance 0."""
    i, j = slots(x)
    return moved(x, (i - j).clamp(min=0))


def from_zero(x: Tensor) -> Tensor:
    """Each number at its key, as if the queries were the first of the slots."""
    i, j = slots(x)
    return by_back(x, (i - i[0] - j).clamp(min=0))


def earlier(x: Tensor) -> Tensor:
    """The numbers with 0 where the key comes later than the query."""
    return x.tril(x.shape[-1] - x.shape[-2])


def hidden(x: Tensor) -> Tensor:
    """The numbers with −∞ where the key comes later than the query."""
    i, j = slots(x)
    return x.masked_fill(j > i, float("-inf"))


# 10.2, a score of four terms

def content(q: Tensor, k: Tensor, u: Tensor) -> Tensor:
    """Terms (a) and (c), [head query key]."""
    return (q + u[:, None]) @ k.mT


def position(q: Tensor, r: Tensor, v: Tensor, *, place: Place = placed) -> Tensor:
    """Terms (b) and (d), [head query key]."""
    return place((q + v[:, None]) @ r.mT)


def added(q: Tensor, k: Tensor, r: Tensor, u: Tensor, v: Tensor, *, place: Place = placed) -> Tensor:
    """The four terms, added up."""
    return content(q, k, u) + position(q, r, v, place=place)


def right(*args: Tensor, place: Place = placed) -> Tensor:
    """The exercise's scores, or those with another way to place the distances."""
    return earlier(added(*args, place=place) / sqrt(args[0].shape[2]))


def divided(by: Callable[[Tensor, Tensor], float]) -> Callable[..., Tensor]:
    """The exercise's function with another divisor, made from queries and keys."""
    return lambda q, k, *rest: earlier(added(q, k, *rest) / by(q, k))


def without(*left_out: int) -> Callable[..., Tensor]:
    """The exercise's function without u (0) or v (1)."""
    return lambda q, k, r, *biases: right(q, k, r, *(
        torch.zeros_like(bias) if number in left_out else bias for number, bias in enumerate(biases)))


def masked(cover: Place, place: Place = placed) -> Callable[..., Tensor]:
    """The exercise's function with something else for the cells of later keys."""
    return lambda *args: cover(added(*args, place=place) / sqrt(args[0].shape[2]))


def along_the_queries(q: Tensor, k: Tensor, r: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """The scores, but row i of u and v goes to the query i of every head."""
    return earlier(((q + u) @ k.mT + placed((q + v) @ r.mT)) / sqrt(q.shape[2]))


SCORES: Mistakes = {
    "the vectors u and v have changed places: u goes with the keys, v with the distances":
        lambda q, k, r, u, v: right(q, k, r, v, u),
    "u is added to the keys and v to the distances; both stand in the place of a query": lambda q, k, r, u, v: earlier(
        (q @ (k + u[:, None]).mT + placed(q @ (r + v[:, None]).mT)) / sqrt(q.shape[2])),
    "u is added to the keys; it stands in the place of a query": lambda q, k, r, u, v: earlier(
        (q @ (k + u[:, None]).mT + position(q, r, v)) / sqrt(q.shape[2])),
    "u goes with the distances too: that is v's part": lambda q, k, r, u, v: right(q, k, r, u, u),
    "v goes with the keys too: that is u's part": lambda q, k, r, u, v: right(q, k, r, v, v),
    "u and v are both added to the query; u goes with the keys alone, v with the distances alone":
        lambda q, k, r, u, v: right(q, k, r, u + v, u + v),
    "u and v are added along the queries; each of their rows belongs to a head (u[:, None])": along_the_queries,
    "term (a) is left out: what the query looks for in a key":
        lambda q, k, r, u, v: earlier((u[:, None] @ k.mT + position(q, r, v)) / sqrt(q.shape[2])),
    "term (b) is left out: what the query looks for at a distance":
        lambda q, k, r, u, v: earlier((content(q, k, u) + placed((v[:, None] @ r.mT).expand(
            -1, q.shape[1], -1))) / sqrt(q.shape[2])),
    "term (c) is left out: u, which all queries of a head have in common": without(0),
    "term (d) is left out: v, which all queries of a head have in common": without(1),
    "terms (c) and (d) are left out: u and v, which all queries of a head have in common": without(0, 1),
    "terms (b) and (d) are left out: the distances": lambda q, k, r, u, v: earlier(content(q, k, u) / sqrt(q.shape[2])),
    "nothing is shifted: the columns of the second product are distances, not keys":
        lambda *args: right(*args, place=lambda x: x),
    "the rows are shifted to the right; the last query stays, and those before it move left":
        lambda *args: right(*args, place=to_the_right),
    "row i is shifted by i; the last query is the one that stays, so it is query − 1 − i":
        lambda *args: right(*args, place=later_more),
    "the distances are counted from the front: the first row of r is the farthest, and the last is 0":
        lambda *args: right(*args, place=nearest_first),
    "the memory is left out of the distances: query i is the slot key − query + i, not i":
        lambda *args: right(*args, place=from_zero),
    "the memory is left out of the mask: query i sees the keys up to key − query + i":
        lambda *args: (added(*args) / sqrt(args[0].shape[2])).tril(),
    "the memory is left out of distances and mask: query i is the slot key − query + i, not i":
        lambda *args: (added(*args, place=from_zero) / sqrt(args[0].shape[2])).tril(),
    "the sum is not divided by the root of the width": divided(lambda q, k: 1.0),
    "the sum is divided by the width, not by its root": divided(lambda q, k: q.shape[2]),
    "the sum is divided by the width and by 2: ** binds tighter than /, so write ** 0.5":
        divided(lambda q, k: 2 * q.shape[2]),
    "the sum is divided by the root of the model's width, all heads together; it is the width of one head":
        divided(lambda q, k: sqrt(q.shape[0] * q.shape[2])),
    "the sum is divided by the root of the number of keys, not of the width": divided(lambda q, k: sqrt(k.shape[1])),
    "the sum is divided by the root of the number of queries, not of the width": divided(lambda q, k: sqrt(q.shape[1])),
    "the sum is multiplied by the root of the width; that divides it": divided(lambda q, k: 1 / sqrt(q.shape[2])),
    "only the distances' part is divided: the sum needs brackets before it is":
        lambda q, k, r, u, v: earlier(content(q, k, u) + position(q, r, v) / sqrt(q.shape[2])),
    "only the keys' part is divided: the sum is":
        lambda q, k, r, u, v: earlier(content(q, k, u) / sqrt(q.shape[2]) + position(q, r, v)),
    "the own slot is 0 too, which does not come later: the mask is one column too long":
        masked(lambda x: x.tril(x.shape[-1] - x.shape[-2] - 1)),
    "the first product is shifted too; its columns are keys already":
        lambda q, k, r, u, v: earlier((placed(content(q, k, u)) + position(q, r, v)) / sqrt(q.shape[2])),
    "only term (d) is shifted; the columns of (b) are distances too": lambda q, k, r, u, v: earlier(
        (content(q, k, u) + q @ r.mT + placed((v[:, None] @ r.mT).expand(-1, q.shape[1], -1))) / sqrt(q.shape[2])),
    "a later key still has a score; it is 0 there": masked(lambda x: x),
    "a later key still has a score, by a distance that has lost its sign; it is 0 there": masked(lambda x: x, by_size),
    "a later key still has a score, with numbers of the next row: the reshape leaves them there, and it is 0":
        masked(lambda x: x, reread),
    "a later key still has a score, with numbers from the row's other end; it is 0 there":
        masked(lambda x: x, rolled),
    "a later key still has a score, of terms (a) and (c): only the distances' part is 0 there":
        lambda q, k, r, u, v: (content(q, k, u) + earlier(position(q, r, v))) / sqrt(q.shape[2]),
    "a later key has the score −∞, ready for the softmax; here it is to be 0": masked(hidden),
    "the earlier keys have the score 0, not the later ones":
        masked(lambda x: x.triu(x.shape[-1] - x.shape[-2])),
    "these are weights: the softmax is not asked for": masked(lambda x: hidden(x).softmax(-1)),
    "these are weights, over later keys too: the softmax is not asked for":
        masked(lambda x: earlier(x).softmax(-1)),
}


def near(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors hold the same numbers, within a thousandth."""
    return torch.allclose(one, other, rtol=1e-3, atol=1e-3)


def later_are_0(out: Tensor, *_: Any) -> bool:
    """Whether the cells of later keys are 0."""
    return torch.equal(out, earlier(out))


OF_SCORES: Properties = {
    "a key that comes later than the query has a score other than 0": later_are_0,
    "the last query is wrong already, where no number has to move: look at the four terms, and at what divides them":
        lambda out, *args: near(out[:, -1], right(*args)[:, -1]),
    "the last query is right, and another is wrong: look at which distance each key has":
        lambda out, *args: near(out, right(*args)),
}


# 10.3, the relative shift

def read_off(x: Tensor, behind: bool = False, last: bool = False) -> Tensor:
    """The relative shift with the zeros ``behind`` the rows, or the ``last`` of the new rows left out."""
    query, key = x.shape
    parts = [torch.zeros(query, 1), x]
    padded = torch.cat(parts[::-1] if behind else parts, 1).reshape(key + 1, query)
    return earlier((padded[:-1] if last else padded[1:]).reshape(query, key))


def turned(x: Tensor) -> Tensor:
    """The relative shift with a table that is turned, not read off in rows of another length."""
    return earlier(torch.cat([torch.zeros(len(x), 1), x], 1).T[1:].reshape(x.shape))


SHIFT: Mistakes = {
    "nothing is moved: these are distances still, not keys": earlier,
    "the rows move to the right; they move left": lambda x: earlier(to_the_right(x)),
    "row i moves by i columns; the last row is the one that stays, so it is query − 1 − i":
        lambda x: earlier(later_more(x)),
    "all rows move by as much as the first": lambda x: earlier(moved(x, torch.arange(x.shape[1]) + len(x) - 1)),
    "the distances are counted from the front: the first column is the farthest, and the last is 0":
        lambda x: earlier(nearest_first(x)),
    "the memory is left out of the distances: row i is the slot key − query + i, not i":
        lambda x: earlier(from_zero(x)),
    "the memory is left out of the mask: row i sees the keys up to key − query + i": lambda x: placed(x).tril(),
    "the memory is left out of distances and mask: row i is the slot key − query + i, and moves by query − 1 − i, not "
    "by key − 1 − i": lambda x: from_zero(x).tril(),
    "every row moves by one column more than it must; do the zeros stand behind the rows? They belong before them":
        lambda x: read_off(x, behind=True),
    "the last of the new rows is left out, and the rows move to the right; it is the first":
        lambda x: read_off(x, last=True),
    "the zeros stand behind the rows and the last of the new rows is left out, so that row i moves right by i; they "
    "stand before, and it is the first": lambda x: read_off(x, behind=True, last=True),
    "the table is turned (.T); its numbers are to be read off in rows of another length (.reshape)": turned,
    "later keys are not 0: numbers of the next row stand there": reread,
    "later keys are not 0: what fell out of a row on the left came in again on the right": rolled,
    "later keys are not 0: they have the number of the distance 0": placed,
    "later keys are not 0: their distance has lost its sign": by_size,
    "later keys are −∞, ready for the softmax; here they are to be 0": lambda x: hidden(placed(x)),
    "the earlier keys are 0, not the later ones": lambda x: placed(x).triu(x.shape[1] - x.shape[0]),
}

OF_A_SHIFT: Properties = {
    "a key that comes later than the query is not 0": later_are_0,
    "the last row has changed; its distances stand at their keys already": lambda out, x: near(out[-1], x[-1]),
    "a row holds a number that is not its own": lambda out, x: all(
        bool(torch.isin(mine[mine != 0], row).all()) for mine, row in zip(out, x, strict=True)),
}
