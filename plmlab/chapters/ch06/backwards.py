"""Letters written backwards, and how many heads that takes, with one total width."""

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
    """A function from the step to its batch: letters drawn alike, and the same backwards. The best loss is 0."""
    vocab = Vocabulary(len(Vocabulary(0).special) + LETTERS)

    def draw(step: int) -> PairBatch:
        rng = Random(f"backwards {step}")
        texts = [[vocab.words[randint(rng, LETTERS)] for _ in range(low + randint(rng, high - low + 1))]
                 for _ in range(batch)]
        return PairBatch.of([sequence_to_sequence(text, text[::-1], vocab=vocab) for text in texts], pad=0)
    return draw


def backwards(heads: int, lr: float, seed: int, steps: int = STEPS) -> list[float]:
    """The loss on new letters, in nats a target, after every ``EVERY`` steps of a Transformer that learns to reverse
    them; a run that diverges has the loss of the untrained, log of the vocabulary, at each."""
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


def soon(heads: int, lr: float, seed: int) -> float:
    """How soon a rate teaches it: minus the mean loss over a run."""
    losses = backwards(heads, lr, seed)
    return -sum(losses) / len(losses)
