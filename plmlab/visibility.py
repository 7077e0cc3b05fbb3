"""Who may look at whom, and why: the attention mask as a union of named rules."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self

import torch
from jaxtyping import Bool, Int
from torch import Tensor

NO_RULE = -2000
EDITED = 1000

Pattern = Literal["full", "causal", "other"]


@dataclass(frozen=True)
class Rule:
    """One reason to look: a query in ``queries`` may look at a key in ``keys`` whose rank is at most its own.

    ``why`` and ``unless`` are the sentences for a pair that the rule lets look, and for one that only the
    ranks keep apart; ``{query}`` and ``{key}`` stand in them for the two tokens, ``{steps}`` for how many positions
    apart they stand. Ranks of zero order nothing.
    """

    name: str
    why: str
    queries: Bool[Tensor, "query"]
    keys: Bool[Tensor, "key"]
    query_rank: Int[Tensor, "query"]
    key_rank: Int[Tensor, "key"]
    unless: str = ""

    @classmethod
    def between(cls, name: str, why: str, queries: Bool[Tensor, "query"], keys: Bool[Tensor, "key"]) -> Self:
        """Every query of one group looks at every key of another."""
        return cls(name, why, queries, keys, torch.zeros_like(queries, dtype=torch.long),
                   torch.zeros_like(keys, dtype=torch.long))

    def covers(self) -> Bool[Tensor, "query key"]:
        """The pairs that the rule speaks of, whatever their ranks."""
        return self.queries[:, None] & self.keys[None, :]

    def allows(self) -> Bool[Tensor, "query key"]:
        """The pairs that the rule lets look."""
        return self.covers() & (self.key_rank[None, :] <= self.query_rank[:, None])


@dataclass(frozen=True)
class DirectionalRule(Rule):
    """A rule that speaks of the keys on one side of each query: ``side`` −1 is before it, 1 behind it."""

    side: int = -1

    def covers(self) -> Bool[Tensor, "query key"]:
        """The pairs on that side."""
        ahead = torch.arange(len(self.keys))[None, :] - torch.arange(len(self.queries))[:, None]
        return super().covers() & (ahead.sign() == self.side)


@dataclass(frozen=True)
class RangeRule(Rule):
    """A rule that lets each query look at a stretch of keys of its own, from ``first`` to ``last``."""

    first: Int[Tensor, "query"] = field(kw_only=True)
    last: Int[Tensor, "query"] = field(kw_only=True)

    @classmethod
    def of(cls, name: str, why: str, first: Int[Tensor, "query"], last: Int[Tensor, "query"]) -> Self:
        """For as many keys as queries; an end beyond the text's is the text's."""
        everyone = torch.ones(len(first), dtype=torch.bool)
        return cls(name, why, everyone, everyone, torch.zeros_like(first), torch.zeros_like(first), first=first,
                   last=last)

    def covers(self) -> Bool[Tensor, "query key"]:
        """The pairs of a query and a key in its stretch."""
        keys = torch.arange(len(self.keys))
        return super().covers() & (keys >= self.first[:, None]) & (keys <= self.last[:, None])


@dataclass(frozen=True)
class PairsRule(Rule):
    """A rule that lets look just the ``pairs`` that it lists."""

    pairs: Bool[Tensor, "query key"] = field(kw_only=True)

    @classmethod
    def of(cls, name: str, why: str, pairs: Bool[Tensor, "query key"]) -> Self:
        """For the pairs that are True."""
        queries, keys = (torch.ones(size, dtype=torch.bool) for size in pairs.shape)
        return cls(name, why, queries, keys, torch.zeros_like(queries, dtype=torch.long),
                   torch.zeros_like(keys, dtype=torch.long), pairs=pairs)

    def covers(self) -> Bool[Tensor, "query key"]:
        """The pairs that are listed."""
        return super().covers() & self.pairs


def _later(time: int) -> DirectionalRule:
    """The rule that what comes later may not be seen."""
    everyone, zero = torch.ones(time, dtype=torch.bool), torch.zeros(time, dtype=torch.long)
    return DirectionalRule("what comes later", "", everyone, everyone, zero, zero + 1, side=1,
                    unless="{key} comes later: to see it would be to see the answer.")


@dataclass(frozen=True)
class Visibility:
    """Who may look at whom in one example: True = may look.

    ``otherwise`` is the sentence for a pair that no rule covers. ``edits`` are changes made by hand, the
    last one for a pair counts. ``pattern`` keeps what is known of the whole, so that a batch of it can take
    the fast paths of ``scaled_dot_product_attention``.
    """

    rules: tuple[Rule, ...]
    otherwise: str = "no rule lets {query} look at {key}."
    edits: tuple[tuple[int, int, bool], ...] = ()
    pattern: Pattern = "other"

    @classmethod
    def full(cls, queries: int, keys: int | None = None, *, name: str = "everyone sees everyone",
             why: str = "no position is closed to another: {query} may look to both sides.") -> Self:
        """Every query sees every key, as in BERT's encoder, or from a decoder across to its encoder."""
        rule = Rule.between(name, why, torch.ones(queries, dtype=torch.bool),
                            torch.ones(queries if keys is None else keys, dtype=torch.bool))
        return cls((rule,), pattern="full")

    @classmethod
    def causal(cls, time: int) -> Self:
        """Every position sees itself and what stands before it, as in GPT."""
        everyone, place = torch.ones(time, dtype=torch.bool), torch.arange(time)
        rule = Rule(
            "what was read before",
            "{key} was read by the time {query} must say what comes next.",
            everyone, everyone, place, place,
            unless="{key} comes later: to see it would be to see the answer.",
        )
        return cls((rule,), pattern="causal")

    @classmethod
    def window(cls, reach: Int[Tensor, "time"]) -> Self:
        """Every position sees its neighbours, those at most its own reach away, and not itself, as in word2vec."""
        everyone, place = torch.ones(len(reach), dtype=torch.bool), torch.arange(len(reach))
        before, behind = (DirectionalRule(
            f"in the window, {where}", f"{{key}} stands {{steps}} {where} {{query}}, within its reach.",
            everyone, everyone, reach + side * place, side * place, side=side,
            unless=f"{{key}} stands {{steps}} {where} {{query}}: further than its reach goes.",
        ) for where, side in (("before", -1), ("behind", 1)))
        return cls((before, behind), otherwise="{query} is the word to be said.")

    @classmethod
    def segmented(cls, time: int, segment: int, memory: int) -> Self:
        """Every position sees its own segment up to itself, and the last ``memory`` positions before that segment, as
        in Transformer-XL."""
        place = torch.arange(time)
        begins = place // segment * segment
        return cls((
            RangeRule.of("in its segment", "{key} was read before, in the same segment.", begins, place),
            RangeRule.of("in the memory", "{key} stands in a segment before, and is remembered.", begins - memory,
                       begins - 1),
            _later(time),
        ), otherwise="{key} was read too long ago: the memory of {query} holds it no more.")

    @classmethod
    def last(cls, time: int, count: int) -> Self:
        """Every position sees the last ``count`` positions, itself among them: the same length for all."""
        place = torch.arange(time)
        return cls((RangeRule.of("among the last", "{key} was read {steps} positions before.", place - count + 1,
                                 place),
                    _later(time)), otherwise="{key} was read too long ago.")

    @property
    def shape(self) -> tuple[int, int]:
        """How many queries and how many keys."""
        return self.rules[0].queries.shape[0], self.rules[0].keys.shape[0]

    def dense(self) -> Bool[Tensor, "query key"]:
        """The mask itself: True where the query may look at the key."""
        looks = torch.zeros(self.shape, dtype=torch.bool)
        for rule in self.rules:
            looks |= rule.allows()
        for query, key, look in self.edits:
            looks[query, key] = look
        return looks

    def rule_ids(self) -> Int[Tensor, "query key"]:
        """What decides each pair: ``i + 1`` where rule i lets it look, ``-(i + 1)`` where only rule i's ranks
        forbid it, ``NO_RULE`` where no rule covers it, ``±EDITED`` where it was edited."""
        cause = torch.full(self.shape, NO_RULE)
        for i, rule in reversed(list(enumerate(self.rules))):
            cause[rule.covers() & (cause < 0)] = -(i + 1)
            cause[rule.allows()] = i + 1
        for query, key, look in self.edits:
            cause[query, key] = EDITED if look else -EDITED
        return cause

    def sentence(self, cause: int) -> str:
        """The sentence behind one of the ``rule_ids``, with ``{query}`` and ``{key}`` still to be filled in."""
        if abs(cause) == EDITED:
            return "you opened this cell by hand." if cause > 0 else "you closed this cell by hand."
        if cause == NO_RULE:
            return self.otherwise
        rule = self.rules[abs(cause) - 1]
        return rule.why if cause > 0 else rule.unless or self.otherwise

    def reason(self, query: int, key: int, words: Sequence[str] | None = None) -> str:
        """Why ``query`` may, or may not, look at ``key``, in words; positions are named by ``words`` if given."""
        cause = int(self.rule_ids()[query, key])
        q, k = (words[query], words[key]) if words else (f"position {query}", f"position {key}")
        verdict = "may look at" if cause > 0 else "may not look at"
        because = self.sentence(cause).replace("{steps}", str(abs(query - key)))
        because = because.replace("{query}", q).replace("{key}", k)
        return f"{q} {verdict} {k}: {because}"

    def edited(self, query: int, key: int, look: bool) -> Self:
        """The same, but for one pair that a person set by hand."""
        queries, keys = self.shape
        if not (0 <= query < queries and 0 <= key < keys):
            raise ValueError(f"there is no cell ({query}, {key}) in a mask of {queries} queries × {keys} keys")
        return replace(self, edits=(*self.edits, (query, key, look)), pattern="other")


@dataclass(frozen=True)
class AttentionMask:
    """Who may look at whom in a batch, in the cheapest form that says it.

    A pair may look where all three agree: ``causal`` (no key later than the query), ``keys`` (real keys, not
    padding) and ``pairs`` (a mask of its own for each example). A query that may look nowhere gets zeros.
    """

    causal: bool = False
    keys: Bool[Tensor, "batch key"] | None = None
    pairs: Bool[Tensor, "batch query key"] | None = None

    @property
    def only_causal(self) -> bool:
        """Whether nothing but a key's place decides who may look at it."""
        return self.causal and self.keys is None and self.pairs is None

    @classmethod
    def of(cls, visible: Sequence[Visibility]) -> Self:
        """The mask of a batch of examples, padded on the right to the longest.

        Padding is never seen, with one exception that costs nothing: in a causal batch it stands to the
        right of every real position, which sees nothing there anyhow, so that no mask is needed at all.
        """
        queries, keys = (max(sizes) for sizes in zip(*(v.shape for v in visible), strict=True))
        patterns = {v.pattern for v in visible}
        if patterns == {"causal"}:
            return cls(causal=True)
        if patterns == {"full"}:
            lengths = torch.tensor([v.shape[1] for v in visible])
            real = torch.arange(keys)[None, :] < lengths[:, None]
            return cls(keys=None if bool(real.all()) else real)
        pairs = torch.zeros(len(visible), queries, keys, dtype=torch.bool)
        for row, v in zip(pairs, visible, strict=True):
            row[: v.shape[0], : v.shape[1]] = v.dense()
        return cls(pairs=pairs)

    def dense(self, query: int, key: int) -> Bool[Tensor, "#batch #head query key"] | None:
        """The mask for ``query`` queries that are the last of ``key`` positions, or None where all may look."""
        mask = None if self.pairs is None else self.pairs[:, None]
        if self.keys is not None:
            real = self.keys[:, None, None, :].expand(-1, 1, query, -1)
            mask = real if mask is None else mask & real
        if self.causal:
            device = None if mask is None else mask.device
            before = torch.ones(1, 1, query, key, dtype=torch.bool, device=device).tril(key - query)
            mask = before if mask is None else mask & before
        return mask

    def at(self, query: int) -> Self:
        """The mask of one query alone, by its row of ``pairs``."""
        return replace(self, pairs=None if self.pairs is None else self.pairs[:, query:query + 1])

    def select(self, rows: Int[Tensor, "rows"]) -> Self:
        """The masks of these rows of the batch, in this order."""
        return replace(self, keys=None if self.keys is None else self.keys[rows],
                       pairs=None if self.pairs is None else self.pairs[rows])

    def to(self, device: torch.device | str) -> Self:
        """The same on another device."""
        def move(t: Tensor | None) -> Tensor | None:
            return None if t is None else t.to(device, non_blocking=True)
        return replace(self, keys=move(self.keys), pairs=move(self.pairs))
