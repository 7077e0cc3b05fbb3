"""What chapter 07 reads: sentences of the small world, none of its exam among them; and what the best reader pays."""

from collections.abc import Sequence
from functools import cache
from itertools import islice
from math import exp, log
from random import Random
from typing import Any

import torch

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.draws import shuffled
from plmlab.example import Batch, Example
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.train import History, fit
from plmlab.world.datasets.batches import next_word_batch, next_word_examples
from plmlab.world.datasets.tokenizer import small_world_tokenizer

OTHER = {"is": "are", "are": "is"}
TEST_SIZE = 100
"""So many sentences are kept for the exam, and no text of the pretraining holds them."""
STEPS = 500

Words = tuple[str, ...]


@cache
def agreeing() -> dict[Words, str]:
    """Sentences of the small world whose verb is "is" or "are", in a random order → the number of the subject."""
    drawn = islice(world.small().sentences("train", seed=5), 20_000)
    found = {sentence.words: link.number for sentence in drawn for link in sentence.agreement
             if sentence.words[link.verb] in OTHER}
    listed = sorted(found)
    return {words: found[words] for words in shuffled(Random(0), listed)}


@cache
def kept() -> frozenset[Words]:
    """The sentences of the exam, which no text of the pretraining holds."""
    return frozenset(list(agreeing())[:TEST_SIZE])


def sentences(seed: float, count: int) -> list[Words]:
    """The first ``count`` sentences of a text of the small world, drawn with the seed, without those of the exam."""
    text = map(tuple, world.small().text("train", seed=int(seed * 2**53)))
    return list(islice((words for words in text if words not in kept()), count))


def best_reader(texts: Sequence[Words]) -> float:
    """What these sentences cost one who knows the grammar, and that the exam's do not occur; nats a token, exactly."""
    left = 1 - sum(exp(world.small().logprob(words)) for words in kept())
    nats = sum(log(left) - world.small().logprob(words) for words in texts)
    return nats / sum(len(words) + 1 for words in texts)


def floor() -> float:
    """The lowest loss on text without the exam's sentences: its entropy, in nats a token, exactly."""
    whole, apart = world.small().entropy("train"), {words: world.small().logprob(words) for words in kept()}
    left = 1 - sum(map(exp, apart.values()))
    nats = (whole.sentence + sum(exp(p) * p for p in apart.values())) / left + log(left)
    return nats * left / (whole.tokens - sum(exp(p) * (len(words) + 1) for words, p in apart.items()))


def ids(words: Sequence[str]) -> list[int]:
    """The ids of some words, one token a word."""
    return small_world_tokenizer().encode(" ".join(words), plain=True)


def examples(rows: Sequence[Sequence[str]]) -> list[Example]:
    """The texts as Examples, each position to say the next word."""
    return next_word_examples(rows, small_world_tokenizer())


def reading(rows: Sequence[Sequence[str]]) -> Batch:
    """The batch of some texts, each position to say the next word."""
    return next_word_batch(rows, small_world_tokenizer())


def fresh(seed: int) -> GPT2:
    """A GPT-2 of three layers of 64 that has read nothing, with random weights of this seed."""
    torch.manual_seed(seed)
    return GPT2(GPTConfig(len(small_world_tokenizer()), time=128, layers=3, model=64, heads=4, dropout=0.0))


def lessons(seed: int) -> ExampleBatches:
    """Batches of 32 sentences to learn from, drawn with the seed."""
    return ExampleBatches(lambda rng: examples(sentences(rng.random(), 32)), seed,
                          small_world_tokenizer().vocab.need("pad"))


def pretrain(seed: int, steps: int = STEPS, **options: Any) -> tuple[GPT2, History]:
    """A fresh GPT-2 after ``steps`` updates; and the history of the run."""
    gpt = fresh(seed)
    return gpt, fit(gpt, lessons(seed), steps=steps, lr=1e-2, warmup=50, **options)


@cache
def pretrained(seed: int) -> GPT2:
    """The GPT-2 of this seed that has read, made once in a process; who trains it further takes a copy."""
    return pretrain(seed, show=False)[0]


def read_by(seed: int, steps: int = STEPS) -> list[Words]:
    """The very sentences that `pretrain` gives to the GPT-2 of a seed, in order."""
    batches, vocab = lessons(seed), small_world_tokenizer().vocab
    rows = [row for step in range(steps) for row in batches(step).targets.tolist()]
    return [tuple(small_world_tokenizer().tokens(row[:row.index(vocab.need("end"))])) for row in rows]
