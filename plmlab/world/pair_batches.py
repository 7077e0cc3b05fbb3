"""The world's pairs of sentences as BERT's pretraining data (Devlin et al. 2019, §3.1): a batch for any step."""

from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import TYPE_CHECKING

from plmlab.example import Batch
from plmlab.objectives.next_sentence import next_sentence
from plmlab.world.world import World

if TYPE_CHECKING:
    from plmlab.text import Tokenizer


@dataclass(frozen=True)
class PairBatches:
    """``batches(step)`` holds ``batch`` pairs of sentences from articles, words hidden, half the pairs torn from two
    texts: targets for the masked language model, and the label ``next_sentence``. The same ones whenever the step is
    asked for.

    The tokenizer has one token a word (:meth:`plmlab.world.World.tokenizer`). ``rate`` is the share of slots hidden.
    """

    world: World
    split: str
    tokenizer: "Tokenizer"
    batch: int
    seed: int
    rate: float = 0.15

    def __call__(self, step: int) -> Batch:
        rng, vocab = Random(f"{self.seed}:{step}"), self.tokenizer.vocab
        pairs = list(islice(self.world.next_sentences(self.split, seed=int(rng.random() * 2**53)), self.batch))
        firsts, seconds = (self.tokenizer.encode_all([" ".join(words) for words in side], plain=True)
                           for side in ([pair.first for pair in pairs], [pair.second for pair in pairs]))
        return Batch.of([next_sentence(a, b, pair.is_next, vocab=vocab, rng=rng, rate=self.rate)
                         for a, b, pair in zip(firsts, seconds, pairs, strict=True)], pad=vocab.need("pad"))
