"""String reversal, and the number of attention heads that it needs at a fixed total width."""

from collections.abc import Callable
from random import Random

import torch

from plmlab.draws import randint
from plmlab.example import PairBatch
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.objectives import sequence_to_sequence
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import Diverged, fit

LETTERS = 26
HEADS = (1, 2, 4, 8)
STEPS, EVERY = 800, 100


def reversals(batch: int = 64, low: int = 4, high: int = 12) -> Callable[[int], PairBatch]:
    """Return a function from a step to its batch of uniformly random strings and their reversals. The minimum loss is
    0."""
    vocab = Vocabulary(len(Vocabulary(0).special) + LETTERS)

    def draw(step: int) -> PairBatch:
        rng = Random(f"backwards {step}")
        texts = [[vocab.words[randint(rng, LETTERS)] for _ in range(low + randint(rng, high - low + 1))]
                 for _ in range(batch)]
        return PairBatch.of([sequence_to_sequence(text, text[::-1], vocab=vocab) for text in texts], pad=0)
    return draw


def backwards(heads: int, lr: float, seed: int, steps: int = STEPS) -> list[float]:
    """Train a Transformer to reverse strings; return its loss on new strings, in nats per target, after every ``EVERY``
    steps. For a run that diverges, every value is the loss of the uniform distribution, which is the log of the
    vocabulary size."""
    torch.manual_seed(seed)
    size = len(Vocabulary(0).special) + LETTERS
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
