"""The world's pairs of sentences as BERT's pretraining data (Devlin et al. 2019, §3.1): a batch for any step."""

from dataclasses import dataclass, replace
from itertools import islice
from random import Random
from typing import TYPE_CHECKING

import torch

from plmlab.example import IGNORE, Batch, Example
from plmlab.objectives.next_sentence import next_sentence
from plmlab.world.datasets.sentence_batches import SentenceBatches
from plmlab.world.world import World

if TYPE_CHECKING:
    from plmlab.text import Tokenizer


@dataclass(frozen=True)
class PairBatches:
    """Batches of sentence pairs from articles, words hidden, half of them torn from two texts: ``batches(step)``.

    The targets are those of the masked language model, the label is ``next_sentence``. A step always has the same
    ``batch`` pairs. The tokenizer has one token a word (``world_tokenizer``). ``rate`` is the share of slots hidden.
    """

    world: World
    split: str
    tokenizer: "Tokenizer"
    batch: int
    seed: int
    rate: float = 0.15

    def __call__(self, step: int) -> Batch:
        """The batch of this step, padded; the same one whenever it is asked for."""
        return Batch.of(self.examples(step), pad=self.tokenizer.vocab.need("pad"))

    def examples(self, step: int) -> list[Example]:
        """The Examples of this step's batch, one a pair, not padded."""
        rng, vocab = Random(f"{self.seed}:{step}"), self.tokenizer.vocab
        pairs = list(islice(self.world.next_sentences(self.split, seed=int(rng.random() * 2**53)), self.batch))
        firsts, seconds = (self.tokenizer.encode_all([" ".join(words) for words in side], plain=True)
                           for side in ([pair.first for pair in pairs], [pair.second for pair in pairs]))
        return [next_sentence(a, b, pair.is_next, vocab=vocab, rng=rng, rate=self.rate)
                for a, b, pair in zip(firsts, seconds, pairs, strict=True)]


@dataclass(frozen=True)
class MixedBatches:
    """Batches of pairs from articles, and behind them sentences of the grammar, each alone: ``batches(step)``.

    Of a single sentence it is not asked whether another follows (its ``next_sentence`` is IGNORE). The articles tell
    facts only; a bank of a river stands in no article. Devlin et al. (2019) have pairs only.
    """

    pairs: PairBatches
    sentences: SentenceBatches

    def __call__(self, step: int) -> Batch:
        """The batch of this step, padded: first the pairs, then the single sentences."""
        alone = [replace(example, labels={"next_sentence": torch.tensor(IGNORE)})
                 for example in self.sentences.examples(step)]
        return Batch.of([*self.pairs.examples(step), *alone], pad=self.sentences.tokenizer.vocab.need("pad"))
