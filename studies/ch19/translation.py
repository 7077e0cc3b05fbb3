"""The translation task of chapter 04 for the models of chapter 19: passages of the small world, English to Chinese."""

from collections.abc import Sequence
from functools import cache
from itertools import islice
from random import Random
from statistics import fmean
from typing import Any

import torch

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.decode import ConditionedDecoder, greedy_texts
from plmlab.draws import randint
from plmlab.example import PairBatch, PairExample
from plmlab.metrics import bleu
from plmlab.objectives import sequence_to_sequence
from plmlab.text.tokenizers import Tokenizer
from plmlab.world.datasets.passages import Passage, Words, passages
from plmlab.world.datasets.tokenizer import build_world_tokenizer, sentence_words

LENGTHS = range(8, 61)
"""Lengths of training passages, in English words."""
WORDS = 1000
"""Approximate number of English words in a batch, whose passages have one target length."""
WRITTEN = 100
"""Maximum number of tokens in a translation."""


@cache
def tokenizer() -> Tokenizer:
    """Tokenizer with one token per word, English and Chinese (cached)."""
    return build_world_tokenizer(world.small(), texts=["sentences"])


@cache
def ids() -> dict[str, int]:
    """Map each word to its token id (cached)."""
    words = sorted(set().union(*sentence_words(world.small())))
    return {word: tokenizer().encode(word, plain=True)[0] for word in words}


def encoded(words: Sequence[str]) -> list[int]:
    """Token ids of words."""
    return [ids()[word] for word in words]


def example(passage: Passage) -> PairExample:
    """Convert a passage to an Example with an English source and a Chinese target."""
    return sequence_to_sequence(encoded(passage.english), encoded(passage.chinese), vocab=tokenizer().vocab)


def pairs(some: Sequence[Passage]) -> PairBatch:
    """Collate passages into a batch."""
    return PairBatch.of([example(passage) for passage in some], pad=tokenizer().vocab.need("pad"))


def drawn(rng: Random, split: str, length: int, count: int) -> list[Passage]:
    """Draw passages with this target length in English words, which they do not exceed."""
    return list(islice(passages(world.small(), split, rng, range(length, length + 1)), count))


def training_batches(seed: int) -> ExampleBatches:
    """Training batches of random passages, each batch with one target length."""
    def batch(rng: Random) -> list[PairExample]:
        length = LENGTHS.start + randint(rng, len(LENGTHS))
        return [example(passage) for passage in drawn(rng, "train", length, round(WORDS / length))]
    return ExampleBatches(batch, seed, tokenizer().vocab.need("pad"))


def test_set(length: int, seed: int | str, count: int) -> list[Passage]:
    """Test set of new passages with this target length."""
    return drawn(Random(f"audit {length} {seed}"), "test", length, count)


@torch.no_grad()
def loss(model: Any, some: Sequence[Passage]) -> float:
    """Mean loss of the Chinese in nats per token ([END] included), with teacher forcing, in one batch."""
    return float(model.eval().loss(pairs(some)))


def translations(model: Any, some: Sequence[Passage]) -> list[Words]:
    """Translate each passage by greedy decoding; return the words without [END]."""
    source = pairs(some).source
    texts = greedy_texts(ConditionedDecoder(model, source), len(some), tokenizer().vocab, length=WRITTEN)
    return [tuple(tokenizer().tokens(text)) for text in texts]


def scores(written: Sequence[Words], some: Sequence[Passage]) -> dict[str, float]:
    """``exact``: fraction of passages translated without an error; ``bleu``: BLEU over the Chinese words, from 0 to
    100."""
    return {"exact": fmean(text == passage.chinese for text, passage in zip(written, some, strict=True)),
            "bleu": bleu([" ".join(text) for text in written], [" ".join(passage.chinese) for passage in some])}
