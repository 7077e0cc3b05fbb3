"""Sources of training batches: each batch is a deterministic function of the step."""

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
"""Example class → batch class; `Batch` for all others."""


@dataclass(frozen=True)
class ExampleBatches:
    """Batches of Examples: ``batches(step)`` collates the Examples that ``draw`` samples with a random generator seeded
    by ``seed`` and the step; ``pad`` is the id of the padding token.

    The batch of a step depends only on the seed and the step. A run interrupted at step 1,000 can therefore resume at
    step 1,001 without replaying any data, and every machine samples the same batches.
    """

    draw: Callable[[Random], Made]
    seed: int | str
    pad: int

    def examples(self, step: int) -> Made:
        """The Examples of this step's batch, before padding."""
        return self.draw(Random(f"{self.seed}:{step}"))

    def __call__(self, step: int) -> AnyBatch:
        """The collated batch of this step."""
        return collate(self.examples(step), self.pad)


def collate(made: Made, pad: int) -> AnyBatch:
    """Collate Examples, padding with the id ``pad``. Raises ValueError if there are none."""
    kind = COLLATED.get(type(made[0]), Batch) if made else Batch
    return kind.of(made, pad=pad)  # type: ignore[arg-type]


def bucketed(source: ExampleBatches, buckets: int) -> Callable[[int], Any]:
    """Group the Examples of ``source`` by length, to reduce padding (Vaswani et al. 2017, §5.1).

    Every ``buckets`` batches of the source are sorted by length and split again into the same number of batches of
    about equal size in tokens, the shortest texts first; each Example occurs exactly once. All of these batches should
    be used for a single update (``accumulate=buckets``), because updates from only short or only long texts train
    worse. The batch of a step depends only on the source's seed and the step.
    """
    @lru_cache(1)
    def group(number: int) -> list[AnyBatch]:
        examples = [example for i in range(buckets) for example in source.examples(number * buckets + i)]
        examples.sort(key=_length)
        ends, cuts = list(accumulate(map(_length, examples))), [0]
        for i in range(1, buckets):
            equal = bisect_left(ends, ends[-1] * i / buckets) + 1
            cuts.append(min(max(equal, cuts[-1] + 1), len(examples) - buckets + i))
        parts = [examples[start:end] for start, end in pairwise([*cuts, len(examples)])]
        return [collate(part, source.pad) for part in parts]  # type: ignore[arg-type]

    return lambda step: group(step // buckets)[step % buckets]


def _length(example: Any) -> int:
    """Number of tokens of an Example; for a pair, of source and target together."""
    return (len(example.source.tokens) + len(example.target.tokens) if isinstance(example, PairExample)
            else len(example.tokens))
