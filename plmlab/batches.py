"""Where training batches come from: a source that gives the same batch for a step whenever it is asked."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from random import Random
from typing import Any

from plmlab.example import AnyBatch, Batch, BidirectionalBatch, BidirectionalExample, Example, PairBatch, PairExample

Made = Sequence[Example] | Sequence[PairExample] | Sequence[BidirectionalExample]
COLLATED: dict[type, type[AnyBatch]] = {
    PairExample: PairBatch, BidirectionalExample: BidirectionalBatch}
"""Kind of example → what its batches are; `Batch` for all others."""


@dataclass(frozen=True)
class ExampleBatches:
    """``batches(step)``: what ``draw`` makes of a random stream of that step's own, padded with the id ``pad``.

    The batch of a step depends on the seed and the step alone. So a training that stopped at step 1,000 goes on with
    step 1,001 and nothing has to be replayed, and every machine draws the same.
    """

    draw: Callable[[Random], Made]
    seed: int | str
    pad: int

    def examples(self, step: int) -> Made:
        """The Examples of this step's batch, not padded."""
        return self.draw(Random(f"{self.seed}:{step}"))

    def __call__(self, step: int) -> AnyBatch:
        """The batch of this step."""
        return collated(self.examples(step), self.pad)


def collated(made: Made, pad: int) -> AnyBatch:
    """Examples side by side, padded with the id ``pad``; ValueError for none."""
    kind = COLLATED.get(type(made[0]), Batch) if made else Batch
    return kind.of(made, pad=pad)  # type: ignore[arg-type]


def bucketed(source: ExampleBatches, buckets: int) -> Callable[[int], Any]:
    """The Examples of ``source`` with those of like length together, so that less is padded (Vaswani et al. 2017,
    §5.1).

    Each ``buckets`` batches of the source are sorted by length and cut into as many of about equal positions, the
    shortest texts first: the same Examples, each once. Make one update of them (``accumulate=buckets``): updates that
    have seen short texts only, or long ones, learn worse. The batch of a step depends on the source's seed and the step
    alone.
    """
    @lru_cache(1)
    def turn(number: int) -> list[AnyBatch]:
        drawn = [made for i in range(buckets) for made in source.examples(number * buckets + i)]
        drawn.sort(key=_length)
        ends, cuts = list(accumulate(map(_length, drawn))), [0]
        for i in range(1, buckets):
            fair = bisect_left(ends, ends[-1] * i / buckets) + 1
            cuts.append(min(max(fair, cuts[-1] + 1), len(drawn) - buckets + i))
        parts = [drawn[start:end] for start, end in pairwise([*cuts, len(drawn)])]
        return [collated(part, source.pad) for part in parts]  # type: ignore[arg-type]

    return lambda step: turn(step // buckets)[step % buckets]


def _length(made: Any) -> int:
    """How many positions an Example has; of a pair, those of both sides."""
    return len(made.source.tokens) + len(made.target.tokens) if isinstance(made, PairExample) else len(made.tokens)
