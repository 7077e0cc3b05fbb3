"""Wrong answers to the exercises 12.1 and 12.2, who sees whom under UniLM's masks, under the names of their mistakes,
and what holds of any right one."""

from collections.abc import Callable

import torch
from torch import Tensor

from plmlab.exercises.mistakes import Mistakes, Properties

# 12.1, a source and a target in one row

Mask = Callable[[int, int], Tensor]


def asking(rule: Callable[[Tensor, Tensor, int], Tensor]) -> Mask:
    """The exercise's function by another rule, from the query's place, a column, the key's, a row, and how many slots
    the source has."""
    def answer(source: int, target: int) -> Tensor:
        time = source + target
        place = torch.arange(time)
        return rule(place[:, None], place, source).expand(time, time).clone()
    return answer


def right(source: int, target: int) -> Tensor:
    """The exercise's function."""
    return asking(lambda q, k, s: (k < s) | (k <= q))(source, target)


def ones(rows: int, columns: int) -> Tensor:
    """A mask where everyone sees everyone."""
    return torch.ones(rows, columns, dtype=torch.bool)


def own_triangle(source: int, target: int) -> Tensor:
    """The target's rows are a triangle that begins at the column 0."""
    return torch.cat([right(source, target)[:source], ones(target, source + target).tril()])


SIDES: Mistakes = {
    "the source reads from left to right too. This is GPT: the source is known as a whole, and sees itself to both "
    "sides": asking(lambda q, k, s: k <= q),
    "everyone sees everyone. This is BERT: a target slot would see the words that it is to say":
        asking(lambda q, k, s: k >= 0),
    "the source sees the target; the target is not there yet when the source is read":
        asking(lambda q, k, s: (q < s) | (k <= q)),
    "the target sees all of itself, what comes later too; it sees itself and what stands before":
        asking(lambda q, k, s: (k < s) | (q >= s)),
    "a target slot does not see itself: < for <=, or a triangle that begins below its diagonal":
        asking(lambda q, k, s: (k < s) | (k < q)),
    "a target slot sees one slot too many, and so the last source slot sees the first of the target: the triangle "
    "begins above its diagonal": asking(lambda q, k, s: (k < s) | (k <= q + 1)),
    "a target slot sees the one that comes next: the triangle begins above its diagonal":
        asking(lambda q, k, s: (k < s) | (q >= s) & (k <= q + 1)),
    "the target does not see the source; how should it know what to say?":
        asking(lambda q, k, s: (k < s) & (q < s) | (k <= q) & (k >= s)),
    "the target does not see the source, and the source reads from left to right":
        asking(lambda q, k, s: (k <= q) & ((k >= s) == (q >= s))),
    "the target sees nothing of itself; it sees itself and what stands before": asking(lambda q, k, s: k < s),
    "a comparison needs parentheses: | binds before < and <=": asking(lambda q, k, s: k < (s | (k <= q))),
    "a target slot sees of the target only itself; what was said before it is there too":
        asking(lambda q, k, s: (k < s) | (k == q)),
    "the target's triangle lies the wrong way: what stands before is seen, not what comes later":
        asking(lambda q, k, s: (k < s) | (q >= s) & (k >= q)),
    "the triangle lies the wrong way over all slots: the source sees the target, and a target slot what comes later":
        asking(lambda q, k, s: (k < s) | (k >= q)),
    "both are asked for, that a key is of the source *and* that it stands before: | for &, one of them is enough":
        asking(lambda q, k, s: (k < s) & (k <= q)),
    "the triangle lies over the wrong square: it is the target that reads from left to right, and the source that sees "
    "itself to both sides": asking(lambda q, k, s: (k <= q) | (q >= s)),
    "the source sees nothing; it sees itself to both sides": asking(lambda q, k, s: (q >= s) & (k <= q)),
    "a source slot sees only itself; it sees all of the source": asking(lambda q, k, s: (q >= s) & (k <= q) | (k == q)),
    "rows and columns have changed places: rows are the queries, columns the keys":
        lambda source, target: right(source, target).T,
    "True marks what is blocked; True = may look": lambda source, target: ~right(source, target),
    "the first slot of the target counts as source (<= for <): slots count from 0": asking(
        lambda q, k, s: (k <= s) | (k <= q)),
    "the last slot of the source is not seen by the others: slots count from 0, and the source ends at source − 1":
        asking(lambda q, k, s: (k < s - 1) | (k <= q)),
    "source and target have changed their numbers": lambda source, target: right(target, source),
    "the target stands before the source; it stands behind": lambda source, target: right(source, target).roll(
        (target, target), (0, 1)),
    "the target's triangle begins at column 0, the source's first; it begins at column `source`": own_triangle,
    "the target's triangle begins at column 0, where the source stands; it begins at column `source`":
        lambda source, target: own_triangle(source, target) | asking(lambda q, k, s: k < s)(source, target),
    "only the source's rows are given; the mask has a row for each slot of both":
        lambda source, target: right(source, target)[:source],
    "only the target's rows are given; the mask has a row for each slot of both":
        lambda source, target: right(source, target)[source:],
}


def block(rows: str, columns: str) -> Callable[[Tensor, int], Tensor]:
    """A block of a mask, given how many slots the source has: rows and columns of "source" or "target"."""
    def cut(mask: Tensor, source: int) -> Tensor:
        part = {"source": slice(None, source), "target": slice(source, None)}
        return mask[part[rows], part[columns]]
    return cut


OF_SIDES: Properties = {
    "a slot does not see itself": lambda out, *_: bool((out.diagonal() == 1).all()),
    "a source slot does not see all of the source": lambda out, source, target: bool(
        (block("source", "source")(out, source) == 1).all()),
    "a source slot sees something of the target": lambda out, source, target: not bool(
        block("source", "target")(out, source).any()),
    "a target slot does not see all of the source": lambda out, source, target: bool(
        (block("target", "source")(out, source) == 1).all()),
    "a target slot sees one that comes later": lambda out, source, target: not bool(
        block("target", "target")(out, source).triu(1).any()),
}


# 12.2, four masks from the segments

Rule = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
"""Of the segments of query and key, and the places of both: whether the query sees the key."""


def by_rule(rule: Rule, *, hidden: bool = True, blind: bool = True) -> Callable[[Tensor], Tensor]:
    """The exercise's function by another rule; padding is ``hidden`` as a key, and ``blind`` as a query, or left as the
    rule says it."""
    def answer(segments: Tensor) -> Tensor:
        of_query, of_key, place = segments[:, :, None], segments[:, None], torch.arange(segments.shape[1])
        seen = rule(of_query, of_key, place[:, None], place).expand(*segments.shape, segments.shape[1])
        real = (of_key >= 0) | (not hidden)
        return seen & real & ((of_query >= 0) | (not blind))
    return answer


def by_all(key: Tensor) -> Tensor:
    """Whether a key is of a segment that all of its text may see."""
    return torch.isin(key, torch.tensor([0, 1, 4]))


def from_left(key: Tensor) -> Tensor:
    """Whether a key is of a segment that only those at or behind it see."""
    return torch.isin(key, torch.tensor([2, 5]))


def sees(s: Tensor, t: Tensor, i: Tensor, j: Tensor) -> Tensor:
    """Whether a query of segment s at the place i sees a key of segment t at the place j, padding apart."""
    return by_all(t) | from_left(t) & (j <= i) | (t == 3) & (j >= i)


def sees_filled(s: Tensor, t: Tensor, i: Tensor, j: Tensor) -> Tensor:
    """The same where padding belongs to the text beside it, as what its last real slot is."""
    text = s.amax(1, keepdim=True)
    filled = t.where(t >= 0, text)
    return sees(s, filled, i, j)


def but(kinds: Callable[[Tensor, Tensor], Tensor], otherwise: Rule) -> Rule:
    """The rule, but for some pairs of segments, which have another."""
    return lambda s, t, i, j: torch.where(kinds(s, t), otherwise(s, t, i, j), sees(s, t, i, j))


def nothing(s: Tensor, t: Tensor, i: Tensor, j: Tensor) -> Tensor:
    """No query sees a key."""
    return (t != t) & (j < 0)


def first_only(segments: Tensor) -> Tensor:
    """The mask of the first text, for each text."""
    return by_rule(sees)(segments)[:1].expand(len(segments), -1, -1).clone()


def by_first_slot(segments: Tensor) -> Tensor:
    """Each text by the segment of its first slot, as the chapter's function for a text without padding does it."""
    begins = segments[:, :1, None]
    like_both = (begins != 2) & (begins != 3) & (begins != 4)
    return by_rule(lambda s, t, i, j: like_both | (begins == 3) & (j >= i) | (begins == 2) & (j <= i) |
                   (begins == 4) & ((t == 4) | (j <= i)))(segments)


KINDS: Mistakes = {
    "the kind of a text is read at its first slot, which may be padding": by_first_slot,
    "all texts have the mask of the first; each has that of its own segments": first_only,
    "all texts are read in both directions: the segments are not asked":
        by_rule(lambda s, t, i, j: t == t),
    "all texts are read from left to right: the segments are not asked":
        by_rule(lambda s, t, i, j: (j <= i).expand(len(t), -1, -1)),
    "segments 2 and 3 have changed places: 2 reads from the left, and sees what stands before":
        by_rule(but(lambda s, t: (t == 2) | (t == 3), lambda s, t, i, j: (t == 2) & (j >= i) | (t == 3) & (j <= i))),
    "segment 3 is read from the left as well; there a slot sees what stands behind it":
        by_rule(but(lambda s, t: t == 3, lambda s, t, i, j: (j <= i).expand(len(t), -1, -1))),
    "segment 2 is read from the right as well; there a slot sees what stands before it":
        by_rule(but(lambda s, t: t == 2, lambda s, t, i, j: (j >= i).expand(len(t), -1, -1))),
    "segments 0 and 1 do not see each other; they are two sentences of one text":
        by_rule(but(lambda s, t: (s != t) & (s < 2) & (t < 2), nothing)),
    "a slot sees only its own segment; 0 and 1 see each other, and 5 sees 4":
        by_rule(lambda s, t, i, j: sees(s, t, i, j) & (s == t)),
    "a slot sees only its own segment, and all of it: neither the order nor the other segments are asked":
        by_rule(lambda s, t, i, j: s == t),
    "a slot sees its own segment and earlier ones, by their numbers, and all of them: 1 sees 0 and 0 not 1, and the "
    "order of the slots is not asked": by_rule(lambda s, t, i, j: t <= s),
    "segment 0 does not see 1; in both directions everyone sees everyone":
        by_rule(but(lambda s, t: (s == 0) & (t == 1), nothing)),
    "the source reads from left to right too; it sees itself to both sides":
        by_rule(but(lambda s, t: t == 4, lambda s, t, i, j: (j <= i).expand(len(t), -1, -1))),
    "the target sees all of itself; it sees itself and what stands before":
        by_rule(but(lambda s, t: (s == 5) & (t == 5), lambda s, t, i, j: t == t)),
    "the source sees the target, which is still to be said": by_rule(but(
        lambda s, t: (s == 4) & (t == 5), lambda s, t, i, j: t == t)),
    "source and target see each other to both sides; a target slot sees itself and what stands before":
        by_rule(but(lambda s, t: t == 5, lambda s, t, i, j: t == t)),
    "the triangle lies the wrong way in all texts, so that the source sees its target and nobody what was before":
        by_rule(lambda s, t, i, j: by_all(t) | from_left(t) & (j >= i) | (t == 3) & (j <= i)),
    "the query's segment is asked for the key's: the source sees its target, and padding is seen":
        by_rule(lambda s, t, i, j: sees(s, s, i, j), hidden=False),
    "the target does not see the source": by_rule(but(lambda s, t: (s == 5) & (t == 4), nothing)),
    "the target sees the source, and nothing of itself": by_rule(but(lambda s, t: t == 5, nothing)),
    "segments 4 and 5 have changed places: 4 is the source, 5 the target": by_rule(but(
        lambda s, t: t >= 4, lambda s, t, i, j: (t == 5) | (j <= i))),
    "where there is an order, a slot does not see itself: < for <=, or a triangle that begins below its diagonal":
        by_rule(lambda s, t, i, j: by_all(t) | from_left(t) & (j < i) | (t == 3) & (j > i)),
    "from the right, a slot does not see itself: ~before lacks the diagonal, before.T has it":
        by_rule(but(lambda s, t: t == 3, lambda s, t, i, j: (j > i).expand(len(t), -1, -1))),
    "only texts in both directions and sources are seen: the two that have an order are left out":
        by_rule(lambda s, t, i, j: by_all(t)),
    "rows and columns have changed places: rows are the queries, columns the keys":
        lambda segments: by_rule(sees)(segments).mT.clone(),
    "True marks what is blocked; True = may look": lambda segments: ~by_rule(sees)(segments),
    "padding is seen: its slots take part in their text as any others": by_rule(sees_filled, hidden=False, blind=False),
    "padding is seen, though it sees nothing: strike it out as a key too": by_rule(sees_filled, hidden=False),
    "padding sees the text; it is struck out as a key, and is still to be struck out as a query":
        by_rule(sees, blind=False),
    "padding sees padding; it sees nothing": by_rule(lambda s, t, i, j: sees(s, t, i, j) | (s < 0) & (t < 0),
                                                     hidden=False, blind=False),
    "padding is taken for a part of the target: −1 counts from the end of a list of six, and finds 5": by_rule(
        lambda s, t, i, j: sees(s, t.where(t >= 0, 5), i, j), hidden=False, blind=False),
    "a query in padding sees itself; it sees nothing":
        lambda segments: by_rule(sees)(segments) | torch.eye(segments.shape[1], dtype=torch.bool) & (
            segments[:, None] < 0),
    "the masks of all texts are joined to one; each text has its own":
        lambda segments: by_rule(sees)(segments).any(0),
}


def real(segments: Tensor) -> Tensor:
    """Where both query and key are no padding."""
    return (segments[:, :, None] >= 0) & (segments[:, None] >= 0)


OF_KINDS: Properties = {
    "padding is seen, or sees something": lambda out, segments: not bool(out[~real(segments)].any()),
    "a slot that is no padding does not see itself": lambda out, segments: torch.equal(
        out.diagonal(dim1=1, dim2=2) == 1, segments >= 0),
    "in a text of segments 0 and 1, not everyone sees everyone": lambda out, segments: bool(
        (out[real(segments) & (segments[:, None] <= 1)] == 1).all()),
    "a source sees its target": lambda out, segments: not bool(
        out[(segments[:, :, None] == 4) & (segments[:, None] == 5)].any()),
    "a target slot does not see all of its source": lambda out, segments: bool(
        (out[(segments[:, :, None] == 5) & (segments[:, None] == 4)] == 1).all()),
}
