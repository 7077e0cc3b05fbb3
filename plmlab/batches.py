"""Where training batches come from: a source that gives the same batch for a step whenever it is asked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from plmlab.example import Batch, Example, PairBatch, PairExample


@dataclass(frozen=True)
class ExampleBatches:
    """``batches(step)``: what ``draw`` makes of a random stream of that step's own, padded with the id ``pad``.

    The batch of a step depends on the seed and the step alone. So a training that stopped at step 1,000 goes on with
    step 1,001 and nothing has to be replayed, and every machine draws the same.
    """

    draw: Callable[[Random], Sequence[Example] | Sequence[PairExample]]
    seed: int | str
    pad: int

    def examples(self, step: int) -> Sequence[Example] | Sequence[PairExample]:
        """The Examples of this step's batch, not padded."""
        return self.draw(Random(f"{self.seed}:{step}"))

    def __call__(self, step: int) -> Batch | PairBatch:
        """The batch of this step."""
        made = self.examples(step)
        if made and isinstance(made[0], PairExample):
            return PairBatch.of(made, pad=self.pad)  # type: ignore[arg-type]
        return Batch.of(made, pad=self.pad)  # type: ignore[arg-type]
