"""String reversal: data, metrics, the lower bound without positions, and runs with different numbers of heads."""

from collections.abc import Callable, Sequence
from math import lgamma
from random import Random

import torch

from plmlab import decode
from plmlab.decode import ConditionedDecoder, greedy_texts
from plmlab.draws import randint
from plmlab.example import PairBatch
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.objectives import sequence_to_sequence
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import Diverged, fit

LETTERS = 26
ALPHABET = Vocabulary(len(Vocabulary(0).special) + LETTERS)
HEADS = (1, 2, 4, 8)
STEPS, EVERY = 800, 100


def reversals(batch: int = 64, low: int = 4, high: int = 12) -> Callable[[int], PairBatch]:
    """Return a function from a step to its batch of uniformly random strings and their reversals. The minimum loss is
    0."""
    vocab = ALPHABET

    def draw(step: int) -> PairBatch:
        rng = Random(f"backwards {step}")
        texts = [[vocab.words[randint(rng, LETTERS)] for _ in range(low + randint(rng, high - low + 1))]
                 for _ in range(batch)]
        return PairBatch.of([sequence_to_sequence(text, text[::-1], vocab=vocab) for text in texts], pad=0)
    return draw


def generated(model: Transformer, batch: PairBatch, vocab: Vocabulary, length: int) -> list[list[int]]:
    """Decode greedily, at most ``length`` tokens for each source; [END] is removed."""
    decoder = ConditionedDecoder(model, batch.source)
    return [list(text) for text in greedy_texts(decoder, batch.size[0], vocab, length=length)]


def exact_match(model: Transformer, batch: PairBatch, vocab: Vocabulary) -> float:
    """Fraction of the sources whose greedy output, of at most 14 tokens, equals the target."""
    return decode.exact_match(model, batch, vocab, length=14)


def bag_floor(batches: Sequence[PairBatch], end: int) -> float:
    """The lowest possible loss, in nats per target, of a model that knows the letters of a string but not their
    order: log(n! / Πᵢ mᵢ!) for a string of n letters in which letter i occurs mᵢ times."""
    total, targets = 0.0, 0
    for batch in batches:
        for row in batch.targets:
            word = row[(row >= 0) & (row != end)]
            repeated = word.unique(return_counts=True)[1].tolist()
            total += lgamma(len(word) + 1) - sum(lgamma(count + 1) for count in repeated)
            targets += len(word) + 1
    return total / targets


def backwards(heads: int, lr: float, seed: int, steps: int = STEPS) -> list[float]:
    """Train a Transformer to reverse strings; return its loss on new strings, in nats per target, after every ``EVERY``
    steps. For a run that diverges, every value is the loss of the uniform distribution, which is the log of the
    vocabulary size."""
    torch.manual_seed(seed)
    size = ALPHABET.size
    model = Transformer(TransformerConfig(size, layers=1, heads=heads, dropout=0.0, smoothing=0.0))
    draw = reversals()
    held_out = [draw(-1 - i) for i in range(4)]
    try:
        history = fit(model, draw, steps=steps, lr=lr, warmup=50, decay="none", evaluate=held_out,
                      evaluate_every=EVERY, show=False)
    except Diverged:
        return [float(torch.tensor(size).log())] * (steps // EVERY)
    return [loss for _, loss in history.validation]


def lr_score(heads: int, lr: float, seed: int) -> float:
    """Score of a learning rate: the negative mean loss over a run."""
    losses = backwards(heads, lr, seed)
    return -sum(losses) / len(losses)
