"""MemRecall: which blocks of a long text enter the input of a BERT that holds 512 tokens (CogLTX, Ding et al. 2020).

The working memory holds the query and some blocks of the text. In each round, the other blocks compete: a **judge**
scores them together with what is held, and the best enter until the next one does not fit (*retrieval competition*).
Then the judge scores all held blocks jointly (*rehearsal*), and only the best are kept (*decay*). A block that is
relevant only together with a held one, as in multi-hop questions, enters in a later round.

Sources: the paper, and ``memreplay.py`` and ``buffer.py`` of the authors' code (Sleepychord/CogLTX). Differences from
their code:

- Their last round never decays, so that of ``times="3,5"`` the 5 has no effect. Here it is a value of ``keep``:
  (3, None) is their setting, and in (3, 5) the last round decays too.
- Held blocks do not compete again. In their windows a held block appears a second time among the candidates, and no
  further block enters once a held block that is next in rank would not fit a second time.
- A block longer than the room that is left does not compete; their code fails on it.
- Of blocks with equal scores the earliest in the text wins; theirs are in the order of an unstable sort.
- The query has no score. Theirs has score 1, which no block exceeds.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from math import inf
from typing import NamedTuple, Protocol


@dataclass(frozen=True)
class MemoryBlock:
    """A block of the text: its index in the text, and its token ids with [SEP] at the end."""

    position: int
    ids: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.ids)


class BlockSpan(NamedTuple):
    """A span of a text in blocks, such as an answer: the tokens ``start`` to ``end`` (exclusive) of the block at
    ``position``."""

    position: int
    start: int
    end: int

    def ids(self, blocks: Sequence[MemoryBlock]) -> tuple[int, ...]:
        """The token ids of the span; ``blocks`` are all blocks of the text."""
        return blocks[self.position].ids[self.start:self.end]


@dataclass(frozen=True)
class Window:
    """The input of judge and reasoner: the query's token ids, [CLS] … [SEP], followed by blocks."""

    query: tuple[int, ...]
    blocks: tuple[MemoryBlock, ...] = ()

    def __len__(self) -> int:
        return len(self.query) + sum(map(len, self.blocks))

    @property
    def ids(self) -> tuple[int, ...]:
        """The token ids of query and blocks."""
        return (*self.query, *chain.from_iterable(block.ids for block in self.blocks))

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The span (begin, end) of each block in ``ids``."""
        return list(pairwise(accumulate(map(len, self.blocks), initial=len(self.query))))

    @property
    def span_of(self) -> dict[int, tuple[int, int]]:
        """The span of each block in ``ids``, by the block's position."""
        return dict(zip(self.positions, self.spans, strict=True))

    @property
    def positions(self) -> list[int]:
        """The positions of the blocks."""
        return [block.position for block in self.blocks]

    def with_blocks(self, blocks: Iterable[MemoryBlock]) -> "Window":
        """The same query followed by these blocks, in the order of the text."""
        return Window(self.query, tuple(sorted(blocks, key=lambda block: block.position)))


class Judge(Protocol):
    """Scores the relevance of each block to the query and to the other blocks in its window."""

    def __call__(self, windows: Sequence[Window], /) -> Sequence[Sequence[float]]:
        """One score per block, for each window. A network computes one output per token, σ(w·h + b), and the score of a
        block is the mean of these outputs over its span, [SEP] included. The judge also divides the windows into
        batches that fit into the device's memory."""


Grouping = Callable[[Sequence[MemoryBlock], int], list[tuple[MemoryBlock, ...]]]
"""Divides the competing blocks, given in the order of the text, into groups of at most the given number of tokens; each
group shares a window with the query and the held blocks."""


def consecutive_windows(blocks: Sequence[MemoryBlock], room: int) -> list[tuple[MemoryBlock, ...]]:
    """Fill each window with consecutive blocks, which are then scored jointly, as in the authors' code."""
    groups: list[tuple[MemoryBlock, ...]] = []
    for block in blocks:
        if groups and sum(map(len, groups[-1])) + len(block) <= room:
            groups[-1] += (block,)
        else:
            groups.append((block,))
    return groups


def single_blocks(blocks: Sequence[MemoryBlock], room: int) -> list[tuple[MemoryBlock, ...]]:
    """Score each block in a window of its own, as the paper describes it; one forward pass per block."""
    return [(block,) for block in blocks]


@dataclass(frozen=True)
class Round:
    """One round of MemRecall. Scores are by the position of their block.

    The judge scored the competing blocks in ``windows``, each after the held blocks. Those in ``entered`` entered the
    memory, best first. ``rehearsed`` is the memory with them, and ``rehearsal`` has the scores of all its blocks.
    ``kept`` is the memory after the decay. Blocks in the memory are in the order of the text."""

    windows: tuple[Window, ...]
    competition: Mapping[int, float]
    entered: tuple[MemoryBlock, ...]
    rehearsed: Window
    rehearsal: Mapping[int, float]
    kept: Window

    @property
    def dropped(self) -> tuple[MemoryBlock, ...]:
        """The blocks that decayed."""
        return tuple(block for block in self.rehearsed.blocks if block not in self.kept.blocks)


def recall(query: Sequence[int], blocks: Sequence[MemoryBlock], judge: Judge, *,
           grouping: Grouping = consecutive_windows, keep: Sequence[int | None] = (3, None), capacity: int = 512,
           held: Collection[int] = ()) -> tuple[Round, ...]:
    """Recall the blocks that are relevant to a query; returns the rounds, the last of which has the final memory.

    A round keeps as many blocks as it began with and ``keep`` more (None: all that are in memory). If no block decays,
    it is the last one, as in the authors' code. ``keep=(None,)`` is one-step retrieval: no block decays, so that
    rehearsal has no effect. ``capacity`` is the number of tokens that the memory holds, the query's included.

    A block is excluded by leaving it out of ``blocks``. The memory begins with the blocks at the positions ``held``,
    such as those that an earlier recall kept; with the judge ``pinned(judge, held)`` they never decay.

    Raises ValueError if there is no block or no round, if the blocks are not in the order of the text, or if the query
    and the held blocks, or the query and any block, exceed the capacity.
    """
    memory = Window(tuple(query)).with_blocks(block for block in blocks if block.position in held)
    _check(memory, blocks, keep, capacity, held)
    rounds: list[Round] = []
    for more in keep:
        rounds.append(_round(memory, blocks, judge, grouping, more, capacity))
        memory = rounds[-1].kept
        if not rounds[-1].dropped:
            break
    return tuple(rounds)


def pinned(judge: Judge, positions: Collection[int]) -> Judge:
    """The judge with score +∞ for the blocks at these positions, which therefore win every comparison."""
    def judged(windows: Sequence[Window], /) -> list[list[float]]:
        return [[inf if block.position in positions else score for block, score in zip(window.blocks, row, strict=True)]
                for window, row in zip(windows, judge(windows), strict=True)]
    return judged


def fitting(ranked: Iterable[MemoryBlock], room: int) -> list[MemoryBlock]:
    """The first of the blocks, until the next one does not fit into ``room`` tokens."""
    chosen: list[MemoryBlock] = []
    for block in ranked:
        if len(block) > room:
            break
        room -= len(block)
        chosen.append(block)
    return chosen


def _round(memory: Window, blocks: Sequence[MemoryBlock], judge: Judge, grouping: Grouping, more: int | None,
           capacity: int) -> Round:
    room = capacity - len(memory)
    competing = [block for block in blocks if block not in memory.blocks and len(block) <= room]
    groups = grouping(competing, room)
    windows = tuple(Window(memory.query, (*memory.blocks, *group)) for group in groups)
    competition = {block.position: scores[block.position]
                   for group, scores in zip(groups, _scored(judge, windows), strict=True) for block in group}
    entered = fitting(_best_first(competing, competition), room)
    rehearsed = memory.with_blocks((*memory.blocks, *entered))
    rehearsal = _scored(judge, [rehearsed])[0]
    limit = None if more is None else len(memory.blocks) + more
    kept = memory.with_blocks(_best_first(rehearsed.blocks, rehearsal)[:limit])
    return Round(windows, competition, tuple(entered), rehearsed, rehearsal, kept)


def _best_first(blocks: Sequence[MemoryBlock], scores: Mapping[int, float]) -> list[MemoryBlock]:
    """The blocks by score; sorting is stable, so that blocks with equal scores stay in the order of the text."""
    return sorted(blocks, key=lambda block: -scores[block.position])


def _scored(judge: Judge, windows: Sequence[Window]) -> list[dict[int, float]]:
    """The judge's score of each block in a window, by position."""
    rows = judge(windows) if windows else []
    expected, given = [len(window.blocks) for window in windows], [len(row) for row in rows]
    if given != expected:
        raise ValueError(f"the judge returned {given} scores for windows of {expected} blocks; it must return one "
                         "score per block, for each window")
    return [dict(zip(window.positions, row, strict=True))
            for window, row in zip(windows, rows, strict=True)]


def _check(memory: Window, blocks: Sequence[MemoryBlock], keep: Sequence[int | None], capacity: int,
           held: Collection[int]) -> None:
    positions = [block.position for block in blocks]
    if not blocks or positions != sorted(set(positions)):
        raise ValueError(f"blocks at the positions {positions!s:.80} were given; give at least one, in text order")
    if missing := sorted(set(held).difference(positions)):
        raise ValueError(f"the blocks at the positions {missing} are held, but they are not among the blocks given")
    if not keep or any(more is not None and more < 1 for more in keep):
        raise ValueError(f"keep={keep!r} was given; give, for one round or more, how many more blocks it keeps, at "
                         "least 1, or None")
    if len(memory.query) + (longest := max(map(len, blocks))) > capacity:
        raise ValueError(f"the query has {len(memory.query)} tokens and the longest block {longest}, but the memory "
                         f"holds {capacity}; shorten the query, or split the text into shorter blocks")
    if len(memory) > capacity:
        raise ValueError(f"the query and the held blocks have {len(memory)} tokens, but the memory holds {capacity}; "
                         "hold fewer blocks")
