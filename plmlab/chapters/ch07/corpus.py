"""Pretraining text of chapter 07, sentences of the small world without the held-out test sentences; and its entropy
lower bound."""

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
"""Number of held-out test sentences, which do not occur in pretraining."""
STEPS = 500

Words = tuple[str, ...]


@cache
def agreement_sentences() -> dict[Words, str]:
    """Shuffled sentences of the small world that contain "is" or "are", mapped to the grammatical number of the subject
    (cached)."""
    drawn = islice(world.small().sentences("train", seed=5), 20_000)
    numbers = {sentence.words: link.number for sentence in drawn for link in sentence.agreement
               if sentence.words[link.verb] in OTHER}
    return {words: numbers[words] for words in shuffled(Random(0), sorted(numbers))}


@cache
def held_out_sentences() -> frozenset[Words]:
    """The held-out test sentences, which do not occur in pretraining (cached)."""
    return frozenset(list(agreement_sentences())[:TEST_SIZE])


def sentences(seed: float, count: int) -> list[Words]:
    """``count`` random sentences of the small world, without the held-out test sentences."""
    text = map(tuple, world.small().text("train", seed=int(seed * 2**53)))
    return list(islice((words for words in text if words not in held_out_sentences()), count))


def bayes_optimal_loss(texts: Sequence[Words]) -> float:
    """Exact loss of the Bayes-optimal predictor in nats per token; it assigns probability 0 to held-out sentences."""
    left = 1 - sum(exp(world.small().logprob(words)) for words in held_out_sentences())
    nats = sum(log(left) - world.small().logprob(words) for words in texts)
    return nats / sum(len(words) + 1 for words in texts)


def floor() -> float:
    """Entropy lower bound on the loss on text without the held-out sentences, in nats per token (exact)."""
    full, held_out = world.small().entropy("train"), {words: world.small().logprob(words)
                                                      for words in held_out_sentences()}
    left = 1 - sum(map(exp, held_out.values()))
    nats = (full.sentence + sum(exp(p) * p for p in held_out.values())) / left + log(left)
    return nats * left / (full.tokens - sum(exp(p) * (len(words) + 1) for words, p in held_out.items()))


def ids(words: Sequence[str]) -> list[int]:
    """Token ids of words, one token per word."""
    return small_world_tokenizer().encode(" ".join(words), plain=True)


def examples(rows: Sequence[Sequence[str]]) -> list[Example]:
    """Causal LM examples: the target at each position is the next word."""
    return next_word_examples(rows, small_world_tokenizer())


def causal_batch(rows: Sequence[Sequence[str]]) -> Batch:
    """Collate texts into a batch of causal LM examples."""
    return next_word_batch(rows, small_world_tokenizer())


@torch.no_grad()
def next_word_probs(gpt: GPT2, text: str) -> dict[str, float]:
    """Word → its probability after a text, under a GPT."""
    tokenizer = small_world_tokenizer()
    row = torch.tensor([[tokenizer.vocab.need("start"), *ids(text.split())]])
    probs = gpt(Batch.continuing(row, tokenizer.vocab.need("pad")))[0, -1].softmax(-1)
    return dict(zip(tokenizer.tokens(list(range(len(tokenizer)))), probs.tolist(), strict=True))


def fresh(seed: int) -> GPT2:
    """Return an untrained GPT-2 with three layers of width 64, initialized with ``seed``."""
    torch.manual_seed(seed)
    return GPT2(GPTConfig(len(small_world_tokenizer()), time=128, layers=3, model=64, heads=4, dropout=0.0))


def training_batches(seed: int) -> ExampleBatches:
    """Training batches of 32 random sentences."""
    return ExampleBatches(lambda rng: examples(sentences(rng.random(), 32)), seed,
                          small_world_tokenizer().vocab.need("pad"))


def pretrain(seed: int, steps: int = STEPS, **options: Any) -> tuple[GPT2, History]:
    """Pretrain a GPT-2 for ``steps`` updates; return it with the history of the run."""
    gpt = fresh(seed)
    return gpt, fit(gpt, training_batches(seed), steps=steps, lr=1e-2, warmup=50, **options)


@cache
def pretrained(seed: int) -> GPT2:
    """The pretrained GPT-2 of a seed, trained once per process (cached). Copy it before any further training."""
    return pretrain(seed, show=False)[0]


def training_sentences(seed: int, steps: int = STEPS) -> list[Words]:
    """The training sentences of `pretrain` with this seed, in order."""
    batches, vocab = training_batches(seed), small_world_tokenizer().vocab
    rows = [row for step in range(steps) for row in batches(step).targets.tolist()]
    return [tuple(small_world_tokenizer().tokens(row[:row.index(vocab.need("end"))])) for row in rows]
