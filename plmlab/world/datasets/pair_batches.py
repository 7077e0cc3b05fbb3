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
    """``batches(step)`` holds ``batch`` pairs of sentences from articles, words hidden, half the pairs torn from two
    texts: targets for the masked language model, and the label ``next_sentence``. The same ones whenever the step is
    asked for.

    The tokenizer has one token a word (``world_tokenizer``). ``rate`` is the share of slots hidden.
    """

    world: World
    split: str
    tokenizer: "Tokenizer"
    batch: int
    seed: int
    rate: float = 0.15

    def __call__(self, step: int) -> Batch:
        return Batch.of(self.examples(step), pad=self.tokenizer.vocab.need("pad"))

    def examples(self, step: int) -> list[Example]:
        """The same, each on its own."""
        rng, vocab = Random(f"{self.seed}:{step}"), self.tokenizer.vocab
        pairs = list(islice(self.world.next_sentences(self.split, seed=int(rng.random() * 2**53)), self.batch))
        firsts, seconds = (self.tokenizer.encode_all([" ".join(words) for words in side], plain=True)
                           for side in ([pair.first for pair in pairs], [pair.second for pair in pairs]))
        return [next_sentence(a, b, pair.is_next, vocab=vocab, rng=rng, rate=self.rate)
                for a, b, pair in zip(firsts, seconds, pairs, strict=True)]


@dataclass(frozen=True)
class MixedBatches:
    """``batches(step)`` holds pairs from articles, and behind them sentences of the grammar, each alone; of these it is
    not asked whether one follows another. (The articles tell facts only; a bank of a river stands in no article.)

    Where it differs from the paper: there, every text is a pair.
    """

    pairs: PairBatches
    sentences: SentenceBatches

    def __call__(self, step: int) -> Batch:
        alone = [replace(example, labels={"next_sentence": torch.tensor(IGNORE)})
                 for example in self.sentences.examples(step)]
        return Batch.of([*self.pairs.examples(step), *alone], pad=self.sentences.tokenizer.vocab.need("pad"))
