"""How well a small BART restores sentences of the small world, beside a lookup without any network."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from random import Random
from statistics import fmean

import torch

from plmlab import world
from plmlab.decode import ConditionedDecoder, greedy_texts
from plmlab.example import PairBatch
from plmlab.models.bart import BART
from plmlab.objectives.denoising import restoration, text_infilling
from plmlab.text import Tokenizer

COUNT, SEED, LONGEST = 300, 99, 30
"""Number of test sentences, their seed, and the maximum number of generated tokens."""


class Restoration:
    """Test sentences of the small world with infilled spans, all of which occur in training too; ``batches`` ·
    ``size`` training sentences are known to the lookup."""

    def __init__(self, tokenizer: Tokenizer, batches: int, size: int) -> None:
        self.tokenizer, self.known = tokenizer, batches * size
        rng, small = Random(SEED), world.small()
        self.sentences = [tokenizer.encode(" ".join(words), plain=True)
                          for words in islice(small.text("train", seed=SEED), COUNT)]
        self.corrupted = [text_infilling(tokens, tokenizer.vocab, rng) for tokens in self.sentences]

    def sources(self) -> dict[str, list[list[int]]]:
        """Name → a source for each sentence."""
        return {"the corrupted sentence": self.corrupted, "another corrupted sentence": self.corrupted[1:] +
                self.corrupted[:1], "empty": [[] for _ in self.sentences]}

    def batch(self, sources: Sequence[Sequence[int]]) -> PairBatch:
        """The sentences as targets of these sources."""
        vocab = self.tokenizer.vocab
        return PairBatch.of([restoration(*pair, vocab) for pair in zip(sources, self.sentences, strict=True)],
                            pad=vocab.need("pad"))

    @torch.no_grad()
    def loss(self, model: BART, sources: Sequence[Sequence[int]]) -> float:
        """Loss per target token, in nats."""
        return float(model.eval().loss(self.batch(sources)))

    @torch.no_grad()
    def exact(self, model: BART, sources: Sequence[Sequence[int]]) -> float:
        """Fraction of the sentences that greedy generation restores exactly."""
        decoder = ConditionedDecoder(model.eval(), self.batch(sources).source)
        texts = greedy_texts(decoder, len(sources), self.tokenizer.vocab, length=LONGEST)
        return fmean(list(text) == sentence for text, sentence in zip(texts, self.sentences, strict=True))

    @cached_property
    def training_sentences(self) -> dict[str, int]:
        """How often each sentence occurs in a sample of training sentences, the most frequent first."""
        return dict(Counter(map(" ".join, islice(world.small().text("train", seed=0), self.known))).most_common())

    def entropy(self) -> float:
        """Entropy of a training sentence divided by its mean number of targets, [START] and [END] included, in nats."""
        counts = torch.tensor([*self.training_sentences.values()])
        targets = torch.tensor([sentence.count(" ") + 3 for sentence in self.training_sentences])
        p = counts / counts.sum()
        return float(-(p * p.log()).sum() / (p * targets).sum())

    def lookup(self) -> float:
        """Fraction restored by the most frequent training sentence that fits the corrupted one."""
        return fmean(self._fitting(corrupted) == " ".join(self.tokenizer.tokens(sentence))
                     for corrupted, sentence in zip(self.corrupted, self.sentences, strict=True))

    def _fitting(self, corrupted: Sequence[int]) -> str:
        parts = (r"(?:\S+ )*" if name == "[MASK]" else re.escape(f"{name} ") for name in
                 self.tokenizer.tokens(corrupted))
        fits = re.compile("".join(parts)).fullmatch
        return next((sentence for sentence in self.training_sentences if fits(f"{sentence} ")), "")
