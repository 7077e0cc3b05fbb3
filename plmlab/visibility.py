"""Visibility: a union of named visibility rules; its dense form is the attention mask (True = can attend)."""

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
    """A visibility rule: a query in ``queries`` can attend to a key in ``keys`` if the key's rank is at most the
    query's.

    For a causal mask, the ranks are the positions: ``query_rank = key_rank = arange(time)``. With all ranks zero, every
    query in ``queries`` can attend to every key in ``keys``. ``why`` explains an allowed pair, ``unless`` a pair that
    is blocked only by the ranks. Both are templates: ``{query}`` and ``{key}`` are the two tokens, ``{steps}`` is their
    distance in positions.
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
        """Build a rule without ranks: every query in one group can attend to every key in another."""
        return cls(name, why, queries, keys, torch.zeros_like(queries, dtype=torch.long),
                   torch.zeros_like(keys, dtype=torch.long))

    def covers(self) -> Bool[Tensor, "query key"]:
        """The pairs to which the rule applies, regardless of rank."""
        return self.queries[:, None] & self.keys[None, :]

    def allows(self) -> Bool[Tensor, "query key"]:
        """The pairs that the rule allows."""
        return self.covers() & (self.key_rank[None, :] <= self.query_rank[:, None])


@dataclass(frozen=True)
class DirectionalRule(Rule):
    """A rule for the keys on one side of each query: before it (``side`` −1) or after it (``side`` 1)."""

    side: int = -1

    def covers(self) -> Bool[Tensor, "query key"]:
        """The pairs whose key is on that side of the query."""
        ahead = torch.arange(len(self.keys))[None, :] - torch.arange(len(self.queries))[:, None]
        return super().covers() & (ahead.sign() == self.side)


@dataclass(frozen=True)
class RangeRule(Rule):
    """A rule that allows each query an interval of keys, from ``first`` to ``last`` (inclusive)."""

    first: Int[Tensor, "query"] = field(kw_only=True)
    last: Int[Tensor, "query"] = field(kw_only=True)

    @classmethod
    def of(cls, name: str, why: str, first: Int[Tensor, "query"], last: Int[Tensor, "query"]) -> Self:
        """Build the rule for self-attention, with the same number of keys and queries; intervals are truncated at the
        ends of the text."""
        all_true = torch.ones(len(first), dtype=torch.bool)
        return cls(name, why, all_true, all_true, torch.zeros_like(first), torch.zeros_like(first), first=first,
                   last=last)

    def covers(self) -> Bool[Tensor, "query key"]:
        """The pairs of a query and a key in the query's interval."""
        keys = torch.arange(len(self.keys))
        return super().covers() & (keys >= self.first[:, None]) & (keys <= self.last[:, None])


@dataclass(frozen=True)
class PairsRule(Rule):
    """A rule that allows exactly the given ``pairs``."""

    pairs: Bool[Tensor, "query key"] = field(kw_only=True)

    @classmethod
    def of(cls, name: str, why: str, pairs: Bool[Tensor, "query key"]) -> Self:
        """Build the rule from a Boolean matrix."""
        queries, keys = (torch.ones(size, dtype=torch.bool) for size in pairs.shape)
        return cls(name, why, queries, keys, torch.zeros_like(queries, dtype=torch.long),
                   torch.zeros_like(keys, dtype=torch.long), pairs=pairs)

    def covers(self) -> Bool[Tensor, "query key"]:
        """The given pairs."""
        return super().covers() & self.pairs


def _later(time: int) -> DirectionalRule:
    """A rule that blocks later keys."""
    all_true, zero = torch.ones(time, dtype=torch.bool), torch.zeros(time, dtype=torch.long)
    return DirectionalRule("what comes later", "", all_true, all_true, zero, zero + 1, side=1,
                           unless="{key} comes later: attending to it would leak a target.")


@dataclass(frozen=True)
class Visibility:
    """The attention mask of one example as a union of named rules, which also explain why a query can or cannot attend
    to a key.

    ``otherwise`` explains a pair that no rule covers. ``edits`` are (query, key, allowed) overrides, of which the last
    one for a pair takes effect. ``pattern`` marks full and causal masks, so that a batch can use the fast paths of
    ``scaled_dot_product_attention``.
    """

    rules: tuple[Rule, ...]
    otherwise: str = "no rule allows {query} to attend to {key}."
    edits: tuple[tuple[int, int, bool], ...] = ()
    pattern: Pattern = "other"

    @classmethod
    def full(cls, queries: int, keys: int | None = None, *, name: str = "bidirectional attention",
             why: str = "attention is bidirectional: nothing is masked.") -> Self:
        """Full attention, as in BERT's encoder or in a decoder's cross-attention."""
        rule = Rule.between(name, why, torch.ones(queries, dtype=torch.bool),
                            torch.ones(queries if keys is None else keys, dtype=torch.bool))
        return cls((rule,), pattern="full")

    @classmethod
    def causal(cls, time: int) -> Self:
        """Causal mask: every position attends to itself and to earlier positions, as in GPT."""
        all_true, index = torch.ones(time, dtype=torch.bool), torch.arange(time)
        rule = Rule(
            "left context",
            "{key} is not after {query}, which predicts the next token.",
            all_true, all_true, index, index,
            unless="{key} comes later: attending to it would leak a target.",
        )
        return cls((rule,), pattern="causal")

    @classmethod
    def window(cls, reach: Int[Tensor, "time"]) -> Self:
        """Context window of word2vec: every position attends to the neighbours within its own window size, but not to
        itself."""
        all_true, index = torch.ones(len(reach), dtype=torch.bool), torch.arange(len(reach))
        before, after = (DirectionalRule(
            f"in the window, {where}", f"{{key}} is {{steps}} {where} {{query}}, within its window.",
            all_true, all_true, reach + side * index, side * index, side=side,
            unless=f"{{key}} is {{steps}} {where} {{query}}, outside its window.",
        ) for where, side in (("before", -1), ("after", 1)))
        return cls((before, after), otherwise="{query} is the target word itself.")

    @classmethod
    def segmented(cls, time: int, segment: int, memory: int) -> Self:
        """Segment-level recurrence of Transformer-XL: every position attends to its own segment, up to itself, and to
        the last ``memory`` positions before that segment."""
        index = torch.arange(time)
        begins = index // segment * segment
        return cls((
            RangeRule.of("in its segment", "{key} is not after {query}, in the same segment.", begins, index),
            RangeRule.of("in the memory", "{key} is in an earlier segment and still in the memory.", begins - memory,
                         begins - 1),
            _later(time),
        ), otherwise="{key} is too far back: it is no longer in the memory of {query}.")

    @classmethod
    def last(cls, time: int, count: int) -> Self:
        """Sliding window: every position attends to the last ``count`` positions, including itself."""
        index = torch.arange(time)
        return cls((RangeRule.of("among the last", "{key} is {steps} positions back.", index - count + 1, index),
                    _later(time)), otherwise="{key} is too far back.")

    @property
    def shape(self) -> tuple[int, int]:
        """(number of queries, number of keys)."""
        return self.rules[0].queries.shape[0], self.rules[0].keys.shape[0]

    def dense(self) -> Bool[Tensor, "query key"]:
        """The Boolean attention mask: True where the query can attend to the key."""
        mask = torch.zeros(self.shape, dtype=torch.bool)
        for rule in self.rules:
            mask |= rule.allows()
        for query, key, allowed in self.edits:
            mask[query, key] = allowed
        return mask

    def rule_ids(self) -> Int[Tensor, "query key"]:
        """The rule that decides each pair: ``i + 1`` if rule i allows it, ``-(i + 1)`` if only the ranks of rule i
        block it, ``NO_RULE`` if no rule covers it, ``±EDITED`` if it was edited."""
        cause = torch.full(self.shape, NO_RULE)
        for i, rule in reversed(list(enumerate(self.rules))):
            cause[rule.covers() & (cause < 0)] = -(i + 1)
            cause[rule.allows()] = i + 1
        for query, key, allowed in self.edits:
            cause[query, key] = EDITED if allowed else -EDITED
        return cause

    def sentence(self, cause: int) -> str:
        """The explanation for one of the ``rule_ids``, a template with ``{query}`` and ``{key}``."""
        if abs(cause) == EDITED:
            return "you allowed this pair by hand." if cause > 0 else "you blocked this pair by hand."
        if cause == NO_RULE:
            return self.otherwise
        rule = self.rules[abs(cause) - 1]
        return rule.why if cause > 0 else rule.unless or self.otherwise

    def reason(self, query: int, key: int, words: Sequence[str] | None = None) -> str:
        """Explain in words why ``query`` can or cannot attend to ``key``; ``words`` names the positions."""
        cause = int(self.rule_ids()[query, key])
        q, k = (words[query], words[key]) if words else (f"position {query}", f"position {key}")
        verdict = "can attend to" if cause > 0 else "cannot attend to"
        because = self.sentence(cause).replace("{steps}", str(abs(query - key)))
        because = because.replace("{query}", q).replace("{key}", k)
        return f"{q} {verdict} {k}: {because}"

    def edited(self, query: int, key: int, look: bool) -> Self:
        """Return a copy with one pair overridden. Raises ValueError if there is no such pair."""
        queries, keys = self.shape
        if not (0 <= query < queries and 0 <= key < keys):
            raise ValueError(f"there is no cell ({query}, {key}) in a mask of {queries} queries × {keys} keys")
        return replace(self, edits=(*self.edits, (query, key, look)), pattern="other")


@dataclass(frozen=True)
class AttentionMask:
    """Attention mask of a batch, in its most compact form.

    A query can attend to a key if all three parts allow it: ``causal`` (no key after the query), ``keys`` (padding
    mask, True for real keys) and ``pairs`` (a dense mask per example). The attention output of a query without any
    visible key is zero.
    """

    causal: bool = False
    keys: Bool[Tensor, "batch key"] | None = None
    pairs: Bool[Tensor, "batch query key"] | None = None

    @property
    def only_causal(self) -> bool:
        """Whether the mask is causal and blocks nothing else."""
        return self.causal and self.keys is None and self.pairs is None

    @classmethod
    def of(cls, visible: Sequence[Visibility]) -> Self:
        """Build the mask of a batch of examples, padded on the right to the longest.

        Padding is masked. A causal batch needs no padding mask, because padding comes after every real position.
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
        """The dense mask for the last ``query`` of ``key`` positions as queries; None if nothing is masked."""
        mask = None if self.pairs is None else self.pairs[:, None]
        if self.keys is not None:
            real = self.keys[:, None, None, :].expand(-1, 1, query, -1)
            mask = real if mask is None else mask & real
        if self.causal:
            device = None if mask is None else mask.device
            before = torch.ones(1, 1, query, key, dtype=torch.bool, device=device).tril(key - query)
            mask = before if mask is None else mask & before
        return mask

    def at(self, query: int, count: int = 1) -> Self:
        """The mask of the query at position ``query``, or of ``count`` queries from there on. Raises ValueError if the
        mask has no such query."""
        if self.pairs is None:
            return self
        if query + count > self.pairs.shape[1]:
            raise ValueError(f"the attention mask has {self.pairs.shape[1]} queries, but there are {query + count} "
                             "positions; generate fewer tokens, or give a mask with more queries")
        return replace(self, pairs=self.pairs[:, query:query + count])

    def select(self, rows: Int[Tensor, "rows"]) -> Self:
        """Keep only the given batch rows, in the given order."""
        return replace(self, keys=None if self.keys is None else self.keys[rows],
                       pairs=None if self.pairs is None else self.pairs[rows])

    def to(self, device: torch.device | str) -> Self:
        """Copy to a device."""
        def move(t: Tensor | None) -> Tensor | None:
            return None if t is None else t.to(device, non_blocking=True)
        return replace(self, keys=move(self.keys), pairs=move(self.pairs))
