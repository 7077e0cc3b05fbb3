"""The world as a corpus: sentences without end under an objective, a batch for any step."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from random import Random

from plmlab.example import Batch, Example
from plmlab.text import Tokenizer
from plmlab.world.world import World


@dataclass(frozen=True)
class SentenceBatches:
    """Batches of sentences of a split under an objective: ``batches(step)`` holds ``batch`` new ones, one an Example.

    A step always has the same ones. The tokenizer has one token a word (``world_tokenizer``), so that the world's
    floors are the floors of this text.
    """

    world: World
    split: str
    tokenizer: Tokenizer
    objective: Callable[..., Example]
    batch: int
    seed: int

    def __call__(self, step: int) -> Batch:
        """The batch of this step, padded; the same one whenever it is asked for."""
        return Batch.of(self.examples(step), pad=self.tokenizer.vocab.need("pad"))

    def examples(self, step: int) -> list[Example]:
        """The Examples of this step's batch, one a sentence, not padded."""
        rng = Random(f"{self.seed}:{step}")
        sentences = islice(self.world.text(self.split, seed=int(rng.random() * 2**53)), self.batch)
        rows = self.tokenizer.encode_all([" ".join(words) for words in sentences], plain=True)
        return [self.objective(row, vocab=self.tokenizer.vocab, rng=rng) for row in rows]
